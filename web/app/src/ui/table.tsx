import { Button, Checkbox, Group, Text, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import { columnVisibilityFeature, rowSelectionFeature, tableFeatures, useTable } from '@tanstack/react-table';
import { lazy, type ReactNode, Suspense, useMemo, useRef } from 'react';
import type { CursorList } from '../api/hooks.ts';
import { t } from '../texts/index.ts';
import { Placeholder, Problem } from './page.tsx';

export interface Column<Row> {
  id: string;
  header: string;
  cell(row: Row): ReactNode;
  align?: 'right';
  /** The API can sort by it. */
  sortable?: boolean;
  /** The column that names the row; it is the row's header for screen readers. */
  main?: boolean;
}

export interface Sorting {
  by: string;
  dir: 'asc' | 'desc';
  onChange(by: string, dir: 'asc' | 'desc'): void;
}

export interface Selection {
  ids: ReadonlySet<string>;
  onChange(ids: Set<string>): void;
}

interface DataTableProps<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  rowId(row: Row): string;
  /** Names a row, for its checkbox. */
  rowName?(row: Row): string;
  hidden?: ReadonlySet<string>;
  sorting?: Sorting;
  selection?: Selection;
}

const VirtualRows = lazy(() => import('./virtual-rows.tsx').then(({ VirtualRows }) => ({ default: VirtualRows })));

const features = tableFeatures({ columnVisibilityFeature, rowSelectionFeature });
const ROW_HEIGHT = 49;
/** Browsers take elements of a table for plain boxes once CSS lays them out as cards, unless their roles are written. */
const roles = {
  table: { role: 'table' },
  rowgroup: { role: 'rowgroup' },
  row: { role: 'row' },
  columnheader: { role: 'columnheader' },
  rowheader: { role: 'rowheader' },
  cell: { role: 'cell' },
};
/** Below this many rows everything is in the page: searching in the page and printing work. */
const VIRTUAL_FROM = 200;

/** A table that becomes a list of cards on a narrow screen. Long lists hold only the visible rows in the page. */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowId, rowName, hidden, sorting, selection } = props;
  const definitions = useMemo(() => columns.map(({ id, header }) => ({ id, header })), [columns]);
  const columnVisibility = useMemo(
    () => Object.fromEntries(columns.map(({ id }) => [id, !hidden?.has(id)])),
    [columns, hidden],
  );
  const rowSelection = useMemo(
    () => Object.fromEntries([...(selection?.ids ?? [])].map((id) => [id, true as const])),
    [selection?.ids],
  );
  const table = useTable({
    features,
    columns: definitions,
    data: rows,
    getRowId: (row: Row) => rowId(row),
    state: { columnVisibility, rowSelection },
  });
  const visible = table.getVisibleLeafColumns().flatMap(({ id }) => columns.filter((column) => column.id === id));
  const all = table.getRowModel().rows;
  const body = useRef<HTMLTableSectionElement>(null);
  const isVirtual = all.length >= VIRTUAL_FROM;

  const ids = rows.map(rowId);
  const selectedCount = ids.filter((id) => selection?.ids.has(id)).length;
  const toggle = (id: string) => {
    const next = new Set(selection?.ids);
    if (!next.delete(id)) next.add(id);
    selection?.onChange(next);
  };
  const rowAt = (index: number): ReactNode => {
    const row = all[index];
    if (!row) return null;
    return (
      <tr {...roles.row} key={row.id} data-selected={selection?.ids.has(row.id) || undefined}>
        {selection && (
          <td {...roles.cell} className="select-cell">
            <Checkbox
              aria-label={t.common.selectRow(rowName?.(row.original) ?? row.id)}
              checked={selection.ids.has(row.id)}
              onChange={() => toggle(row.id)}
            />
          </td>
        )}
        {visible.map((column) => (
          <td
            key={column.id}
            {...(column.main ? roles.rowheader : roles.cell)}
            data-label={column.header}
            data-main={column.main || undefined}
            data-align={column.align}
          >
            {column.cell(row.original)}
          </td>
        ))}
      </tr>
    );
  };
  return (
    <table
      className="data-table"
      {...roles.table}
      aria-label={label}
      aria-rowcount={isVirtual ? all.length + 1 : undefined}
    >
      <thead {...roles.rowgroup}>
        <tr {...roles.row}>
          {selection && (
            <th {...roles.columnheader} className="select-head">
              <Checkbox
                aria-label={t.common.selectAll}
                checked={ids.length > 0 && selectedCount === ids.length}
                indeterminate={selectedCount > 0 && selectedCount < ids.length}
                onChange={() => selection.onChange(selectedCount === ids.length ? new Set() : new Set(ids))}
              />
            </th>
          )}
          {visible.map((column) => (
            <HeaderCell key={column.id} column={column} sorting={sorting} />
          ))}
        </tr>
      </thead>
      <tbody {...roles.rowgroup} ref={body}>
        {isVirtual ? (
          <Suspense>
            <VirtualRows
              count={all.length}
              rowHeight={ROW_HEIGHT}
              columns={visible.length + 1}
              body={body}
              render={rowAt}
            />
          </Suspense>
        ) : (
          all.map((_, index) => rowAt(index))
        )}
      </tbody>
    </table>
  );
}

function HeaderCell<Row>({ column, sorting }: { column: Column<Row>; sorting: Sorting | undefined }) {
  const { id, header, align, sortable } = column;
  const current = sorting?.by === id ? sorting.dir : undefined;
  if (!sortable || !sorting)
    return (
      <th {...roles.columnheader} data-align={align}>
        {header}
      </th>
    );
  const next = current === 'asc' ? 'desc' : 'asc';
  return (
    <th
      {...roles.columnheader}
      data-align={align}
      aria-sort={current === undefined ? 'none' : current === 'asc' ? 'ascending' : 'descending'}
    >
      <UnstyledButton className="sort" onClick={() => sorting.onChange(id, next)}>
        {header}
        {current === 'asc' && <IconChevronUp size={14} aria-hidden />}
        {current === 'desc' && <IconChevronDown size={14} aria-hidden />}
      </UnstyledButton>
    </th>
  );
}

interface CursorTableProps<Row> extends Omit<DataTableProps<Row>, 'rows'> {
  list: CursorList<Row>;
  empty: ReactNode;
}

/** A table over a list that pages by cursor, with its loading, error and empty states. */
export function CursorTable<Row extends object>({ list, empty, ...table }: CursorTableProps<Row>) {
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data]);
  if (list.error && !list.data) return <Problem error={list.error} onRetry={() => void list.refetch()} />;
  if (!list.data) return <Placeholder lines={8} />;
  if (rows.length === 0) return empty;
  return (
    <>
      <DataTable {...table} rows={rows} />
      <Group justify="space-between" p="md">
        <Text size="sm" c="dimmed" aria-live="polite">
          {t.common.shown(rows.length, Math.max(list.data.pages[0]?.total ?? 0, rows.length))}
        </Text>
        {list.hasNextPage && (
          <Button
            variant="default"
            size="sm"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            {t.common.loadMore}
          </Button>
        )}
      </Group>
    </>
  );
}
