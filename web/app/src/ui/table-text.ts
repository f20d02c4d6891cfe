/** Reads rows of a table as lines of tab-separated cells, as spreadsheets take them. */
export const rowsText = (rows: Iterable<HTMLTableRowElement>): string[] =>
  [...rows].map((row) => keptCells(row).map(cellText).join('\t'));

/** Returns a row with the same text and nothing else, so that a browser lays out thousands of them quickly. */
export function plainRow(row: HTMLTableRowElement): HTMLTableRowElement {
  const copy = document.createElement('tr');
  for (const cell of keptCells(row)) {
    const { align = '' } = cell.dataset;
    const text = document.createElement('td');
    text.textContent = cellText(cell);
    if (align) text.dataset.align = align;
    copy.append(text);
  }
  return copy;
}

const keptCells = (row: HTMLTableRowElement): HTMLTableCellElement[] =>
  [...row.cells].filter((cell) => !cell.matches('.select-cell, .select-head, [data-screen-only]'));

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
