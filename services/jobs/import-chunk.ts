import type { Db } from '../../db/connect.ts';
import type { ImportResult } from '../../db/models/job.ts';
import { parseAddress } from '../../platform/address.ts';
import type { Limits } from '../../platform/limits.ts';
import { readData } from '../contacts/data.ts';
import { dataKeysViolation, newFieldsViolation } from '../contacts/limits.ts';
import { type ContactWrite, writeContacts } from '../contacts/write.ts';
import { type CsvColumns, type CsvRow, subscribedCell, typedCell } from './csv.ts';

/** The limits of a chunk. The second one is reached in a file full of invalid rows. */
const MAX_CONTACTS = 1_000;
const MAX_ROWS = 20_000;
export const MAX_ERRORS = 1_000;
/** The longest address in an error. */
const MAX_EMAIL_LENGTH = 320;

type RowError = ImportResult['errors'][number];

interface Entry {
  write: ContactWrite;
  rows: number[];
  /** Later rows of the same address, by whether they change anything. */
  updating: number;
  repeating: number;
}

export interface ImportRules {
  limits: Limits;
  /** New custom fields that the project has no room for. */
  refusedKeys: ReadonlySet<string>;
}

/** A part of an import. Later rows of an address override earlier ones; an invalid row does not stop the others. */
export class ImportChunk {
  size = 0;
  private readonly entries = new Map<string, Entry>();
  private readonly errors: RowError[] = [];
  private readonly columns: CsvColumns;
  private readonly rules: ImportRules;

  constructor(columns: CsvColumns, rules: ImportRules) {
    this.columns = columns;
    this.rules = rules;
  }

  get isFull(): boolean {
    return this.entries.size >= MAX_CONTACTS || this.size >= MAX_ROWS;
  }

  add(row: CsvRow): void {
    this.size++;
    const given = row.parseError ? undefined : row.cells[this.columns.email]?.trim();
    const result = this.read(row, given);
    if (typeof result === 'string')
      this.errors.push({ row: row.row, email: given?.slice(0, MAX_EMAIL_LENGTH) || null, error: result });
    else this.merge(row.row, result);
  }

  /** Writes the contacts, and returns the result of the import including this chunk. */
  async apply(trx: Db, projectId: string, before: ImportResult): Promise<ImportResult> {
    const writes = [...this.entries.values()].map(({ write }) => write);
    const { written, refused } = await writeContacts(trx, projectId, writes);
    const result = { ...before };
    for (const { email, isNew, isChanged } of written) {
      const { updating = 0, repeating = 0 } = this.entries.get(email) ?? {};
      if (isNew) result.created++;
      else if (isChanged) result.updated++;
      else result.unchanged++;
      result.updated += updating;
      result.unchanged += repeating;
    }
    for (const { email, error } of refused)
      for (const row of this.entries.get(email)?.rows ?? []) this.errors.push({ row, email, error });
    result.failed += this.errors.length;
    const errors = this.errors.sort((a, b) => a.row - b.row);
    result.errors = [...before.errors, ...errors.slice(0, Math.max(0, MAX_ERRORS - before.errors.length))];
    return result;
  }

  /** Returns the contact of a row, or what is wrong with the row. */
  private read({ cells, parseError }: CsvRow, given: string | undefined): ContactWrite | string {
    if (parseError) return `the row cannot be read: ${parseError}`;
    if (!given) return 'the row has no e-mail address';
    const email = parseAddress(given);
    if (!email) return 'this is not a valid e-mail address';
    const { subscribed: column } = this.columns;
    const subscribed = column === undefined ? undefined : subscribedCell(cells[column]);
    if (subscribed === null) return '"subscribed" is neither true nor false';
    const { patch, deletes } = readData(this.dataOf(cells));
    const { limits, refusedKeys } = this.rules;
    const violation = dataKeysViolation(patch, limits);
    if (violation) return violation.message;
    if (refusedKeys.size > 0 && Object.keys(patch).some((key) => refusedKeys.has(key)))
      return newFieldsViolation(limits).message;
    return { email, subscribed, subscribedWhenNew: true, patch, deletes };
  }

  /** Stops after the last cell, because a row may be much shorter than the header. */
  private dataOf(cells: string[]): Record<string, unknown> {
    const data: [string, unknown][] = [];
    for (const { column, key } of this.columns.fields) {
      if (column >= cells.length) break;
      data.push([key, typedCell(cells[column] ?? '')]);
    }
    return Object.fromEntries(data);
  }

  private merge(row: number, write: ContactWrite): void {
    const entry = this.entries.get(write.email);
    if (!entry) {
      this.entries.set(write.email, { write, rows: [row], updating: 0, repeating: 0 });
      return;
    }
    entry.rows.push(row);
    const { subscribed, patch } = entry.write;
    const isUpdate =
      (write.subscribed ?? subscribed) !== subscribed ||
      Object.entries(write.patch).some(([key, value]) => patch[key] !== value);
    if (isUpdate) entry.updating++;
    else entry.repeating++;
    entry.write = { ...write, subscribed: write.subscribed ?? subscribed, patch: { ...patch, ...write.patch } };
  }
}
