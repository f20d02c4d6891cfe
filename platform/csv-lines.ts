import { stringify } from 'csv-stringify/sync';

/** Spreadsheets treat a text that begins with one of these as a formula. */
const FORMULA = /^[=+\-@\t\r\n]/;
/** Separators of cells and lines, in some country or program: between quotes they separate nothing. */
const SEPARATOR = /[;\t\r\n]/;

/** Formats rows as CSV (RFC 4180), with no cell that a spreadsheet would run. */
export const csvLines = (rows: unknown[][]): string =>
  stringify(
    rows.map((row) => row.map(asCell)),
    { record_delimiter: '\r\n', quoted_match: SEPARATOR },
  );

function asCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value instanceof Date) return value.toISOString();
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return FORMULA.test(text) ? `'${text}` : text;
}
