import { Badge, Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconDownload, IconMailOff, IconPlus, IconSearchOff, IconUpload } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useCursorList, useRights } from '../../api/hooks.ts';
import type { Suppression } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Choice, SearchField, Time } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Empty, Page, Panel } from '../../ui/page.tsx';
import { type Column, CursorTable } from '../../ui/table.tsx';
import { type SuppressionsSearch, suppressionReasons } from './search.ts';

const AddDialog = lazy(() => import('./dialogs.tsx').then(({ AddDialog }) => ({ default: AddDialog })));
const ImportDialog = lazy(() => import('./dialogs.tsx').then(({ ImportDialog }) => ({ default: ImportDialog })));
const PAGE_SIZE = 50;
const NEXT_PAGE_SIZE = 100;
const colors: Record<Suppression['reason'], string> = { HARD_BOUNCE: 'red', COMPLAINT: 'orange', MANUAL: 'gray' };

export function SuppressionsPage() {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const { add, ...search } = useSearch({ from: '/signed-in/p/$projectId/suppressions' });
  const navigate = useNavigate({ from: '/p/$projectId/suppressions' });
  const [importing, { open: openImport, close: closeImport }] = useDisclosure();
  const list = useCursorList<Suppression>(key('suppressions', search), (cursor) =>
    unwrap(
      client.GET('/suppressions', {
        params: { query: { ...search, cursor, limit: cursor === undefined ? PAGE_SIZE : NEXT_PAGE_SIZE } },
      }),
    ),
  );
  const change = (next: SuppressionsSearch) => void navigate({ search: { ...search, ...next }, replace: true });
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page
      title={t.suppressions.title}
      description={t.suppressions.description}
      actions={
        write && (
          <>
            <Button
              component="a"
              href={`/suppressions/export?projectId=${projectId}`}
              variant="default"
              leftSection={<IconDownload size={16} />}
            >
              {t.suppressions.export}
            </Button>
            <Button variant="default" leftSection={<IconUpload size={16} />} onClick={openImport}>
              {t.suppressions.import}
            </Button>
            <Button leftSection={<IconPlus size={16} />} onClick={() => change({ add: true })}>
              {t.suppressions.add}
            </Button>
          </>
        )
      }
    >
      <Panel flush>
        <Group p="md" gap="sm" className="filters">
          <SearchField
            label={t.suppressions.search}
            value={search.search ?? ''}
            maxLength={254}
            onChange={(text) => change({ search: text.trim() || undefined })}
            flex="1 1 14rem"
          />
          <Choice
            label={t.suppressions.reason}
            value={search.reason ?? 'any'}
            onChange={(value) => change({ reason: value === 'any' ? undefined : value })}
            data={[
              { value: 'any', label: t.suppressions.anyReason },
              ...suppressionReasons.map((value) => ({ value, label: t.contacts.suppressionReasons[value] })),
            ]}
          />
          {isFiltered && (
            <Button variant="subtle" onClick={() => void navigate({ search: {} })}>
              {t.common.clearFilters}
            </Button>
          )}
        </Group>
        <CursorTable<Suppression>
          label={t.suppressions.title}
          list={list}
          rowId={({ id }) => id}
          columns={columnsOf(projectId, write)}
          empty={
            isFiltered ? (
              <Empty icon={<IconSearchOff size={30} />} title={t.suppressions.noMatch} />
            ) : (
              <Empty
                icon={<IconMailOff size={30} />}
                title={t.suppressions.emptyTitle}
                text={t.suppressions.emptyText}
              />
            )
          }
        />
      </Panel>
      {write && (
        <Suspense>
          {add && <AddDialog onClose={() => change({ add: undefined })} />}
          {importing && <ImportDialog onClose={closeImport} />}
        </Suspense>
      )}
    </Page>
  );
}

function columnsOf(projectId: string, write: boolean): Column<Suppression>[] {
  return [
    {
      id: 'email',
      header: t.suppressions.address,
      main: true,
      cell: ({ email, note }) => (
        <div>
          {email ?? <span className="dimmed">{t.suppressions.hashOnly}</span>}
          {note && (
            <Text size="sm" c="dimmed" fw={400}>
              {note}
            </Text>
          )}
        </div>
      ),
    },
    {
      id: 'reason',
      header: t.suppressions.reason,
      cell: ({ reason }) => (
        <Badge color={colors[reason]} title={t.contacts.suppressionHints[reason]}>
          {t.contacts.suppressionReasons[reason]}
        </Badge>
      ),
    },
    {
      id: 'mail',
      header: t.suppressions.mail,
      cell: ({ emailId }) =>
        emailId ? (
          <TextLink to="/p/$projectId/emails/$id" params={{ projectId, id: emailId }} inherit>
            {t.suppressions.showMail}
          </TextLink>
        ) : (
          '—'
        ),
    },
    { id: 'created', header: t.common.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
    ...(write
      ? [
          {
            id: 'actions',
            header: t.common.actions,
            align: 'right' as const,
            screenOnly: true,
            cell: ({ email }: Suppression) => email && <RemoveButton email={email} />,
          },
        ]
      : []),
  ];
}

function RemoveButton({ email }: { email: string }) {
  const { client, key } = useApi();
  const remove = useAction({
    run: () => unwrap(client.DELETE('/suppressions/{email}', { params: { path: { email } } })),
    done: () => t.suppressions.removed(email),
    changes: [key('suppressions')],
    quiet: true,
  });
  return (
    <ConfirmButton
      size="xs"
      label={t.suppressions.remove}
      ariaLabel={t.suppressions.removeOf(email)}
      title={t.suppressions.removeTitle(email)}
      confirm={t.suppressions.remove}
      onConfirm={() => remove.mutateAsync()}
    >
      {t.suppressions.removeText}
    </ConfirmButton>
  );
}
