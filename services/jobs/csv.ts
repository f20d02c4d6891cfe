import { isUtf8 } from 'node:buffer';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { parse } from 'csv-parse';
import { parseMoment } from '../../platform/conditions/moments.ts';
import { badRequest } from '../../platform/errors.ts';
import { MAX_KEY_LENGTH } from '../contacts/data.ts';

/** The bytes of a file, from a position on. */
export type ReadBytes = (from: number) => AsyncIterable<Buffer>;

/** A place between two rows. */
export interface CsvPosition {
  /** In bytes. */
  position: number;
  /** The number of the row before it. */
  row: number;
}

/** One row of an import, numbered as in a spreadsheet: the header is row 1. */
export interface CsvRow {
  row: number;
  cells: string[];
  /** The position behind it, in bytes. */
  end: number;
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

/** By header: the field that a column becomes, or null for a column that is left out. Others keep their name. */
export type CsvMapping = Record<string, string | null>;

export interface CsvFile {
  header: string[];
  columns: CsvColumns;
  /**
   * Returns the rows below the header in order, without empty ones, which still count in the row numbers. Returns batches,
   * because a promise for every row would cost more than the row.
   */
  rows(after?: CsvPosition): AsyncIterable<CsvRow[]>;
}

/** Twice as many as a project may have custom fields. */
const MAX_COLUMNS = 1_000;
/** A few milliseconds of parsing with the shortest rows. */
const PIECE_BYTES = 4_096;
/** How much of a file is searched for the end of its header. */
const MAX_HEADER_BYTES = 1024 * 1024;
const DELIMITER_BYTES = 65_536;

/** Reads the header, and rejects a file that is not CSV or has unusable columns. */
export async function openCsv(file: Buffer | ReadBytes, mapping: CsvMapping = {}): Promise<CsvFile> {
  const read = typeof file === 'function' ? file : bytesOfBuffer(file);
  if (Buffer.isBuffer(file)) requireText(file);
  const delimiter = delimiterOf(await beginning(read));
  let header: string[] = [];
  for await (const [first] of parseRows(upTo(MAX_HEADER_BYTES, read), delimiter, { position: 0, row: 0 })) {
    if (!first) continue;
    header = first.cells;
    if (first.end >= MAX_HEADER_BYTES) throw badRequest('The first row of the file is larger than 1 MB.');
    break;
  }
  const start = { position: 0, row: 0 };
  return {
    header,
    columns: columnsOf(header, mapping),
    rows: (after = start) => rowsBelowHeader(read, delimiter, after),
  };
}

export const notText = () => badRequest('The file is not CSV text in UTF-8.');

function requireText(content: Buffer): void {
  if (content.includes(0) || !isUtf8(content)) throw notText();
}

export const bytesOfBuffer = (content: Buffer): ReadBytes =>
  async function* (from) {
    yield content.subarray(from);
  };

/** Returns at most this many bytes. */
const upTo = (bytes: number, read: ReadBytes): ReadBytes =>
  async function* (from) {
    let left = bytes;
    for await (const piece of read(from)) {
      yield piece.subarray(0, left);
      left -= piece.length;
      if (left <= 0) return;
    }
  };

async function beginning(read: ReadBytes): Promise<Buffer> {
  for await (const bytes of read(0)) if (bytes.length > 0) return bytes.subarray(0, DELIMITER_BYTES);
  return Buffer.alloc(0);
}

async function* rowsBelowHeader(read: ReadBytes, delimiter: string, after: CsvPosition): AsyncIterable<CsvRow[]> {
  for await (const rows of parseRows(read, delimiter, after)) yield rows.filter((row) => row.row > 1 && !isEmpty(row));
}

const isEmpty = ({ cells, parseError }: CsvRow) => !parseError && cells.every((cell) => cell.trim() === '');

/** What the parser returns with `info`. */
interface ParsedRecord {
  record: string[];
  info: { bytes: number };
}

/**
 * Writes to the parser piece by piece and yields to the event loop after each. Piped through streams, a file of short rows
 * is parsed in microtasks, which block the process for seconds.
 */
async function* parseRows(read: ReadBytes, delimiter: string, after: CsvPosition): AsyncIterable<CsvRow[]> {
  const parseErrors: string[] = [];
  const parser = parse({
    // Only the file begins with one.
    bom: after.position === 0,
    info: true,
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    // A quote inside a cell is text, as in 19" or a nickname.
    relax_quotes: true,
    skip_records_with_error: true,
    // The line in the message counts from where reading began.
    on_skip: (error) => void parseErrors.push(error?.message.replace(/ at line \d+$/, '') ?? 'cannot be read'),
  });
  parser.on('error', (error) => parseErrors.push(error.message));
  let { row } = after;
  let end = after.position;
  const takeParsed = (): CsvRow[] => {
    const rows: CsvRow[] = [];
    for (let parsed: ParsedRecord | null = parser.read(); parsed !== null; parsed = parser.read()) {
      end = after.position + parsed.info.bytes;
      rows.push({ row: ++row, cells: parsed.record, end });
    }
    return rows;
  };
  for await (const bytes of read(after.position))
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      parser.write(bytes.subarray(at, at + PIECE_BYTES));
      yield takeParsed();
      await yieldToEventLoop();
    }
  parser.end();
  await yieldToEventLoop();
  yield takeParsed();
  // The only possible error is a quote that is never closed, which extends to the end of the file.
  yield parseErrors.map((parseError) => ({ row: ++row, cells: [], end, parseError }));
}

