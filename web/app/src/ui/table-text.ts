/** Reads rows of a table as lines of tab-separated cells, as spreadsheets take them. */
export const rowsText = (rows: Iterable<HTMLTableRowElement>): string[] =>
  [...rows].map((row) =>
    [...row.cells]
      .filter((cell) => !cell.matches('.select-cell, .select-head, [data-screen-only]'))
      .map(cellText)
      .join('\t'),
  );

function cellText(cell: HTMLTableCellElement): string {
  const texts: string[] = [];
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement, textContent } = walker.currentNode;
    // "2 hours ago" is wrong an hour later.
    const time = parentElement?.closest('time')?.dateTime;
    texts.push(time ?? textContent ?? '');
  }
  return texts.join(' ').replace(/\s+/g, ' ').trim();
}
