import { Badge, Button, CloseButton, Group, TextInput } from '@mantine/core';
import { useDisclosure, useLocalStorage } from '@mantine/hooks';
import {
  IconAddressBook,
  IconColumns3,
  IconDownload,
  IconFilterPlus,
  IconPlus,
  IconSearchOff,
  IconUpload,
} from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useApi, useCursorList, useCustomFields, useRights } from '../../api/hooks.ts';
import type { Contact } from '../../api/types.ts';
import { shownValue } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Choice, SearchField, Time } from '../../ui/controls.tsx';
import { ButtonLink, TextLink } from '../../ui/links.tsx';
import { MenuButton } from '../../ui/menu-button.tsx';
import { Empty, Page, Panel } from '../../ui/page.tsx';
import { SubscribedBadge } from '../../ui/status.tsx';
import { type Column, CursorTable } from '../../ui/table.tsx';
import { contactsQuery } from './query.ts';
import type { ContactsSearch } from './search.ts';
import { ViewsMenu } from './views.tsx';

const AddContactDialog = lazy(() =>
  import('./add.tsx').then(({ AddContactDialog }) => ({ default: AddContactDialog })),
);
const BulkBar = lazy(() => import('./bulk.tsx').then(({ BulkBar }) => ({ default: BulkBar })));
const PAGE_SIZE = 50;
const VISIBLE_FIELDS = 4;

export function ContactsPage() {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const search = useSearch({ from: '/signed-in/p/$projectId/contacts' });
  const navigate = useNavigate({ from: '/p/$projectId/contacts' });
  const [adding, { open, close }] = useDisclosure();
  const [filtering, { toggle: toggleFilter, close: closeFilter }] = useDisclosure();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  // It stays when the selection ends, because it shows the progress of a job.
  const [hasSelected, setHasSelected] = useState(false);
  useEffect(() => {
    if (selected.size > 0) setHasSelected(true);
  }, [selected]);
  const [hidden, setHidden] = useLocalStorage<string[]>({
    key: `everpost.contacts.hidden.${projectId}`,
    defaultValue: [],
  });
  const custom = useCustomFields();
  const list = useCursorList(key('contacts', search), (cursor) =>
    unwrap(client.GET('/contacts', { params: { query: { ...contactsQuery(search, cursor), limit: PAGE_SIZE } } })),
  );
  const change = (next: ContactsSearch) => {
    setSelected(new Set());
    void navigate({ search: { ...search, ...next }, replace: true });
  };
  const fields = useMemo(() => namesFirst(custom), [custom]);
  const columns = useMemo(() => columnsOf(fields, projectId), [fields, projectId]);
  // Many fields make a wide table: only the first start visible.
  const hiddenIds = useMemo(
    () => new Set(hidden.length > 0 ? hidden : fields.slice(VISIBLE_FIELDS).map((field) => `data.${field}`)),
    [hidden, fields],
  );
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data]);
  const isFiltered = Object.keys(search).some((name) => name !== 'sort' && name !== 'dir');
  const total = list.data?.pages[0]?.total ?? 0;
  return (
    <Page
      title={t.contacts.title}
      description={t.contacts.description}
      actions={
        write && (
          <>
            <Button
              component="a"
              href={`/contacts/export?projectId=${projectId}`}
              variant="default"
              leftSection={<IconDownload size={16} />}
            >
              {t.contacts.export}
            </Button>
            <ButtonLink
              to="/p/$projectId/contacts/import"
              params={{ projectId }}
              variant="default"
              leftSection={<IconUpload size={16} />}
            >
              {t.contacts.import}
            </ButtonLink>
            <Button leftSection={<IconPlus size={16} />} onClick={open}>
              {t.contacts.add}
            </Button>
          </>
        )
      }
    >
      <Panel flush>
        <Group p="md" gap="sm" className="filters">
          <SearchField
            label={t.contactLists.search}
            value={search.query ?? search.search ?? ''}
            maxLength={100}
            onChange={(text) => change({ query: text || undefined, search: undefined })}
            flex="1 1 14rem"
          />
          <Choice
            label={t.contacts.subscription}
            value={search.subscribed === undefined ? 'any' : search.subscribed ? 'true' : 'false'}
            onChange={(value) => change({ subscribed: value === 'any' ? undefined : value === 'true' })}
            data={[
              { value: 'any', label: t.contacts.anySubscription },
              { value: 'true', label: t.contacts.subscribed },
              { value: 'false', label: t.contacts.unsubscribed },
            ]}
          />
          {custom.length > 0 && (
            <Button
              variant="default"
              leftSection={<IconFilterPlus size={16} />}
              onClick={toggleFilter}
              aria-expanded={filtering}
            >
              {t.contacts.addFilter}
            </Button>
          )}
          <ViewsMenu
            search={search}
            visible={columns.filter(({ id }) => !hiddenIds.has(id)).map(({ id }) => id)}
            onChoose={(filters, visible) => {
              setSelected(new Set());
              void navigate({ search: filters });
              if (visible.length > 0)
                setHidden([...columns.filter(({ id }) => !visible.includes(id)).map(({ id }) => id), '']);
            }}
          />
          <ColumnsMenu columns={columns} hidden={hiddenIds} onChange={(next) => setHidden([...next, ''])} />
        </Group>
        {filtering && (
          <FieldFilter
            fields={custom}
            onClose={closeFilter}
            onAdd={(name, value) => change({ fields: { ...search.fields, [name]: value } })}
          />
        )}
        {(search.fields || search.importId) && (
          <Group px="md" pb="sm" gap="xs">
            {search.importId && (
              <Badge
                size="lg"
                rightSection={
                  <CloseButton
                    size="xs"
                    aria-label={t.contactLists.removeImportFilter}
                    onClick={() => change({ importId: undefined })}
                  />
                }
              >
                {t.contactLists.importFilter}
              </Badge>
            )}
            {Object.entries(search.fields ?? {}).map(([name, value]) => (
              <Badge
                variant="light"
                key={name}
                size="lg"
                rightSection={
                  <CloseButton
                    size="xs"
                    aria-label={t.contacts.removeFilter(name)}
                    onClick={() => change({ fields: without(search.fields, name) })}
                  />
                }
              >
                {name} = {value}
              </Badge>
            ))}
          </Group>
        )}
        {write && hasSelected && (
          <Suspense>
            <BulkBar
              selected={selected}
              search={search}
              total={total}
              rows={rows}
              fields={custom}
              onDone={() => setSelected(new Set())}
            />
          </Suspense>
        )}
        <CursorTable<Contact>
          label={t.contacts.title}
          list={list}
          columns={columns}
          hidden={hiddenIds}
          rowId={({ id }) => id}
          rowName={({ email }) => email}
          {...(write && { selection: { ids: selected, onChange: setSelected } })}
          sorting={{
            by: search.sort ?? 'createdAt',
            dir: search.dir ?? 'desc',
            onChange: (sort, dir) => change({ sort: sort as 'email' | 'createdAt', dir }),
          }}
          empty={
            isFiltered ? (
              <Empty
                icon={<IconSearchOff size={30} />}
                title={t.contacts.noMatchTitle}
                text={t.contacts.noMatchText}
                action={
                  <Button variant="default" onClick={() => void navigate({ search: {} })}>
                    {t.common.clearFilters}
                  </Button>
                }
              />
            ) : (
              <Empty
                icon={<IconAddressBook size={30} />}
                title={t.contacts.emptyTitle}
                text={t.contacts.emptyText}
                action={
                  write && (
                    <ButtonLink
                      to="/p/$projectId/contacts/import"
                      params={{ projectId }}
                      leftSection={<IconUpload size={16} />}
                    >
                      {t.contacts.import}
                    </ButtonLink>
                  )
                }
              />
            )
          }
        />
      </Panel>
      {adding && (
        <Suspense>
          <AddContactDialog opened={adding} onClose={close} />
        </Suspense>
      )}
    </Page>
  );
}

