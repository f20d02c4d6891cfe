import { type ReactNode, type RefObject, useRef, useState } from 'react';
import { createPortal, flushSync } from 'react-dom';
import { t } from '../texts/index.ts';
import { showDone, showProblem } from './notify.ts';
import { rowsText } from './table-text.ts';

/** Rows that are rendered at once: few enough for the page to answer between two sets. */
const SET = 100;

/**
 * Copies all rows of a table, also those of a long one that are not in the page. They are rendered in sets in an element
 * outside the page, so that neither the page nor its scroll position changes meanwhile.
 */
export function useCopying(
  table: RefObject<HTMLTableElement | null>,
  count: number,
  rowAt: (index: number) => ReactNode,
) {
  const [start, setStart] = useState<number>();
  const outside = useRef<HTMLTableSectionElement>(null);
  const read = async (): Promise<string> => {
    outside.current ??= document.createElement('tbody');
    const lines = rowsText(table.current?.tHead?.rows ?? []);
    try {
      for (let next = 0; next < count; next += SET) {
        flushSync(() => setStart(next));
        lines.push(...rowsText(outside.current.rows));
        await new Promise((resolve) => setTimeout(resolve));
      }
    } finally {
      setStart(undefined);
    }
    return lines.join('\n');
  };
  const copy = async (): Promise<void> => {
    const text = read();
    // Given the promise, a browser takes the text for the user's own wish however long it takes to read.
    if (typeof ClipboardItem === 'undefined') await navigator.clipboard.writeText(await text);
    else await navigator.clipboard.write([new ClipboardItem({ 'text/plain': text.then(plain) })]);
    showDone(t.common.tableCopied(count));
  };
  const shown = start === undefined ? 0 : Math.min(SET, count - start);
  return {
    copying: start !== undefined,
    copy: () => void copy().catch(showProblem),
    /** To be part of what the table renders. */
    rows:
      start !== undefined &&
      outside.current &&
      createPortal(
        Array.from({ length: shown }, (_, n) => rowAt(start + n)),
        outside.current,
      ),
  };
}

const plain = (text: string): Blob => new Blob([text], { type: 'text/plain' });
