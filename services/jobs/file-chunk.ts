import type { Db } from '../../db/connect.ts';
import type { ImportResult } from '../../db/models/job.ts';
import type { Segment } from '../../db/models/segment.ts';
import type { CsvPosition, CsvRow } from './csv.ts';
import type { RowError } from './errors.ts';

/** The job that a chunk belongs to. */
export interface ImportJob {
  id: string;
  projectId: string;
  /** Its contacts become members of this segment, which is locked. */
  segment: Segment | undefined;
}

/** Rows of a file that are applied in one transaction. */
export interface FileChunk {
  /** How many rows it has. */
  readonly size: number;
  /** The position behind its last row. */
  readonly end: CsvPosition;
  readonly isFull: boolean;
  /** The bad rows; those that the database refuses are added by `apply`. */
  readonly errors: RowError[];
  add(row: CsvRow): void;
  /** Writes the rows, and returns the result of the import including this chunk. */
  apply(trx: Db, job: ImportJob, before: ImportResult): Promise<ImportResult>;
}

/** Reached in a file full of invalid rows. */
export const MAX_ROWS = 20_000;
/** Errors in the result of a job. */
export const MAX_ERRORS = 1_000;
/** The longest address in an error. */
const MAX_EMAIL_LENGTH = 320;

export const rowErrorOf = ({ row }: CsvRow, given: string | undefined, error: string): RowError => ({
  row,
  email: given?.slice(0, MAX_EMAIL_LENGTH) || null,
  error,
});

type Counts = Pick<ImportResult, 'created' | 'updated' | 'unchanged'>;

/** Adds the counts and errors of a chunk to a result. */
export function addResult(before: ImportResult, errors: RowError[], counts: Partial<Counts>): ImportResult {
  const { created = 0, updated = 0, unchanged = 0 } = counts;
  const shown = [...errors].sort((a, b) => a.row - b.row).slice(0, Math.max(0, MAX_ERRORS - before.errors.length));
  return {
    ...before,
    created: before.created + created,
    updated: before.updated + updated,
    unchanged: before.unchanged + unchanged,
    failed: before.failed + errors.length,
    errors: [...before.errors, ...shown],
  };
}
