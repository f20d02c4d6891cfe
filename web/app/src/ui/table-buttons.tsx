import { ActionIcon, Group } from '@mantine/core';
import { IconCopy, IconPrinter } from '@tabler/icons-react';
import { type ReactNode, type RefObject, useRef, useState } from 'react';
import { createPortal, flushSync } from 'react-dom';
import { t } from '../texts/index.ts';
import { showDone, showProblem } from './notify.ts';
import { plainRow, rowsText } from './table-text.ts';

/** Rows that are rendered at once: few enough for the page to answer between two sets. */
const SET = 100;
/** The most rows that a table renders on beforeprint, which cannot wait: the page stands still meanwhile. */
export const PRINTED_AT_ONCE = 1_000;

interface TableButtonsProps {
  table: RefObject<HTMLTableElement | null>;
  count: number;
  rowAt(index: number): ReactNode;
}

interface RenderedSet {
  start: number;
  /** Of the moment at which reading began: rows that arrive meanwhile do not move the others. */
  rowAt(index: number): ReactNode;
}

/**
 * Copies and prints all rows of a table, also those of a long one that are not in the page. They are rendered in sets in
 * an element outside the page, so that neither the page nor its scroll position changes meanwhile. The set is the state
 * of the buttons and not of the table, which is not rendered anew.
 */
export function TableButtons({ table, count, rowAt }: TableButtonsProps) {
  const [set, setSet] = useState<RenderedSet>();
  const [work, setWork] = useState<'copy' | 'print'>();
  const outside = useRef<HTMLTableSectionElement>(null);

  const readRows = async (take: (rows: Iterable<HTMLTableRowElement>) => void): Promise<void> => {
    outside.current ??= document.createElement('tbody');
    try {
      for (let start = 0; start < count; start += SET) {
        // The user has left the page.
        if (!table.current) throw new Error('The table is gone.');
        flushSync(() => setSet({ start, rowAt }));
        take(outside.current.rows);
        await new Promise((resolve) => setTimeout(resolve));
      }
    } finally {
      setSet(undefined);
    }
  };
  const readText = async (): Promise<string> => {
    const lines = rowsText(table.current?.tHead?.rows ?? []);
    await readRows((rows) => lines.push(...rowsText(rows)));
    return lines.join('\n');
  };
  const copy = async (): Promise<void> => {
    const text = readText();
    // Given the promise, a browser takes the text for the user's own wish however long it takes to read.
    if (typeof ClipboardItem === 'undefined') await navigator.clipboard.writeText(await text);
    else await navigator.clipboard.write([new ClipboardItem({ 'text/plain': text.then(plain) })]);
    showDone(t.common.tableCopied(count));
  };
  const print = async (): Promise<void> => {
    if (count <= PRINTED_AT_ONCE) return window.print();
    const onPaper = document.createElement('tbody');
    onPaper.className = 'on-paper';
    await readRows((rows) => onPaper.append(...[...rows].map(plainRow)));
    printWith(table.current, onPaper);
  };
  const start = (kind: 'copy' | 'print', run: () => Promise<void>) => () => {
    setWork(kind);
    void run()
      .catch((error) => table.current && showProblem(error))
      .finally(() => setWork(undefined));
  };
  return (
    <Group gap={4} ml="auto" className="screen-only">
      {set &&
        outside.current &&
        createPortal(
          Array.from({ length: Math.min(SET, count - set.start) }, (_, n) => set.rowAt(set.start + n)),
          outside.current,
        )}
      <TableButton label={t.common.copyTable} icon={IconCopy} work={work} kind="copy" onClick={start('copy', copy)} />
      <TableButton
        label={t.common.printTable}
        icon={IconPrinter}
        work={work}
        kind="print"
        onClick={start('print', print)}
      />
    </Group>
  );
}

const plain = (text: string): Blob => new Blob([text], { type: 'text/plain' });

/** Prints the page with `rows` in place of the table's own. */
function printWith(table: HTMLTableElement | null, rows: HTMLTableSectionElement): void {
  if (!table) return;
  table.append(rows);
  window.addEventListener('afterprint', () => rows.remove(), { once: true });
  window.print();
}

/** Whether the table holds all its rows for paper already. */
export const isReadyForPaper = (table: HTMLTableElement | null): boolean =>
  table?.tBodies.item(table.tBodies.length - 1)?.className === 'on-paper';

interface TableButtonProps {
  label: string;
  icon: typeof IconCopy;
  kind: 'copy' | 'print';
  work: 'copy' | 'print' | undefined;
  onClick(): void;
}

const TableButton = ({ label, icon: Icon, kind, work, onClick }: TableButtonProps) => (
  <ActionIcon
    variant="subtle"
    color="gray"
    title={label}
    aria-label={label}
    loading={work === kind}
    disabled={work !== undefined && work !== kind}
    onClick={onClick}
  >
    <Icon size={16} aria-hidden />
  </ActionIcon>
);
