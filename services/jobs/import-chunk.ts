import type { Db } from '../../db/connect.ts';
import type { ImportResult } from '../../db/models/job.ts';
import { parseAddress } from '../../platform/address.ts';
import type { Limits } from '../../platform/limits.ts';
import { type ConsentContext, withConsent } from '../access/consent-context.ts';
import { readData } from '../contacts/data.ts';
import { dataKeysViolation, newFieldsViolation } from '../contacts/limits.ts';
import { type ContactWrite, previewContacts, type WrittenContact, writeContacts } from '../contacts/write.ts';
import { addExistingMembers } from '../segments/static-members.ts';
import { type CellType, type CsvColumns, type CsvRow, cellOfType, subscribedCell, typedCell } from './csv.ts';
import type { RowError } from './errors.ts';
import { addResult, type FileChunk, type ImportJob, MAX_ROWS, rowErrorOf } from './file-chunk.ts';
import { dropOutweighed, type ImportedConsent, mergeConsent, writeImportedChoices } from './import-choices.ts';
import { type ConsentRules, type RowConsent, readRowConsent } from './import-consent.ts';
import { storeImported } from './imported.ts';

const MAX_CONTACTS = 1_000;

const typeRules: Record<CellType, string> = {
  string: 'must be text',
  number: 'must be a number',
  boolean: 'must be true or false',
  date: 'must be a date, such as 2026-01-31',
};

interface Entry {
  write: ContactWrite;
  consent?: ImportedConsent | undefined;
  rows: number[];
  /** Later rows of the same address, by whether they change anything. */
  updating: number;
  repeating: number;
}

type ReadRow = ContactWrite & { consent: RowConsent | undefined };

export interface ImportRules {
  limits: Limits;
  /** New custom fields that the project has no room for. */
  refusedKeys: ReadonlySet<string>;
  /** By column: what its cells must be. */
  types?: ReadonlyMap<number, CellType>;
  /** The state of new contacts without a value in the column "subscribed". */
  subscribed: boolean;
  /** Who ordered the import. */
  context: ConsentContext;
  /** Of a file with columns of topics or of consent. */
  consent?: ConsentRules | undefined;
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
  async apply(trx: Db, { id, projectId, segment }: ImportJob, before: ImportResult): Promise<ImportResult> {
    const choices = this.rules.consent && (await dropOutweighed(trx, projectId, this.entries));
    const writes = [...this.entries.values()].map(({ write }) => write);
    const { written, refused } = before.dryRun
      ? await previewContacts(trx, projectId, writes)
      : await writeContacts(trx, projectId, writes);
    const changed =
      choices && !before.dryRun
        ? await writeImportedChoices(trx, projectId, this.entries, written as WrittenContact[])
        : new Set<string>();
    if (!before.dryRun) await storeImported(trx, { id, projectId }, written as WrittenContact[]);
    if (segment && !before.dryRun)
      await addExistingMembers(
        trx,
        segment,
        written.map(({ email }) => email),
      );
    const counts = { created: 0, updated: 0, unchanged: 0 };
    for (const { email, isNew, ...contact } of written) {
      const hasChoice = 'id' in contact ? changed.has(String(contact.id)) : choices?.changing.has(email);
      const { updating = 0, repeating = 0 } = this.entries.get(email) ?? {};
      if (isNew) counts.created++;
      else if (contact.isChanged || hasChoice) counts.updated++;
      else counts.unchanged++;
      counts.updated += updating;
      counts.unchanged += repeating;
    }
    for (const { email, error } of refused)
      for (const row of this.entries.get(email)?.rows ?? []) this.errors.push({ row, email, error });
    const result = addResult(before, this.errors, counts);
    return choices ? { ...result, keptUnsubscribed: (before.keptUnsubscribed ?? 0) + choices.kept } : result;
  }

  /** Returns the contact of a row, or what is wrong with the row. */
  private read({ cells, parseError }: CsvRow, given: string | undefined): ReadRow | string {
    if (parseError) return `the row cannot be read: ${parseError}`;
    if (!given) return 'the row has no email address';
    const email = parseAddress(given);
    if (!email) return 'not a valid email address';
    const { subscribed: column } = this.columns;
    const subscribed = column === undefined ? undefined : subscribedCell(cells[column]);
    if (subscribed === null) return '"subscribed" must be true or false';
    const data = this.dataOf(cells);
    if (typeof data === 'string') return data;
    const { patch, deletes } = readData(data);
    const { limits, refusedKeys } = this.rules;
    const violation = dataKeysViolation(patch, limits);
    if (violation) return violation.message;
    if (refusedKeys.size > 0 && Object.keys(patch).some((key) => refusedKeys.has(key)))
      return newFieldsViolation(limits).message;
    const consent = this.rules.consent && readRowConsent(cells, this.rules.consent);
    if (typeof consent === 'string') return consent;
    const eventData = withConsent({ ...(consent?.context ?? this.rules.context), method: 'IMPORT' });
    return { email, subscribed, subscribedWhenNew: this.rules.subscribed, patch, deletes, eventData, consent };
  }

  /** Stops after the last cell, because a row may be much shorter than the header. A text says what is wrong. */
  private dataOf(cells: string[]): Record<string, unknown> | string {
    const data: [string, unknown][] = [];
    for (const { column, key } of this.columns.fields) {
      if (column >= cells.length) break;
      const type = this.rules.types?.get(column);
      const cell = cells[column] ?? '';
      const value = type ? cellOfType(cell, type) : typedCell(cell);
      if (value === undefined) return `"${key}" ${typeRules[type ?? 'string']}`;
      data.push([key, value]);
    }
    return Object.fromEntries(data);
  }

  private merge(row: number, { consent: given, ...write }: ReadRow): void {
    const entry = this.entries.get(write.email);
    const consent = given && mergeConsent(entry?.consent, given);
    if (!entry) {
      this.entries.set(write.email, { write, consent, rows: [row], updating: 0, repeating: 0 });
      return;
    }
    entry.rows.push(row);
    const { subscribed, patch } = entry.write;
    const isUpdate =
      (write.subscribed ?? subscribed) !== subscribed ||
      Object.entries(write.patch).some(([key, value]) => patch[key] !== value) ||
      Boolean(given?.choices.some(({ topicId, state }) => entry.consent?.choices.get(topicId)?.state !== state));
    if (isUpdate) entry.updating++;
    else entry.repeating++;
    entry.consent = consent;
    entry.write = { ...write, subscribed: write.subscribed ?? subscribed, patch: { ...patch, ...write.patch } };
  }
}
