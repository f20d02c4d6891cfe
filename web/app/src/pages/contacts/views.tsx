import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBookmark, IconDeviceFloppy, IconRefresh, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { View } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { MenuButton, type MenuEntry } from '../../ui/menu-button.tsx';
import { type ContactsSearch, contactsSearch } from './search.ts';

const SaveViewDialog = lazy(() =>
  import('./save-view.tsx').then(({ SaveViewDialog }) => ({ default: SaveViewDialog })),
);

interface ViewsMenuProps {
  search: ContactsSearch;
  /** Ids of the visible columns. */
  visible: string[];
  onChoose(search: ContactsSearch, visible: string[]): void;
}

/** Saved filters and columns, shared by the members of the project. */
export function ViewsMenu({ search, visible, onChoose }: ViewsMenuProps) {
  const { client, key } = useApi();
  const { write } = useRights();
  const [saving, { open, close }] = useDisclosure();
  const views = useQuery({ queryKey: key('views'), queryFn: () => unwrap(client.GET('/views')), staleTime: 60_000 });
  const own = (views.data ?? []).filter(({ page }) => page === 'contacts');
  const current = own.find(({ filters }) => isSame(contactsSearch(filters), search));
  const changes = [key('views')];
  const content = { filters: { ...search }, columns: visible };
  const update = useAction({
    run: ({ id }: View) => unwrap(client.PATCH('/views/{id}', { params: { path: { id } }, body: content })),
    done: ({ name }) => t.contactLists.viewSaved(name),
    changes,
  });
  const remove = useAction({
    run: ({ id }: View) => unwrap(client.DELETE('/views/{id}', { params: { path: { id } } })),
    done: (_, { name }) => t.contactLists.viewDeleted(name),
    changes,
  });
  const items: MenuEntry[] = [
    { key: 'all', label: t.contactLists.allContacts, onClick: () => onChoose({}, []) },
    ...own.map(
      (view): MenuEntry => ({
        key: view.id,
        label: view.name,
        current: view.id === current?.id,
        onClick: () => onChoose(contactsSearch(view.filters), view.columns),
      }),
    ),
    ...(own.length === 0 ? [{ kind: 'label' as const, key: 'none', label: t.contactLists.noViews }] : []),
    ...(write
      ? [
          { kind: 'divider' as const, key: 'line' },
          {
            key: 'save',
            label: t.contactLists.saveView,
            icon: <IconDeviceFloppy size={16} />,
            onClick: open,
          },
        ]
      : []),
    ...(write && current
      ? [
          {
            key: 'update',
            label: t.contactLists.updateView(current.name),
            icon: <IconRefresh size={16} />,
            onClick: () => update.mutate(current),
          },
          {
            key: 'delete',
            label: t.contactLists.deleteView(current.name),
            icon: <IconTrash size={16} />,
            danger: true,
            onClick: () => remove.mutate(current),
          },
        ]
      : []),
  ];
  return (
    <>
      <MenuButton items={items}>
        {(props) => (
          <Button variant="default" leftSection={<IconBookmark size={16} />} {...props}>
            {current?.name ?? t.contactLists.views}
          </Button>
        )}
      </MenuButton>
      {saving && (
        <Suspense>
          <SaveViewDialog content={content} onClose={close} />
        </Suspense>
      )}
    </>
  );
}

/** Whatever the order of their keys. */
const isSame = (one: object, two: object): boolean => sorted(one) === sorted(two);

const sorted = (value: object): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => a.localeCompare(b)))
      : part,
  );
