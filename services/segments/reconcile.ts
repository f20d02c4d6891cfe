import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, inTransaction } from '../../db/connect.ts';
import type { Segment } from '../../db/models/segment.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { type Fragment, sql } from '../../db/sql.ts';
import { queryRows, statement } from '../../db/statement.ts';
import { contactsWhere, type Matching } from '../conditions/matching.ts';
import { applyMembership, type ChangeCounts, type MembershipEvaluation } from './apply.ts';
import { prepare } from './guard.ts';
import { membersOf } from './matching.ts';
import { lockSegments } from './tracked.ts';

const MAX_CANDIDATES = 20_000;
const CHUNK = 500;
const RETRY_MS = 20;
const BACKGROUND_TIMEOUT_MS = 300_000;

/** Finds contacts that match and are not stored as members, or the reverse. */
const differences = (id: string, members: Matching): Fragment =>
  sql`select c.id ${contactsWhere(members)}
      and not exists (select 1 from segment_members m where m.segment_id = ${id} and m.contact_id = c.id)
    union all
    select c.id from segment_members m join contacts c on c.id = m.contact_id
    where m.segment_id = ${id} and (${members.condition}) is not true`;

export interface ReconcileLimits {
  /** False: the work stops with what is done. */
  hasTime(): boolean;
  /** Limits the time of a query over all contacts, and how many run at once. */
  limited<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T>;
}

const backgroundLimits: ReconcileLimits = {
  hasTime: () => true,
  limited: (db, work) =>
    inTransaction(db, async (trx) => {
      await prepare(trx, BACKGROUND_TIMEOUT_MS);
      return work(trx);
    }),
};

/**
 * Compares all contacts of the project with the stored members. Evaluates each difference again under the contact's lock,
 * because it may be out of date by then.
 */
export async function reconcileSegment(
  db: Db,
  segment: Segment,
  { hasTime, limited }: ReconcileLimits = backgroundLimits,
): Promise<ChangeCounts> {
  const total: ChangeCounts = { entered: 0, left: 0 };
  while (hasTime()) {
    const ids = await limited(db, (trx) => findDifferences(trx, segment));
    const counts = await applyToContacts(db, segment, ids, hasTime);
    total.entered += counts.entered;
    total.left += counts.left;
    // Without a change the candidates are being written at this moment, and the writers record the changes.
    if (ids.length < MAX_CANDIDATES || counts.entered + counts.left === 0) break;
  }
  await removeOrphans(db, segment.id);
  return total;
}

async function findDifferences(trx: Db, segment: Segment): Promise<string[]> {
  const rows = await queryRows<{ id: string }>(
    trx,
    sql`select id from (${differences(segment.id, await membersOf(trx, segment))}) different limit ${MAX_CANDIDATES}`,
  );
  return rows.map(({ id }) => id);
}

/** Removes members that were stored while their contacts were being deleted. */
async function removeOrphans(db: Db, id: string): Promise<void> {
  await queryRows(
    db,
    sql`delete from segment_members m where m.segment_id = ${id}
      and not exists (select 1 from contacts c where c.id = m.contact_id)`,
  );
}

const lockUnlocked = statement<{ id: string }>(
  'segments-lock-unlocked',
  'select id from contacts where project_id = $1 and id = any ($2::uuid[]) for update skip locked',
);
const lockOne = statement<{ id: string }>(
  'segments-lock-one',
  'select id from contacts where project_id = $1 and id = any ($2::uuid[]) for update',
);

/** Brings the membership of these contacts in one segment up to date, in chunks. */
export async function applyToContacts(
  db: Db,
  segment: Segment,
  ids: string[],
  hasTime: () => boolean = () => true,
): Promise<ChangeCounts> {
  const total: ChangeCounts = { entered: 0, left: 0 };
  const add = ({ entered, left }: ChangeCounts) => {
    total.entered += entered;
    total.left += left;
  };
  for (let at = 0; at < ids.length && hasTime(); at += CHUNK) {
    const chunk = ids.slice(at, at + CHUNK);
    const { counts, lockedIds } = await applyChunk(db, segment, chunk, lockUnlocked);
    add(counts);
    // Waits for the contacts that were locked, one per transaction: with a single lock it cannot cause a deadlock, though
    // Postgres may still choose it as the victim of one.
    for (const id of chunk) if (!lockedIds.has(id)) add((await applyChunk(db, segment, [id], lockOne)).counts);
  }
  return total;
}

async function applyChunk(
  db: Db,
  { id, projectId }: Segment,
  ids: string[],
  lock: typeof lockUnlocked,
): Promise<{ counts: ChangeCounts; lockedIds: ReadonlySet<string> }> {
  for (;;) {
    const result = await retryDeadlocks(db, () =>
      inTransaction(db, async (trx) => {
        const lockedIds = (await lock(trx, [projectId, ids])).map((row) => row.id);
        const segments = await lockSegments(trx, projectId, [id]);
        if (!segments) return undefined;
        const evaluations = lockedIds.map((contactId): MembershipEvaluation => ({ contactId, concerns: () => true }));
        const counts = await applyMembership(trx, projectId, evaluations, segments);
        return { counts, lockedIds: new Set(lockedIds) };
      }),
    );
    if (result) return result;
    await sleep(RETRY_MS);
  }
}
