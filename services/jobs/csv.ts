import { isUtf8 } from 'node:buffer';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { parse } from 'csv-parse';
import { badRequest } from '../../platform/errors.ts';
import { MAX_KEY_LENGTH } from '../contacts/data.ts';

/** One row of an import, numbered as in a spreadsheet: the header is row 1. */
export interface CsvRow {
  row: number;
  cells: string[];
  /** The parser's message when the row cannot be read. */
  parseError?: string;
}

/** The meaning of the columns, by their index. */
export interface CsvColumns {
  email: number;
  subscribed: number | undefined;
  /** Columns that become custom fields. */
  fields: { column: number; key: string }[];
}

export interface CsvFile {
  columns: CsvColumns;
  /**
   * Returns the rows below the header in order, without empty ones, which still count in the row numbers. Returns batches,
   * because a promise for every row would cost more than the row.
   */
  rows(): AsyncIterable<CsvRow[]>;
}

/** Twice as many as a project may have custom fields. */
const MAX_COLUMNS = 1_000;
/** A few milliseconds of parsing with the shortest rows. */
const CHUNK_BYTES = 4_096;

/** Reads the header, and rejects a file that is not CSV or has unusable columns. */
export async function openCsv(content: Buffer): Promise<CsvFile> {
  if (content.includes(0) || !isUtf8(content)) throw badRequest('The file is not CSV text in UTF-8.');
  const delimiter = delimiterOf(content);
  let header: string[] = [];
  for await (const [first] of parseRows(content, delimiter)) {
    if (!first) continue;
    header = first.cells;
    break;
  }
  return { columns: columnsOf(header), rows: () => rowsBelowHeader(content, delimiter) };
}

async function* rowsBelowHeader(content: Buffer, delimiter: string): AsyncIterable<CsvRow[]> {
  for await (const rows of parseRows(content, delimiter)) yield rows.filter((row) => row.row > 1 && !isEmpty(row));
}

const isEmpty = ({ cells, parseError }: CsvRow) => !parseError && cells.every((cell) => cell.trim() === '');

/**
 * Writes to the parser chunk by chunk and yields to the event loop after each. Piped through streams, a file of short rows
 * is parsed in microtasks, which block the process for seconds.
 */
async function* parseRows(content: Buffer, delimiter: string): AsyncIterable<CsvRow[]> {
  const parseErrors: string[] = [];
  const parser = parse({
    bom: true,
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    // A quote inside a cell is text, as in 19" or a nickname.
    relax_quotes: true,
    skip_records_with_error: true,
    on_skip: (error) => void parseErrors.push(error?.message ?? 'cannot be read'),
  });
  parser.on('error', (error) => parseErrors.push(error.message));
  let row = 0;
  const takeParsed = (): CsvRow[] => {
    const rows: CsvRow[] = [];
    for (let cells = parser.read(); cells !== null; cells = parser.read()) rows.push({ row: ++row, cells });
    return rows;
  };
  for (let at = 0; at < content.length; at += CHUNK_BYTES) {
    parser.write(content.subarray(at, at + CHUNK_BYTES));
    yield takeParsed();
    await yieldToEventLoop();
  }
  parser.end();
  await yieldToEventLoop();
  yield takeParsed();
  // The only possible error is a quote that is never closed, which extends to the end of the file.
  yield parseErrors.map((parseError) => ({ row: ++row, cells: [], parseError }));
}

/** Returns the one that occurs more often in the header, outside quotes. */
function delimiterOf(content: Buffer): ',' | ';' {
  let quoted = false;
  let balance = 0;
  for (const char of content.subarray(0, 65_536).toString('latin1')) {
    if (char === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (char === '\n' || char === '\r') break;
    else if (char === ';') balance++;
    else if (char === ',') balance--;
  }
  return balance > 0 ? ';' : ',';
}

function columnsOf(header: string[]): CsvColumns {
  if (header.length > MAX_COLUMNS)
    throw badRequest(`The file has ${header.length} columns; it may have ${MAX_COLUMNS} at most.`);
  const names = header.map((name) => name.trim().toLowerCase());
  const email = names.indexOf('email');
  if (email < 0) throw badRequest('The file has no column "email" in its first row.');
  const subscribed = names.indexOf('subscribed');
  const fields = header
    .map((key, column) => ({ column, key }))
    .filter(({ column, key }) => column !== email && column !== subscribed && key.trim() !== '' && key !== '__proto__');
  const tooLong = fields.find(({ key }) => key.length > MAX_KEY_LENGTH);
  if (tooLong) throw badRequest(`Column ${tooLong.column + 1} has a name of more than ${MAX_KEY_LENGTH} characters.`);
  return { email, subscribed: subscribed < 0 ? undefined : subscribed, fields };
}

const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Converts plain decimal numbers, true and false. All else is text, including numbers with leading zeros. */
export function typedCell(cell: string): string | number | boolean {
  if (cell === 'true' || cell === 'false') return cell === 'true';
  if (DECIMAL.test(cell) && cell.replace(/\D/g, '').length <= 15) return Number(cell);
  return cell;
}

const YES = new Set(['true', '1', 'yes']);
const NO = new Set(['false', '0', 'no']);

/** Undefined for an empty cell; null for one that is neither yes nor no. */
export function subscribedCell(cell: string | undefined): boolean | undefined | null {
  const text = (cell ?? '').trim().toLowerCase();
  if (text === '') return undefined;
  if (YES.has(text)) return true;
  return NO.has(text) ? false : null;
}