const without = (fields: Record<string, string> = {}, name: string): Record<string, string> | undefined => {
  const { [name]: _removed, ...rest } = fields;
  return Object.keys(rest).length > 0 ? rest : undefined;
};

/** Names say most about a person. */
const namesFirst = (fields: string[]): string[] => [
  ...fields.filter((field) => /name/i.test(field)),
  ...fields.filter((field) => !/name/i.test(field)),
];

function columnsOf(fields: string[], projectId: string): Column<Contact>[] {
  return [
    {
      id: 'email',
      header: t.contacts.email,
      main: true,
      sortable: true,
      cell: ({ id, email }) => (
        <TextLink to="/p/$projectId/contacts/$id" params={{ projectId, id }} fw={500} inherit>
          {email}
        </TextLink>
      ),
    },
    ...fields.filter((field) => /name/i.test(field)).map(fieldColumn),
    {
      id: 'subscribed',
      header: t.contacts.subscription,
      cell: ({ subscribed }) => <SubscribedBadge subscribed={subscribed} />,
    },
    ...fields.filter((field) => !/name/i.test(field)).map(fieldColumn),
    { id: 'createdAt', header: t.common.created, sortable: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
}

const fieldColumn = (field: string): Column<Contact> => ({
  id: `data.${field}`,
  header: field,
  cell: ({ data }) => shownValue(data[field]).slice(0, 200),
});

interface ColumnsMenuProps {
  columns: Column<Contact>[];
  hidden: ReadonlySet<string>;
  onChange(hidden: Set<string>): void;
}

function ColumnsMenu({ columns, hidden, onChange }: ColumnsMenuProps) {
  const items = columns
    .filter(({ main }) => !main)
    .map(({ id, header }) => ({
      key: id,
      label: header,
      checked: !hidden.has(id),
      onClick: () => {
        const next = new Set(hidden);
        if (!next.delete(id)) next.add(id);
        onChange(next);
      },
    }));
  return (
    <MenuButton items={items} keepOpen>
      {(props) => (
        <Button variant="default" leftSection={<IconColumns3 size={16} />} {...props}>
          {t.common.columns}
        </Button>
      )}
    </MenuButton>
  );
}

interface FieldFilterProps {
  fields: string[];
  onAdd(name: string, value: string): void;
  onClose(): void;
}

function FieldFilter({ fields, onAdd, onClose }: FieldFilterProps) {
  const [name, setName] = useState(fields[0] ?? '');
  const [value, setValue] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!name || !value) return;
        onAdd(name, value);
        onClose();
      }}
    >
      <Group px="md" pb="md" gap="sm" align="flex-end">
        <Choice
          label={t.contacts.filterField}
          visibleLabel
          value={name}
          onChange={setName}
          data={fields.map((field) => ({ value: field, label: field }))}
        />
        <TextInput
          label={t.contacts.filterValue}
          value={value}
          autoFocus
          onChange={(event) => setValue(event.currentTarget.value)}
        />
        <Button type="submit" disabled={!name || !value}>
          {t.contacts.filter}
        </Button>
        <Button variant="default" onClick={onClose}>
          {t.common.cancel}
        </Button>
      </Group>
    </form>
  );
}
