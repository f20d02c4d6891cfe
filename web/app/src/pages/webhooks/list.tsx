import { Badge, Button, Group, Text } from '@mantine/core';
import { IconPlus, IconWebhook } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { unwrap } from '../../api/client.ts';
import { useApi, useRights } from '../../api/hooks.ts';
import type { WebhookEndpoint } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Empty, Loaded, Page, Panel } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import { EndpointStatus } from './status.tsx';

const NewEndpointDialog = lazy(() =>
  import('./endpoint-form.tsx').then(({ NewEndpointDialog }) => ({ default: NewEndpointDialog })),
);
const SHOWN_TYPES = 3;

export function WebhooksPage() {
  const { admin } = useRights();
  if (admin) return <EndpointsPage />;
  return (
    <Page title={t.webhooks.title} description={t.webhooks.description}>
      <Text c="dimmed">{t.webhooks.onlyAdmins}</Text>
    </Page>
  );
}

function EndpointsPage() {
  const { client, key, projectId } = useApi();
  const { add } = useSearch({ from: '/signed-in/p/$projectId/webhooks' });
  const navigate = useNavigate({ from: '/p/$projectId/webhooks' });
  const endpoints = useQuery({
    queryKey: key('webhooks'),
    queryFn: () => unwrap(client.GET('/webhook-endpoints')),
  });
  const addButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => void navigate({ search: { add: true } })}>
      {t.webhooks.add}
    </Button>
  );
  return (
    <Page title={t.webhooks.title} description={t.webhooks.description} actions={addButton}>
      <Panel flush>
        <Loaded query={endpoints}>
          {(all) =>
            all.length === 0 ? (
              <Empty
                icon={<IconWebhook size={30} />}
                title={t.webhooks.emptyTitle}
                text={t.webhooks.emptyText}
                action={addButton}
              />
            ) : (
              <DataTable<WebhookEndpoint>
                portable
                label={t.webhooks.title}
                rows={all}
                rowId={({ id }) => id}
                columns={[
                  {
                    id: 'url',
                    header: t.webhooks.url,
                    main: true,
                    cell: ({ id, url, description }) => (
                      <div>
                        <TextLink to="/p/$projectId/webhooks/$id" params={{ projectId, id }} fw={500} inherit>
                          {url}
                        </TextLink>
                        {description && (
                          <Text size="sm" c="dimmed" fw={400}>
                            {description}
                          </Text>
                        )}
                      </div>
                    ),
                  },
                  {
                    id: 'types',
                    header: t.webhooks.types,
                    cell: ({ types }) => (
                      <Group gap={4}>
                        {types.slice(0, SHOWN_TYPES).map((type) => (
                          <Badge key={type} color="gray">
                            {type}
                          </Badge>
                        ))}
                        {types.length > SHOWN_TYPES && (
                          <span className="dimmed">{t.webhooks.moreTypes(types.length - SHOWN_TYPES)}</span>
                        )}
                      </Group>
                    ),
                  },
                  {
                    id: 'status',
                    header: t.common.status,
                    cell: (endpoint) => <EndpointStatus endpoint={endpoint} />,
                  },
                  { id: 'created', header: t.common.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
                ]}
              />
            )
          }
        </Loaded>
      </Panel>
      {add && (
        <Suspense>
          <NewEndpointDialog onClose={() => void navigate({ search: {}, replace: true })} />
        </Suspense>
      )}
    </Page>
  );
}
