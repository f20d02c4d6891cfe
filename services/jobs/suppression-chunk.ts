import type { Db } from '../../db/connect.ts';
import type { ImportResult } from '../../db/models/job.ts';
import { statement } from '../../db/statement.ts';
import { parseAddress } from '../../platform/address.ts';
import {
  type SuppressedAddress,
  type SuppressionReason,
  suppressAddresses,
  suppressionReasons,
} from '../suppressions/suppress.ts';
import type { CsvColumns, CsvRow } from './csv.ts';
import type { RowError } from './errors.ts';
import { addResult, type FileChunk, type ImportJob, MAX_ROWS, rowErrorOf } from './file-chunk.ts';

const MAX_ADDRESSES = 1_000;
const MAX_NOTE = 500;

const countUnknown = statement<{ unknown: number }>(
  'suppressions-unknown',
  `select count(*)::integer as unknown from unnest($2::text[]) as given (email) where not exists (
     select 1 from suppressions s where s.project_id = $1 and s.address_hash = address_hash($1::uuid, given.email))`,
);

/** A part of an imported suppression list: addresses, and optional columns "reason" and "note". */
export class SuppressionChunk implements FileChunk {
  size = 0;
  end = { position: 0, row: 0 };
  readonly errors: RowError[] = [];
  private readonly addresses = new Map<string, SuppressedAddress>();
  private readonly columns: CsvColumns;
  private repeated = 0;

  constructor(columns: CsvColumns) {
    this.columns = columns;
  }

  get isFull(): boolean {
    return this.addresses.size >= MAX_ADDRESSES || this.size >= MAX_ROWS;
  }

  add(row: CsvRow): void {
    this.size++;
    this.end = { position: row.end, row: row.row };
    const given = row.cells[this.columns.email]?.trim() ?? '';
    const email = parseAddress(given);
    if (row.parseError || !email)
      this.errors.push(
        rowErrorOf(
          row,
          given,
          row.parseError ? `the row cannot be read: ${row.parseError}` : 'not a valid email address',
        ),
      );
    else {
      if (this.addresses.has(email)) this.repeated++;
      this.addresses.set(email, { email, ...this.reasonOf(row.cells) });
    }
  }

  async apply(trx: Db, { projectId }: ImportJob, before: ImportResult): Promise<ImportResult> {
    const addresses = [...this.addresses.values()];
    const added = before.dryRun
      ? await this.unknownAmong(trx, projectId, [...this.addresses.keys()])
      : (await suppressAddresses(trx, projectId, addresses)).size;
    return addResult(before, this.errors, { created: added, unchanged: addresses.length - added + this.repeated });
  }

  private async unknownAmong(trx: Db, projectId: string, emails: string[]): Promise<number> {
    const [row] = await countUnknown(trx, [projectId, emails]);
    return row?.unknown ?? 0;
  }

  private reasonOf(cells: string[]): Pick<SuppressedAddress, 'reason' | 'note'> {
    const cell = (name: string) => {
      const column = this.columns.fields.find(({ key }) => key.trim().toLowerCase() === name)?.column;
      return (column === undefined ? '' : (cells[column] ?? '')).trim();
    };
    const given = cell('reason');
    const reason = suppressionReasons.find((known) => known === given.toUpperCase()) as SuppressionReason | undefined;
    const note = cell('note') || (reason ? '' : given);
    return { reason: reason ?? 'MANUAL', note: note.slice(0, MAX_NOTE) || null };
  }
}
