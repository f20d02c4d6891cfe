import { List, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { SavedBlock } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { type ResourcePath, TextLink } from '../../ui/links.tsx';
import { Loaded } from '../../ui/page.tsx';

/** The emails that use a saved block, with links. */
export function BlockUsage({ block }: { block: Pick<SavedBlock, 'id' | 'usedBy'> }) {
  const { client, key, projectId } = useApi();
  const { id, usedBy } = block;
  const usage = useQuery({
    queryKey: key('saved-block-usage', id),
    queryFn: () => unwrap(client.GET('/saved-blocks/{id}/usage', { params: { path: { id } } })),
  });
  const section = (title: string, items: { id: string; name: string }[], count: number, to: ResourcePath) =>
    items.length > 0 && (
      <div>
        <Title order={3} size="h5" mb={4}>
          {title}
        </Title>
        <List listStyleType="none" spacing={4}>
          {items.map((item) => (
            <List.Item key={item.id}>
              <TextLink to={to} params={{ projectId, id: item.id }} className="breakable">
                {item.name}
              </TextLink>
            </List.Item>
          ))}
        </List>
        {count > items.length && (
          <Text size="sm" c="dimmed">
            {t.savedBlocks.moreUses(count - items.length)}
          </Text>
        )}
      </div>
    );
  return (
    <Loaded query={usage}>
      {({ templates, campaigns }) =>
        templates.length + campaigns.length === 0 ? (
          <Text c="dimmed">{t.savedBlocks.unused}</Text>
        ) : (
          <Stack>
            {section(t.savedBlocks.templates, templates, usedBy.templates, '/p/$projectId/templates/$id')}
            {section(t.savedBlocks.campaigns, campaigns, usedBy.campaigns, '/p/$projectId/campaigns/$id')}
          </Stack>
        )
      }
    </Loaded>
  );
}
