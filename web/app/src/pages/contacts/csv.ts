// Reads the head of a CSV file in the browser, to show its columns. The API reads the file itself.
const DELIMITERS = [',', ';', '\t'];
const HEAD_BYTES = 65_536;

export interface CsvHead {
  columns: string[];
  /** The first row below the names. */
  example: string[];
}

export async function readHead(file: File): Promise<CsvHead | undefined> {
  const text = (await file.slice(0, HEAD_BYTES).text()).replace(/^\uFEFF/, '');
  const [first = ''] = text.split(/\r?\n/, 1);
  const delimiter = DELIMITERS.map((sign) => ({ sign, count: first.split(sign).length })).sort(
    (a, b) => b.count - a.count,
  )[0]?.sign;
  const [columns = [], example = []] = parseRows(text, delimiter ?? ',', 2);
  // A binary file has control characters.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  if (columns.every((name) => name.trim() === '') || /[\u0000-\u0008]/.test(first)) return undefined;
  return { columns, example };
}

/** Parses up to `limit` rows; quotes and line breaks in quotes as RFC 4180 has them. */
export function parseRows(text: string, delimiter: string, limit: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  const endRow = () => {
    rows.push([...row, cell]);
    row = [];
    cell = '';
  };
  for (let at = 0; at < text.length && rows.length < limit; at++) {
    const sign = text[at];
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') {
        cell += '"';
        at++;
      } else quoted = false;
    } else if (sign === '"' && cell === '') quoted = true;
    else if (sign === delimiter) {
      row.push(cell);
      cell = '';
    } else if (sign === '\n') endRow();
    else if (sign !== '\r') cell += sign;
  }
  if (rows.length < limit && (row.length > 0 || cell !== '')) endRow();
  return rows;
}
