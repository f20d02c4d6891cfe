import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type Ref, type RefObject, useLayoutEffect, useState } from 'react';

interface VirtualRowsProps {
  count: number;
  /** Of rows that have not been shown yet; shown ones are measured, because cards on phones differ in height. */
  rowHeight: number;
  columns: number;
  body: RefObject<HTMLTableSectionElement | null>;
  render(index: number, measure: Ref<HTMLTableRowElement>): ReactNode;
}

const OVERSCAN = 20;

/** Holds only the visible rows of a long table in the page, with space for the others above and below. */
export function VirtualRows({ count, rowHeight, columns, body, render }: VirtualRowsProps) {
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    const locate = () => setOffset((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
    locate();
    window.addEventListener('resize', locate);
    return () => window.removeEventListener('resize', locate);
  }, [body, count]);
  const virtualizer = useWindowVirtualizer({
    count,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    scrollMargin: offset,
  });
  const items = virtualizer.getVirtualItems();
  const first = items[0];
  const last = items.at(-1);
  const before = first ? first.start - offset : 0;
  const after = last ? virtualizer.getTotalSize() - (last.end - offset) : 0;
  const space = (height: number) =>
    height > 0 && (
      <tr aria-hidden className="spacer">
        <td colSpan={columns} style={{ height, padding: 0 }} />
      </tr>
    );
  return (
    <>
      {space(before)}
      {items.map(({ index }) => render(index, virtualizer.measureElement))}
      {space(after)}
    </>
  );
}
