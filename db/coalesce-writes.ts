import { type CoalesceOptions, coalesced } from '../platform/coalesce.ts';
import { isOutcomeUnknown, isStatementRefused } from '../platform/database-errors.ts';
import type { Db } from './db.ts';

/** Writes the items of one group, all or none of them. */
type WriteAll<Group, In, Out> = (db: Db, group: Group, items: In[]) => Promise<Out[]>;
type WriteOne<Group, In, Out> = (db: Db, group: Group, item: In) => Promise<Out>;

interface CoalesceWritesOptions<Group> extends CoalesceOptions {
  key: (group: Group) => string;
}

interface GroupQueue<In, Out> {
  call: (item: In) => Promise<Out>;
  /** Calls without a result yet. */
  open: number;
}

/**
 * Coalesces concurrent writes into one statement and one commit, which is most of the cost of a small write. Only writes of
 * one group share, so a wait for a lock delays no other group. When the server refuses the statement because of one item,
 * each is written on its own. After any other error none is retried: the server may have committed them all. Inside a
 * transaction every write is on its own.
 */
export function coalesceWrites<Group, In, Out>(
  write: WriteAll<Group, In, Out>,
  { key, ...options }: CoalesceWritesOptions<Group>,
): WriteOne<Group, In, Out> {
  // A transaction shares its pool's config object.
  const pools = new WeakMap<object, Map<string, GroupQueue<In, Out>>>();

  async function writeOne(db: Db, group: Group, item: In): Promise<Out> {
    const [out] = await write(db, group, [item]);
    return out as Out;
  }

  function newQueue(db: Db, group: Group): GroupQueue<In, Out> {
    const writeItems = async (items: In[]): Promise<PromiseSettledResult<Out>[]> => {
      try {
        return (await write(db, group, items)).map((value) => ({ status: 'fulfilled', value }));
      } catch (reason) {
        if (items.length === 1 || !isStatementRefused(reason)) return items.map(() => ({ status: 'rejected', reason }));
        return Promise.allSettled(items.map((item) => writeOne(db, group, item)));
      }
    };
    const coalescedWrite = coalesced(writeItems, options);
    const call = async (item: In): Promise<Out> => {
      const result = await coalescedWrite(item);
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    };
    return { call, open: 0 };
  }

  return async (db, group, item) => {
    if (db.isTransaction) return writeOne(db, group, item);
    const queues = pools.get(db.client.config) ?? new Map<string, GroupQueue<In, Out>>();
    pools.set(db.client.config, queues);
    const name = key(group);
    const queue = queues.get(name) ?? newQueue(db, group);
    queues.set(name, queue);
    queue.open++;
    try {
      return await queue.call(item);
    } finally {
      if (--queue.open === 0) queues.delete(name);
    }
  };
}

/**
 * Runs a write that must not be repeated. When the connection breaks before its result arrives, `find` reads what it wrote:
 * a row means committed. No row proves nothing, because the server may still be committing on the lost connection; then the
 * error is thrown, and the API answers that the outcome is unknown.
 */
export async function confirmed<T>(db: Db, write: () => Promise<T>, find: () => Promise<T | undefined>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    // Inside a transaction nothing is committed yet.
    if (db.isTransaction || !isOutcomeUnknown(error)) throw error;
    const found = await find().catch(() => undefined);
    if (found === undefined) throw error;
    return found;
  }
}
