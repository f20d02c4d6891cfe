import { isUtf8 } from 'node:buffer';
import { Readable, type TransformOptions } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Options, parse } from 'csv-parse';
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
  /** The rows below the header, in order; empty ones are left out but keep their number. */
  rows(): AsyncIterable<CsvRow>;
}

const MAX_KEY_LENGTH = 256;
/** Some hundred rows when they are as short as can be. */
const CHUNK_BYTES = 1_024;
const TURN_MS = 1;

/** Looks at the file as far as its header, and refuses what can be refused at once. */
export async function openCsv(content: Buffer): Promise<CsvFile> {
  if (content.includes(0) || !isUtf8(content)) throw badRequest('The file is not CSV text in UTF-8.');
  const delimiter = delimiterOf(content);
  let header: string[] = [];
  for await (const { cells } of read(content, delimiter)) {
    header = cells;
    break;
  }
  return { columns: columnsOf(header), rows: () => below(content, delimiter) };
}

async function* below(content: Buffer, delimiter: string): AsyncIterable<CsvRow> {
  for await (const row of read(content, delimiter)) if (row.row > 1 && !isEmpty(row)) yield row;
}

const isEmpty = ({ cells, fault }: CsvRow) => !fault && cells.every((cell) => cell.trim() === '');

async function* read(content: Buffer, delimiter: string): AsyncIterable<CsvRow> {
  let row = 0;
  const faults: string[] = [];
  const options: Options & TransformOptions = {
    // Neither side buffers ahead: what is buffered is worked off in one turn.
    writableHighWaterMark: 1,
    bom: true,
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    // A stray quote inside a cell is text; people type inches and nicknames.
    relax_quotes: true,
    skip_records_with_error: true,
    on_skip: (error) => void faults.push(error?.message ?? 'cannot be read'),
  };
  const source = Readable.from(chunksOf(content), { objectMode: false, highWaterMark: 1 });
  for await (const cells of source.pipe(parse(options)) as AsyncIterable<string[]>) yield { row: ++row, cells };
  // Only a quote that is never closed gets here, and it swallows the rest of the file.
  for (const fault of faults) yield { row: ++row, cells: [], fault };
}

/**
 * Everything between here and the reader of the rows happens in microtasks: without a turn in between, a file of short
 * rows holds up for seconds whatever else the process does, the mail of all projects included. Turns are given by the
 * clock, so that an import of long rows does not wait on one of short rows at every step.
 */
async function* chunksOf(content: Buffer): AsyncGenerator<Buffer> {
  let turnedAt = performance.now();
  for (let at = 0; at < content.length; at += CHUNK_BYTES) {
    yield content.subarray(at, at + CHUNK_BYTES);
    if (performance.now() - turnedAt < TURN_MS) continue;
    await nextTurn();
    turnedAt = performance.now();
  }
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
