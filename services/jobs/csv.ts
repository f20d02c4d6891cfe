import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parse } from 'csv-parse';
import { badRequest } from '../../platform/errors.ts';

/** One row of an import, with its number as a spreadsheet shows it: the header is row 1. */
export interface CsvRow {
  row: number;
  cells: string[];
  /** The parser's word when the row cannot be read. */
  fault?: string;
}

/** Which column says what. */
export interface CsvColumns {
  email: number;
  subscribed: number | undefined;
  /** Columns that become custom fields. */
  fields: { column: number; key: string }[];
}

export interface CsvFile {
  columns: CsvColumns;
  /**
   * The rows below the header, in order; empty ones are left out but keep their number. In batches, because a promise
   * for every row would cost more than the row.
   */
  rows(): AsyncIterable<CsvRow[]>;
}

const MAX_KEY_LENGTH = 256;
/** Twice as many as a project may have custom fields. */
const MAX_COLUMNS = 1_000;
/** Some milliseconds of work when rows are as short as can be. */
const CHUNK_BYTES = 4_096;

/** Looks at the file as far as its header, and refuses what can be refused at once. */
export async function openCsv(content: Buffer): Promise<CsvFile> {
  if (content.includes(0) || !isUtf8(content)) throw badRequest('The file is not CSV text in UTF-8.');
  const delimiter = delimiterOf(content);
  let header: string[] = [];
  for await (const [first] of read(content, delimiter)) {
    if (!first) continue;
    header = first.cells;
    break;
  }
  return { columns: columnsOf(header), rows: () => below(content, delimiter) };
}

async function* below(content: Buffer, delimiter: string): AsyncIterable<CsvRow[]> {
  for await (const rows of read(content, delimiter)) yield rows.filter((row) => row.row > 1 && !isEmpty(row));
}

const isEmpty = ({ cells, fault }: CsvRow) => !fault && cells.every((cell) => cell.trim() === '');

/**
 * The parser is fed and emptied by hand, with a turn for others after every piece: piped through streams, a file of
 * short rows is worked off in microtasks and holds up for seconds whatever else the process does, mail included.
 */
async function* read(content: Buffer, delimiter: string): AsyncIterable<CsvRow[]> {
  const faults: string[] = [];
  const parser = parse({
    bom: true,
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    // A stray quote inside a cell is text; people type inches and nicknames.
    relax_quotes: true,
    skip_records_with_error: true,
    on_skip: (error) => void faults.push(error?.message ?? 'cannot be read'),
  });
  parser.on('error', (error) => faults.push(error.message));
  let row = 0;
  const take = (): CsvRow[] => {
    const rows: CsvRow[] = [];
    for (let cells = parser.read(); cells !== null; cells = parser.read()) rows.push({ row: ++row, cells });
    return rows;
  };
  for (let at = 0; at < content.length; at += CHUNK_BYTES) {
    parser.write(content.subarray(at, at + CHUNK_BYTES));
    yield take();
    await nextTurn();
  }
  parser.end();
  await nextTurn();
  yield take();
  // Only a quote that is never closed gets here, and it swallows the rest of the file.
  yield faults.map((fault) => ({ row: ++row, cells: [], fault }));
}

/** Whichever of the two stands more often in the header, outside quotes. */
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
  const plain = header.map((name) => name.trim().toLowerCase());
  const email = plain.indexOf('email');
  if (email < 0) throw badRequest('The file has no column "email" in its first row.');
  const subscribed = plain.indexOf('subscribed');
  const fields = header
    .map((key, column) => ({ column, key }))
    .filter(({ column, key }) => column !== email && column !== subscribed && key.trim() !== '' && key !== '__proto__');
  const long = fields.find(({ key }) => key.length > MAX_KEY_LENGTH);
  if (long) throw badRequest(`Column ${long.column + 1} has a name of more than ${MAX_KEY_LENGTH} characters.`);
  return { email, subscribed: subscribed < 0 ? undefined : subscribed, fields };
}

const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Plain decimal numbers and true or false are what they look like; all else is text, leading zeros included. */
export function typedCell(cell: string): string | number | boolean {
  if (cell === 'true' || cell === 'false') return cell === 'true';
  if (DECIMAL.test(cell) && cell.replace(/\D/g, '').length <= 15) return Number(cell);
  return cell;
}

const YES = new Set(['true', '1', 'yes']);
const NO = new Set(['false', '0', 'no']);

/** Undefined for an empty cell; null for one that says neither yes nor no. */
export function subscribedCell(cell: string | undefined): boolean | undefined | null {
  const text = (cell ?? '').trim().toLowerCase();
  if (text === '') return undefined;
  if (YES.has(text)) return true;
  return NO.has(text) ? false : null;
}
