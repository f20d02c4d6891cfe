import { useQuery } from '@tanstack/react-query';
import type { FormStats } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';

const DAY_MS = 86_400_000;
/** Submissions have no stream of their own. */
export const REFRESH_MS = 5_000;

/** Counts of the last days, today included. */
export function useFormStats(id: string, days: number, refetchInterval: number | false = false) {
  const { client, key } = useApi();
  const startDate = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  return useQuery<FormStats>({
    queryKey: key('form-stats', id, startDate),
    queryFn: () => unwrap(client.GET('/forms/{id}/stats', { params: { path: { id }, query: { startDate } } })),
    refetchInterval,
  });
}
