import type { Db } from '../../db/connect.ts';
import type { ImportResult } from '../../db/models/job.ts';
import { parseAddress } from '../../platform/address.ts';
import type { Limits } from '../../platform/limits.ts';
import { readData } from '../contacts/data.ts';
import { dataKeysViolation, newFieldsViolation } from '../contacts/limits.ts';
import { type ContactWrite, previewContacts, writeContacts } from '../contacts/write.ts';
import { type CsvColumns, type CsvRow, subscribedCell, typedCell } from './csv.ts';
import type { RowError } from './errors.ts';
import { addResult, type FileChunk, MAX_ROWS, rowErrorOf } from './file-chunk.ts';

const MAX_CONTACTS = 1_000;

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
  /** The state of new contacts without a value in the column "subscribed". */
  subscribed: boolean;
}

/** A part of an import. Later rows of an address override earlier ones; an invalid row does not stop the others. */
export class ImportChunk implements FileChunk {
  size = 0;
  end = { position: 0, row: 0 };
  readonly errors: RowError[] = [];
  private readonly entries = new Map<string, Entry>();
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
    this.end = { position: row.end, row: row.row };
    const given = row.parseError ? undefined : row.cells[this.columns.email]?.trim();
    const result = this.read(row, given);
    if (typeof result === 'string') this.errors.push(rowErrorOf(row, given, result));
    else this.merge(row.row, result);
  }

  /** Writes the contacts unless it is a dry run, and returns the result of the import including this chunk. */
  async apply(trx: Db, projectId: string, before: ImportResult): Promise<ImportResult> {
    const writes = [...this.entries.values()].map(({ write }) => write);
    const { written, refused } = await (before.dryRun ? previewContacts : writeContacts)(trx, projectId, writes);
    const counts = { created: 0, updated: 0, unchanged: 0 };
    for (const { email, isNew, isChanged } of written) {
      const { updating = 0, repeating = 0 } = this.entries.get(email) ?? {};
      if (isNew) counts.created++;
      else if (isChanged) counts.updated++;
      else counts.unchanged++;
      counts.updated += updating;
      counts.unchanged += repeating;
    }
    for (const { email, error } of refused)
      for (const row of this.entries.get(email)?.rows ?? []) this.errors.push({ row, email, error });
    return addResult(before, this.errors, counts);
  }

  /** Returns the contact of a row, or what is wrong with the row. */
  private read({ cells, parseError }: CsvRow, given: string | undefined): ContactWrite | string {
    if (parseError) return `the row cannot be read: ${parseError}`;
    if (!given) return 'the row has no email address';
    const email = parseAddress(given);
    if (!email) return 'not a valid email address';
    const { subscribed: column } = this.columns;
    const subscribed = column === undefined ? undefined : subscribedCell(cells[column]);
    if (subscribed === null) return '"subscribed" must be true or false';
    const { patch, deletes } = readData(this.dataOf(cells));
    const { limits, refusedKeys } = this.rules;
    const violation = dataKeysViolation(patch, limits);
    if (violation) return violation.message;
    if (refusedKeys.size > 0 && Object.keys(patch).some((key) => refusedKeys.has(key)))
      return newFieldsViolation(limits).message;
    return { email, subscribed, subscribedWhenNew: this.rules.subscribed, patch, deletes };
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