/** Returns the one that occurs more often in the header, outside quotes. */
function delimiterOf(content: Buffer): ',' | ';' {
  let quoted = false;
  let balance = 0;
  for (const char of content.toString('latin1')) {
    if (char === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (char === '\n' || char === '\r') break;
    else if (char === ';') balance++;
    else if (char === ',') balance--;
  }
  return balance > 0 ? ';' : ',';
}

/** Returns the field that a column becomes; null for one that is left out. */
function fieldOf(header: string, mapping: CsvMapping): string | null {
  const mapped = Object.hasOwn(mapping, header) ? mapping[header] : undefined;
  if (mapped === undefined) return header;
  return mapped?.replace(/^data\./, '') ?? null;
}

function columnsOf(header: string[], mapping: CsvMapping): CsvColumns {
  if (header.length > MAX_COLUMNS)
    throw badRequest(`The file has ${header.length} columns; the maximum is ${MAX_COLUMNS}.`);
  const unknown = Object.keys(mapping).find((name) => !header.includes(name));
  if (unknown !== undefined)
    throw badRequest(`"mapping" names the column "${unknown.slice(0, 100)}", which the file does not have.`);
  const fields = header.map((name) => fieldOf(name, mapping));
  const names = fields.map((name) => name?.trim().toLowerCase());
  const email = names.indexOf('email');
  if (email < 0)
    throw badRequest('The file has no column "email" in its first row.', {
      suggestion: 'Name the column "email", or map it with "mapping": {"E-mail address": "email"}.',
    });
  const subscribed = names.indexOf('subscribed');
  const custom = fields.flatMap((key, column) =>
    key === null || column === email || column === subscribed || key.trim() === '' || key === '__proto__'
      ? []
      : [{ column, key }],
  );
  const twice = Object.values(mapping).find(
    (name) =>
      name !== null &&
      names.filter(
        (other) =>
          other ===
          name
            .replace(/^data\./, '')
            .trim()
            .toLowerCase(),
      ).length > 1,
  );
  if (twice) throw badRequest(`"mapping" maps two columns to the field "${twice.slice(0, 100)}".`);
  const tooLong = custom.find(({ key }) => key.length > MAX_KEY_LENGTH);
  if (tooLong) throw badRequest(`The name of column ${tooLong.column + 1} exceeds ${MAX_KEY_LENGTH} characters.`);
  return { email, subscribed: subscribed < 0 ? undefined : subscribed, fields: custom };
}

const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Converts plain decimal numbers, true and false. All else is text, including numbers with leading zeros. */
export function typedCell(cell: string): string | number | boolean {
  if (cell === 'true' || cell === 'false') return cell === 'true';
  if (DECIMAL.test(cell) && cell.replace(/\D/g, '').length <= 15) return Number(cell);
  return cell;
}

/** What a column's cells must be; without one, each cell is converted by its look. */
export const cellTypes = ['string', 'number', 'boolean', 'date'] as const;
export type CellType = (typeof cellTypes)[number];

/** Undefined for a cell that is not of the type. An empty cell is of any type. */
export function cellOfType(cell: string, type: CellType): string | number | boolean | undefined {
  const text = cell.trim();
  if (text === '') return '';
  switch (type) {
    case 'string':
      return cell;
    case 'number':
      return NUMBER.test(text) ? Number(text) : undefined;
    case 'boolean':
      return subscribedCell(text) ?? undefined;
    case 'date':
      return parseMoment(text) === undefined ? undefined : text;
  }
}

const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/;
const YES = new Set(['true', '1', 'yes']);
const NO = new Set(['false', '0', 'no']);

/** Undefined for an empty cell; null for one that is neither yes nor no. */
export function subscribedCell(cell: string | undefined): boolean | undefined | null {
  const text = (cell ?? '').trim().toLowerCase();
  if (text === '') return undefined;
  if (YES.has(text)) return true;
  return NO.has(text) ? false : null;
}
