import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { type Kind, kinds } from './kinds.ts';

export interface OpenRun {
  workflowId: string;
  workflowType: string;
  startedAt: Date;
}

/** What Temporal can be asked, and told, about runs and Schedules. */
export interface TemporalSide {
  /** Everything of ours that is open; Schedules too, as runs of type `Schedule`. In pages. */
  open(): AsyncIterable<OpenRun[]>;
  /** Sure, where a list may be some seconds behind. */
  isOpen(run: Pick<OpenRun, 'workflowId' | 'workflowType'>): Promise<boolean>;
  end(run: Pick<OpenRun, 'workflowId' | 'workflowType'>): Promise<void>;
}

export interface Reconciled {
  open: number;
  revived: number;
  ended: number;
}

/** At once; the next time comes in a few minutes. */
const MAX_PER_KIND = 5_000;
const SETTLED_MS = 2 * 60_000;

const note = statement(
  'reconcile-note',
  `insert into open_runs (scan, workflow_id, workflow_type, past_grace)
   select $1, * from unnest($2::text[], $3::text[], $4::boolean[]) on conflict do nothing`,
);

/**
 * Compares what ought to be open in Temporal with what is. What was lost (terminated in the Web UI, a restored backup,
 * a lost namespace) is brought back from its stored place; runs that are about nothing any more are ended.
 */
export async function reconcile(db: Db, temporal: TemporalSide, alive: () => void = () => {}): Promise<Reconciled> {
  const scan = newId();
  const result: Reconciled = { open: 0, revived: 0, ended: 0 };
  try {
    for await (const page of temporal.open()) {
      alive();
      result.open += page.length;
      await noteRuns(db, scan, page);
    }
    for (const kind of kinds) {
      result.revived += await reviveLost(db, scan, kind, temporal, alive);
      result.ended += await endStrays(db, scan, kind, temporal, alive);
    }
    return result;
  } finally {
    await forget(db, scan);
  }
}

const noteRuns = (db: Db, scan: string, runs: OpenRun[]) =>
  note(db, [
    scan,
    runs.map(({ workflowId }) => workflowId),
    runs.map(({ workflowType }) => workflowType),
    runs.map(({ startedAt }) => Date.now() - startedAt.getTime() > SETTLED_MS),
  ]);

/** Those of scans whose process died, too. */
async function forget(db: Db, scan: string): Promise<void> {
  await db.raw("delete from open_runs where scan = ? or at < now() - interval '1 hour'", [scan]);
}

/** Whatever is still in the outbox is on its way. */
async function reviveLost(db: Db, scan: string, kind: Kind, temporal: TemporalSide, alive: () => void) {
  const lost: { rows: { key: string; workflow_id: string }[] } = await db.raw(
    `select row.key, row.workflow_id from (${kind.rows}) row
     where row.past_grace
       and not exists (select 1 from open_runs o where o.scan = ? and o.workflow_id = row.workflow_id)
       and not exists (select 1 from outbox i where i.workflow_id = row.workflow_id)
     limit ?`,
    [scan, MAX_PER_KIND],
  );
  let revived = 0;
  for (const { key, workflow_id: workflowId } of lost.rows) {
    alive();
    if (await temporal.isOpen({ workflowId, workflowType: kind.workflowType })) continue;
    await inTransaction(db, (trx) => kind.revive(trx, key));
    revived++;
  }
  return revived;
}

async function endStrays(db: Db, scan: string, kind: Kind, temporal: TemporalSide, alive: () => void) {
  const { workflowType } = kind;
  const strays: { rows: { workflow_id: string }[] } = await db.raw(
    `select o.workflow_id from open_runs o
     where o.scan = ? and o.workflow_type = ? and o.past_grace
       and not exists (select 1 from (${kind.rows}) row where row.workflow_id = o.workflow_id)
     limit ?`,
    [scan, workflowType, MAX_PER_KIND],
  );
  for (const { workflow_id: workflowId } of strays.rows) {
    alive();
    await temporal.end({ workflowId, workflowType });
  }
  return strays.rows.length;
}
