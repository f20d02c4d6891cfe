import { Alert, List, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { EventUsage, FieldUsage } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { TextLink } from '../../ui/links.tsx';

type Usage = Pick<EventUsage | FieldUsage, 'usedInSegments' | 'usedInWorkflows' | 'usedInCampaigns'>;

/** `to` is where one of them is shown. */
const kinds = [
  { name: 'usedInSegments', to: '/p/$projectId/segments/$id' },
  { name: 'usedInWorkflows', to: '/p/$projectId/workflows/$id' },
  { name: 'usedInCampaigns', to: '/p/$projectId/campaigns/$id' },
] as const;

export const isUsed = (usage: Usage): boolean => kinds.some(({ name }) => usage[name].length > 0);

/** Names everything that uses an event or a field. */
export function Uses({ usage }: { usage: Usage }) {
  const { projectId } = useApi();
  if (!isUsed(usage)) return <Text c="dimmed">{t.events.unused}</Text>;
  return (
    <Stack gap="sm">
      {kinds
        .filter(({ name }) => usage[name].length > 0)
        .map(({ name, to }) => (
          <div key={name}>
            <Text size="sm" fw={600}>
              {t.events[name]}
            </Text>
            <List listStyleType="none" className="roomy">
              {usage[name].map((item) => (
                <List.Item key={item.id}>
                  <TextLink to={to} params={{ projectId, id: item.id }} className="breakable">
                    {item.name}
                  </TextLink>
                </List.Item>
              ))}
            </List>
          </div>
        ))}
    </Stack>
  );
}

/** The text of a dialog that deletes an event or a field: what is lost, and what used it. */
export const DeleteWarning = ({ usage, children }: { usage: Usage; children: ReactNode }) => (
  <Stack>
    <span>{children}</span>
    {isUsed(usage) && (
      <Alert color="orange" title={t.events.usedWarning}>
        <Uses usage={usage} />
      </Alert>
    )}
  </Stack>
);
