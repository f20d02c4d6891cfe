/** Reads a table of the page as lines of tab-separated cells, as spreadsheets take them. */
export const tableText = (table: HTMLTableElement): string =>
  [...table.rows]
    .filter((row) => !row.classList.contains('spacer'))
    .map((row) =>
      [...row.cells]
        .filter((cell) => !cell.matches('.select-cell, .select-head, [data-screen-only]'))
        .map(cellText)
        .join('\t'),
    )
    .join('\n');

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
