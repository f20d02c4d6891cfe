import { Button, Checkbox, Group, Text, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import { columnVisibilityFeature, rowSelectionFeature, tableFeatures, useTable } from '@tanstack/react-table';
import {
  lazy,
  memo,
  type ReactNode,
  type Ref,
  type RefObject,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { flushSync } from 'react-dom';
import type { CursorList } from '../api/hooks.ts';
import { t } from '../texts/index.ts';
import { Placeholder, Problem } from './page.tsx';
import { isReadyForPaper, PRINTED_AT_ONCE, TableButtons } from './table-buttons.tsx';

export interface Column<Row> {
  id: string;
  header: string;
  cell(row: Row): ReactNode;
  align?: 'right';
  /** The API can sort by it. */
  sortable?: boolean;
  /** The column that names the row; it is the row's header for screen readers. */
  main?: boolean;
  /** Left out when the table is printed or copied, such as a column of buttons. */
  screenOnly?: boolean;
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
  /** Shows a button that copies all rows, and one that prints them. */
  portable?: boolean;
  /** Below the table, beside those buttons. */
  footer?: ReactNode;
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
/** Below this many rows everything is in the page, so that searching in the page works. */
const VIRTUAL_FROM = 200;

/** Whether the page is being printed without the button, when a long table must hold its rows in the page. */
function usePrinting(table: RefObject<HTMLTableElement | null>): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const show = (value: boolean) => flushSync(() => setPrinting(value));
    const before = () => !isReadyForPaper(table.current) && show(true);
    const after = () => show(false);
    window.addEventListener('beforeprint', before);
    window.addEventListener('afterprint', after);
    return () => {
      window.removeEventListener('beforeprint', before);
      window.removeEventListener('afterprint', after);
    };
  }, [table]);
  return printing;
}

interface TableRowProps<Row> {
  row: Row;
  id: string;
  columns: Column<Row>[];
  /** Undefined where rows cannot be selected. */
  selected: boolean | undefined;
  name: string;
  onToggle(id: string): void;
  /** Set in long tables, where most rows are not in the page. */
  index: number | undefined;
  measure: Ref<HTMLTableRowElement> | undefined;
}

/** Rendered anew only when its own data changes: scrolling through a long table must stay smooth. */
const TableRow = memo(function TableRow<Row extends object>(props: TableRowProps<Row>) {
  const { row, id, columns, selected, name, onToggle, index, measure } = props;
  return (
    <tr
      {...roles.row}
      ref={measure}
      data-index={index}
      aria-rowindex={index === undefined ? undefined : index + 2}
      data-selected={selected || undefined}
    >
      {selected !== undefined && (
        <td {...roles.cell} className="select-cell">
          <Checkbox aria-label={t.common.selectRow(name)} checked={selected} onChange={() => onToggle(id)} />
        </td>
      )}
      {columns.map((column) => (
        <td
          key={column.id}
          {...(column.main ? roles.rowheader : roles.cell)}
          data-label={column.header}
          data-main={column.main || undefined}
          data-align={column.align}
          data-screen-only={column.screenOnly || undefined}
        >
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}) as <Row extends object>(props: TableRowProps<Row>) => ReactNode;

/** A table that becomes a list of cards on a narrow screen. Long lists hold only the visible rows in the page. */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowId, rowName, hidden, sorting, selection, portable, footer } = props;
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
  const visible = useMemo(
    () => table.getVisibleLeafColumns().flatMap(({ id }) => columns.filter((column) => column.id === id)),
    [table, columns, columnVisibility],
  );
  const all = table.getRowModel().rows;
  const element = useRef<HTMLTableElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const printing = usePrinting(element);
  const isLong = all.length >= VIRTUAL_FROM;

  const ids = rows.map(rowId);
  const selectedCount = ids.filter((id) => selection?.ids.has(id)).length;
  const current = useRef(selection);
  current.current = selection;
  // Always the same, so that a row is not rendered anew when another is selected.
  const toggle = useCallback((id: string) => {
    const next = new Set(current.current?.ids);
    if (!next.delete(id)) next.add(id);
    current.current?.onChange(next);
  }, []);
  const rowAt = (index: number, measure?: Ref<HTMLTableRowElement>): ReactNode => {
    const row = all[index];
    return (
      row && (
        <TableRow<Row>
          key={row.id}
          id={row.id}
          row={row.original}
          columns={visible}
          selected={selection?.ids.has(row.id)}
          name={rowName?.(row.original) ?? row.id}
          onToggle={toggle}
          index={isLong ? index : undefined}
          measure={measure}
        />
      )
    );
  };
  return (
    <>
      {printing && all.length > PRINTED_AT_ONCE && (
        <Text px="md">{t.common.printedFirst(PRINTED_AT_ONCE, all.length)}</Text>
      )}
      <div className="table-box">
        <table
          className="data-table"
          {...roles.table}
          ref={element}
          aria-label={label}
          aria-rowcount={isLong ? all.length + 1 : undefined}
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
            {isLong && !printing ? (
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
              all.slice(0, PRINTED_AT_ONCE).map((_, index) => rowAt(index))
            )}
          </tbody>
        </table>
      </div>
      {(portable || footer) && (
        <Group px="md" py="xs" gap="sm" mih={52}>
          {footer}
          {portable && <TableButtons table={element} count={all.length} rowAt={rowAt} />}
        </Group>
      )}
    </>
  );
}

function HeaderCell<Row>({ column, sorting }: { column: Column<Row>; sorting: Sorting | undefined }) {
  const { id, header, align, sortable, screenOnly } = column;
  const current = sorting?.by === id ? sorting.dir : undefined;
  if (!sortable || !sorting)
    return (
      <th {...roles.columnheader} data-align={align} data-screen-only={screenOnly || undefined}>
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

/** Loads the next page when its button comes near, once the user has asked for more than the first. */
function useFollowing(list: CursorList<object>) {
  const button = useRef<HTMLButtonElement>(null);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const pages = list.data?.pages.length ?? 0;
  useEffect(() => {
    if (pages < 2 || !hasNextPage || isFetchingNextPage || !button.current) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) void fetchNextPage();
      },
      { rootMargin: '800px' },
    );
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [pages, hasNextPage, isFetchingNextPage, fetchNextPage]);
  return button;
}

/** A table over a list that pages by cursor, with its loading, error and empty states. */
export function CursorTable<Row extends object>({ list, empty, ...table }: CursorTableProps<Row>) {
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data]);
  const more = useFollowing(list);
  if (list.error && !list.data) return <Problem error={list.error} onRetry={() => void list.refetch()} />;
  if (!list.data) return <Placeholder lines={8} />;
  if (rows.length === 0) return empty;
  const [first] = list.data.pages;
  const footer = (
    <>
      <Text size="sm" c="dimmed" aria-live="polite">
        {(first?.totalEstimated ? t.common.shownOfAbout : t.common.shown)(
          rows.length,
          Math.max(first?.total ?? 0, rows.length),
        )}
      </Text>
      {list.hasNextPage && (
        <Button
          ref={more}
          variant="default"
          size="xs"
          loading={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          {t.common.loadMore}
        </Button>
      )}
    </>
  );
  return <DataTable portable {...table} rows={rows} footer={footer} />;
}
