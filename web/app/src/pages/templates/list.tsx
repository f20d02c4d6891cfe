import { Button, Group, Text } from '@mantine/core';
import { IconPlus, IconSearchOff, IconTemplate } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useApi, useCursorList, useRights } from '../../api/hooks.ts';
import type { Template } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Choice, SearchField, Time } from '../../ui/controls.tsx';
import { ButtonLink, TextLink } from '../../ui/links.tsx';
import { asCursorPage, pageOf } from '../../ui/offset-list.ts';
import { Empty, Page, Panel } from '../../ui/page.tsx';
import { CursorTable } from '../../ui/table.tsx';
import type { TemplatesSearch } from './search.ts';

const types = ['TRANSACTIONAL', 'MARKETING', 'HEADLESS'] as const;

export function TemplatesPage() {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const search = useSearch({ from: '/signed-in/p/$projectId/templates' });
  const navigate = useNavigate({ from: '/p/$projectId/templates' });
  const change = (next: TemplatesSearch) => void navigate({ search: { ...search, ...next }, replace: true });
  const list = useCursorList<Template>(key('templates', search), async (cursor) =>
    asCursorPage(
      await unwrap(
        client.GET('/templates', {
          params: { query: { ...search, page: pageOf(cursor), pageSize: 50, sort: 'updatedAt' } },
        }),
      ),
    ),
  );
  const create = write && (
    <ButtonLink to="/p/$projectId/templates/new" params={{ projectId }} leftSection={<IconPlus size={16} />}>
      {t.templates.new}
    </ButtonLink>
  );
  return (
    <Page title={t.templates.title} description={t.templates.description} actions={create}>
      <Panel flush>
        <Group p="md" gap="sm" className="filters">
          <SearchField
            label={t.templates.search}
            value={search.search ?? ''}
            onChange={(text) => change({ search: text || undefined })}
            flex="1 1 14rem"
          />
          <Choice
            label={t.templates.type}
            w={180}
            value={search.type ?? 'any'}
            onChange={(value) => change({ type: value === 'any' ? undefined : value })}
            data={[
              { value: 'any', label: t.templates.anyType },
              ...types.map((value) => ({ value, label: t.templates.types[value] })),
            ]}
          />
        </Group>
        <CursorTable<Template>
          label={t.templates.title}
          list={list}
          rowId={({ id }) => id}
          empty={
            Object.keys(search).length > 0 ? (
              <Empty
                icon={<IconSearchOff size={30} />}
                title={t.templates.noMatch}
                action={
                  <Button variant="default" onClick={() => void navigate({ search: {} })}>
                    {t.common.clearFilters}
                  </Button>
                }
              />
            ) : (
              <Empty
                icon={<IconTemplate size={30} />}
                title={t.templates.emptyTitle}
                text={t.templates.emptyText}
                action={create}
              />
            )
          }
          columns={[
            {
              id: 'name',
              header: t.common.name,
              main: true,
              cell: ({ id, name, subject }) => (
                <div>
                  <TextLink to="/p/$projectId/templates/$id" params={{ projectId, id }} fw={600} inherit>
                    {name}
                  </TextLink>
                  <Text size="sm" c="dimmed" fw={400} lineClamp={1}>
                    {subject}
                  </Text>
                </div>
              ),
            },
            { id: 'type', header: t.templates.type, cell: ({ type }) => t.templates.types[type] },
            { id: 'updated', header: t.common.updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
          ]}
        />
      </Panel>
    </Page>
  );
}
