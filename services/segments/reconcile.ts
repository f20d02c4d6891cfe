import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, inTransaction } from '../../db/connect.ts';
import type { Segment } from '../../db/models/segment.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { type Fragment, run, sql } from '../conditions/fragment.ts';
import { contactsWhere, type Matching } from '../conditions/matching.ts';
import { type Look, type Moved, settle } from './apply.ts';
import { prepare } from './guard.ts';
import { membersOf } from './matching.ts';
import { holdSegments } from './tracked.ts';

const CANDIDATES = 20_000;
const CHUNK = 500;
const PATIENCE_MS = 20;
const UNHURRIED_MS = 300_000;

/** Where the stored members of a tracked segment are not those who match. */
const wrongMembers = (id: string, members: Matching): Fragment =>
  sql`select c.id ${contactsWhere(members)}
      and not exists (select 1 from segment_members m where m.segment_id = ${id} and m.contact_id = c.id)
    union all
    select c.id from segment_members m join contacts c on c.id = m.contact_id
    where m.segment_id = ${id} and (${members.condition}) is not true`;

export interface Pace {
  /** When it says no, the work ends with whatever is done. */
  hasTime(): boolean;
  /** How long one query over all contacts may take, and how many run at once. */
  limited<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T>;
}

/** In the background nobody waits, but nothing runs for ever either. */
const unhurried: Pace = {
  hasTime: () => true,
  limited: (db, work) =>
    inTransaction(db, async (trx) => {
      await prepare(trx, UNHURRIED_MS);
      return work(trx);
    }),
};

/**
 * Looks at everybody: what a query finds to be wrong is settled contact by contact, under lock, because by then it may
 * be right.
 */
export async function reconcile(db: Db, segment: Segment, pace: Pace = unhurried): Promise<Moved> {
  const { hasTime, limited } = pace;
  const total: Moved = { entered: 0, left: 0 };
  while (hasTime()) {
    const ids = await limited(db, (trx) => findWrong(trx, segment));
    const moved = await settleThese(db, segment, ids, hasTime);
    total.entered += moved.entered;
    total.left += moved.left;
    // What is found once more without anything having moved is being changed at this moment, and noted.
    if (ids.length < CANDIDATES || moved.entered + moved.left === 0) break;
  }
  await removeOrphans(db, segment.id);
  return total;
}

async function findWrong(trx: Db, segment: Segment): Promise<string[]> {
  const rows = await run<{ id: string }>(
    trx,
    sql`select id from (${wrongMembers(segment.id, await membersOf(trx, segment))}) wrong limit ${CANDIDATES}`,
  );
  return rows.map(({ id }) => id);
}

/** Those who were taken as known while they were being deleted. */
async function removeOrphans(db: Db, id: string): Promise<void> {
  await run(
    db,
    sql`delete from segment_members m where m.segment_id = ${id}
      and not exists (select 1 from contacts c where c.id = m.contact_id)`,
  );
}

const lockFree = statement<{ id: string }>(
  'segments-lock-free',
  'select id from contacts where project_id = $1 and id = any ($2::uuid[]) for update skip locked',
);
const lockOne = statement<{ id: string }>(
  'segments-lock-one',
  'select id from contacts where project_id = $1 and id = any ($2::uuid[]) for update',
);

/** Settles these contacts in one segment, in chunks. */
export async function settleThese(
  db: Db,
  segment: Segment,
  ids: string[],
  hasTime: () => boolean = () => true,
): Promise<Moved> {
  const total: Moved = { entered: 0, left: 0 };
  const add = ({ entered, left }: Moved) => {
    total.entered += entered;
    total.left += left;
  };
  for (let at = 0; at < ids.length && hasTime(); at += CHUNK) {
    const chunk = ids.slice(at, at + CHUNK);
    const settled = await settleChunk(db, segment, chunk, lockFree);
    add(settled.moved);
    // One alone can be waited for: who holds nothing else stands in nobody's way for long. (By standing in line it may
    // still be the one that Postgres sends away when others wait for each other.)
    for (const id of chunk) if (!settled.locked.has(id)) add((await settleChunk(db, segment, [id], lockOne)).moved);
  }
  return total;
}

async function settleChunk(
  db: Db,
  { id, projectId }: Segment,
  ids: string[],
  lock: typeof lockFree,
): Promise<{ moved: Moved; locked: ReadonlySet<string> }> {
  for (;;) {
    const settled = await retryDeadlocks(db, () =>
      inTransaction(db, async (trx) => {
        const locked = (await lock(trx, [projectId, ids])).map((row) => row.id);
        const held = await holdSegments(trx, projectId, [id]);
        if (!held) return undefined;
        const looks = locked.map((contactId): Look => ({ contactId, concerns: () => true }));
        return { moved: await settle(trx, projectId, looks, held), locked: new Set(locked) };
      }),
    );
    if (settled) return settled;
    await sleep(PATIENCE_MS);
  }
}
