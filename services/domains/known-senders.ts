import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';

// Which domains were verified, and at which version of their project's senders (`projects.senders_version`). What is
// remembered never gets wrong, only old: the statement that accepts a mail compares the version with the one in force,
// and looks the domain up where they differ. So nobody has to be told of a change. Refusals are not remembered.

const MAX_KNOWN = 50_000;

// A transaction shares its pool's config object.
const memories = new WeakMap<object, LRUCache<string, string>>();

function memoryOf(db: Db): LRUCache<string, string> {
  const pool: object = db.client.config;
  const memory = memories.get(pool) ?? new LRUCache<string, string>({ max: MAX_KNOWN });
  memories.set(pool, memory);
  return memory;
}

/** The version at which the domain was last seen to be verified. */
export const knownSender = (db: Db, projectId: string, domain: string): string | undefined =>
  memoryOf(db).get(`${projectId} ${domain}`);

/** Before the commit too: a version that never comes into force is never met. */
export function rememberSender(db: Db, projectId: string, domain: string, version: string): void {
  memoryOf(db).set(`${projectId} ${domain}`, version);
}
