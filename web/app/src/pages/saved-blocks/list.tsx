import { IconComponents, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { SavedBlockSummary } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useApi, useRights } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { ButtonLink, TextLink } from '../../ui/links.tsx';
import { Empty, Loaded, Page, Panel } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';

export function SavedBlocksPage() {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const blocks = useQuery({ queryKey: key('saved-blocks'), queryFn: () => unwrap(client.GET('/saved-blocks')) });
  const create = write && (
    <ButtonLink to="/p/$projectId/saved-blocks/new" params={{ projectId }} leftSection={<IconPlus size={16} />}>
      {t.savedBlocks.new}
    </ButtonLink>
  );
  return (
    <Page title={t.savedBlocks.title} description={t.savedBlocks.description} actions={create}>
      <Panel flush>
        <Loaded query={blocks} lines={8}>
          {(all) =>
            all.length === 0 ? (
              <Empty
                icon={<IconComponents size={30} />}
                title={t.savedBlocks.emptyTitle}
                text={t.savedBlocks.emptyText}
                action={create}
              />
            ) : (
              <DataTable<SavedBlockSummary>
                portable
                label={t.savedBlocks.title}
                rows={all}
                rowId={({ id }) => id}
                columns={[
                  {
                    id: 'name',
                    header: t.common.name,
                    main: true,
                    cell: ({ id, name }) => (
                      <TextLink to="/p/$projectId/saved-blocks/$id" params={{ projectId, id }} fw={600} inherit>
                        {name}
                      </TextLink>
                    ),
                  },
                  {
                    id: 'kind',
                    header: t.savedBlocks.kind,
                    cell: ({ kind }) => t.editor.savedKinds[kind],
                  },
                  {
                    id: 'usedBy',
                    header: t.savedBlocks.usedBy,
                    cell: ({ usedBy }) => t.savedBlocks.uses(usedBy.templates, usedBy.campaigns),
                  },
                  { id: 'updated', header: t.common.updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
                ]}
              />
            )
          }
        </Loaded>
      </Panel>
    </Page>
  );
}
