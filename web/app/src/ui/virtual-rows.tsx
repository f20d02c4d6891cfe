import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useLayoutEffect, useState } from 'react';

interface VirtualRowsProps {
  count: number;
  rowHeight: number;
  columns: number;
  body: RefObject<HTMLTableSectionElement | null>;
  render(index: number): ReactNode;
}

/** Holds only the visible rows of a long table in the page, with space for the others above and below. */
export function VirtualRows({ count, rowHeight, columns, body, render }: VirtualRowsProps) {
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    const top = body.current?.getBoundingClientRect().top ?? 0;
    setOffset(top + window.scrollY);
  }, [body]);
  const virtualizer = useWindowVirtualizer({
    count,
    estimateSize: () => rowHeight,
    overscan: 20,
    scrollMargin: offset,
  });
  const items = virtualizer.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
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
      {items.map(({ index }) => render(index))}
      {space(after)}
    </>
  );
}
