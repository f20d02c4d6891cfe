import { type Db, inTransaction } from '../../db/connect.ts';
import { sql, sqlText } from '../../db/sql.ts';
import { queryRows, statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { processTimings } from '../../platform/timings.ts';
import { type Kind, kinds } from './kinds.ts';

export interface OpenRun {
  workflowId: string;
  workflowType: string;
  startedAt: Date;
}

/** Reads and ends open Temporal workflows and Schedules. */
export interface TemporalSide {
  /** Pages of all open workflows, and of Schedules as runs of type `Schedule`. */
  open(): AsyncIterable<OpenRun[]>;
  /** Strongly consistent, unlike `open`, which may lag by seconds. */
  isOpen(run: Pick<OpenRun, 'workflowId' | 'workflowType'>): Promise<boolean>;
  end(run: Pick<OpenRun, 'workflowId' | 'workflowType'>): Promise<void>;
}

export interface Reconciled {
  open: number;
  revived: number;
  ended: number;
}

/** Per run of the reconciler, which is repeated every few minutes. */
const MAX_PER_KIND = 5_000;

const insertRuns = statement(
  'reconcile-insert-runs',
  `insert into open_runs (scan, workflow_id, workflow_type, past_grace)
   select $1, * from unnest($2::text[], $3::text[], $4::boolean[]) on conflict do nothing`,
);

/**
 * Compares what should be open in Temporal with what is. Restarts workflows that were lost (terminated in the Web UI, a
 * restored backup, a lost namespace) from their stored state, and ends workflows whose row no longer needs them.
 */
export async function reconcileTemporal(
  db: Db,
  temporal: TemporalSide,
  heartbeat: () => void = () => {},
): Promise<Reconciled> {
  const scan = newId();
  const result: Reconciled = { open: 0, revived: 0, ended: 0 };
  try {
    for await (const page of temporal.open()) {
      heartbeat();
      result.open += page.length;
      await recordRuns(db, scan, page);
    }
    for (const kind of kinds) {
      result.revived += await reviveLost(db, scan, kind, temporal, heartbeat);
      result.ended += await endStrays(db, scan, kind, temporal, heartbeat);
    }
    return result;
  } finally {
    await deleteScan(db, scan);
  }
}

const recordRuns = (db: Db, scan: string, runs: OpenRun[]) =>
  insertRuns(db, [
    scan,
    runs.map(({ workflowId }) => workflowId),
    runs.map(({ workflowType }) => workflowType),
    runs.map(({ startedAt }) => Date.now() - startedAt.getTime() > processTimings.reconciler.grace),
  ]);

const removeScan = statement(
  'reconcile-remove-scan',
  "delete from open_runs where scan = $1 or at < now() - interval '1 hour'",
);

/** Also deletes scans whose process died. */
async function deleteScan(db: Db, scan: string): Promise<void> {
  await removeScan(db, [scan]);
}

/** Ignores workflows with a message in the outbox: their start is still under way. */
async function reviveLost(db: Db, scan: string, kind: Kind, temporal: TemporalSide, heartbeat: () => void) {
  const lost = await queryRows<{ key: string; workflowId: string }>(
    db,
    sql`select row.key, row.workflow_id from (${sqlText(kind.rows)}) row
        where row.past_grace
          and not exists (select 1 from open_runs o where o.scan = ${scan} and o.workflow_id = row.workflow_id)
          and not exists (select 1 from outbox m where m.workflow_id = row.workflow_id)
        limit ${MAX_PER_KIND}`,
  );
  let revived = 0;
  for (const { key, workflowId } of lost) {
    heartbeat();
    if (await temporal.isOpen({ workflowId, workflowType: kind.workflowType })) continue;
    await inTransaction(db, (trx) => kind.revive(trx, key));
    revived++;
  }
  return revived;
}

async function endStrays(db: Db, scan: string, kind: Kind, temporal: TemporalSide, heartbeat: () => void) {
  const { workflowType } = kind;
  const strays = await queryRows<{ workflowId: string }>(
    db,
    sql`select o.workflow_id from open_runs o
        where o.scan = ${scan} and o.workflow_type = ${workflowType} and o.past_grace
          and not exists (select 1 from (${sqlText(kind.rows)}) row where row.workflow_id = o.workflow_id)
        limit ${MAX_PER_KIND}`,
  );
  for (const { workflowId } of strays) {
    heartbeat();
    await temporal.end({ workflowId, workflowType });
  }
  return strays.length;
}
