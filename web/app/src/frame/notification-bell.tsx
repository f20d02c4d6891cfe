import './notification-bell.css';
import { IconBell } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { accountApi, unwrap } from '../api/client.ts';
import { useApi } from '../api/hooks.ts';
import { t } from '../texts/index.ts';
import { IconLink } from '../ui/links.tsx';

const REFRESH_MS = 60_000;
const MOST_SHOWN = 99;

/** Leads to the notifications and shows how many are unread. A hidden tab does not ask. */
export function NotificationBell() {
  const { projectId } = useApi();
  const { data } = useQuery({
    queryKey: ['notifications', 'unread'],
    queryFn: () => unwrap(accountApi.GET('/notifications', { params: { query: { limit: 1 } } })),
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS,
  });
  const unread = data?.unread ?? 0;
  return (
    <IconLink
      to="/p/$projectId/notifications"
      params={{ projectId }}
      className="bell"
      style={{ overflow: 'visible' }}
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={t.frame.bell(unread)}
    >
      <IconBell size={20} aria-hidden />
      {unread > 0 && (
        <span className="bell-count" aria-hidden>
          {unread > MOST_SHOWN ? `${MOST_SHOWN}+` : unread}
        </span>
      )}
    </IconLink>
  );
}
