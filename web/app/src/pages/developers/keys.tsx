import { Badge, Group } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { ScopedKey } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { Empty, Loaded, Panel } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';

export function KeysTab() {
  const { client, key, projectId } = useApi();
  const keys = useQuery({
    queryKey: key('keys'),
    queryFn: () => unwrap(client.GET('/projects/{id}/keys', { params: { path: { id: projectId } } })),
  });
  return (
    <Panel flush title={t.developers.keys} description={t.developers.keysText}>
      <Loaded query={keys}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon={<IconKey size={30} />} title={t.developers.noKeysTitle} text={t.developers.noKeysText} />
          ) : (
            <DataTable<ScopedKey>
              portable
              label={t.developers.keys}
              rows={all}
              rowId={({ id }) => id}
              columns={[
                { id: 'name', header: t.developers.name, main: true, cell: ({ name }) => name },
                {
                  id: 'scopes',
                  header: t.developers.scopes,
                  cell: ({ scopes }) => (
                    <Group gap={4}>
                      {scopes.map((scope) => (
                        <Badge key={scope} color="gray">
                          {scope}
                        </Badge>
                      ))}
                    </Group>
                  ),
                },
                { id: 'prefix', header: t.developers.prefix, cell: ({ prefix }) => <code>{prefix}</code> },
                { id: 'used', header: t.developers.lastUsed, cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
                {
                  id: 'expires',
                  header: t.developers.expires,
                  cell: ({ expiresAt }) =>
                    expiresAt && new Date(expiresAt) < new Date() ? (
                      <Badge color="red">{t.developers.expired}</Badge>
                    ) : (
                      <Time at={expiresAt} />
                    ),
                },
                {
                  id: 'by',
                  header: t.developers.createdBy,
                  cell: ({ createdByEmail }) => createdByEmail ?? '—',
                },
                {
                  id: 'actions',
                  header: t.common.actions,
                  align: 'right',
                  screenOnly: true,
                  cell: (scopedKey) => <RevokeButton scopedKey={scopedKey} />,
                },
              ]}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

function RevokeButton({ scopedKey: { id: keyId, name } }: { scopedKey: ScopedKey }) {
  const { client, key, projectId } = useApi();
  const revoke = useAction({
    run: () => unwrap(client.DELETE('/projects/{id}/keys/{keyId}', { params: { path: { id: projectId, keyId } } })),
    done: () => t.developers.revoked(name),
    changes: [key('keys')],
    quiet: true,
  });
  return (
    <ConfirmButton
      danger
      size="xs"
      variant="light"
      label={t.developers.revoke}
      ariaLabel={t.developers.revokeOf(name)}
      title={t.developers.revokeTitle(name)}
      confirm={t.developers.revoke}
      onConfirm={() => revoke.mutateAsync()}
    >
      {t.developers.revokeText}
    </ConfirmButton>
  );
}
