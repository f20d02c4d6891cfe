/** Formats rows as a table in Markdown whose columns are aligned in a terminal too. */
export function textTable(header: string[], rows: string[][]): string[] {
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => (row[column] ?? '').length)));
  return [header, widths.map((width) => '-'.repeat(width)), ...rows].map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
}
