import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import { unverifiedSender } from '../../platform/errors.ts';
import { senderDomain } from './name.ts';

/** Rejects unverified senders. Locks the domain against deletion until the transaction that stores the sender ends. */
export async function requireVerifiedSender(trx: Db, projectId: string, email: string): Promise<void> {
  const domain = senderDomain(email);
  const verified = await Domain.query(trx).findOne({ projectId, domain, status: 'VERIFIED' }).forKeyShare();
  if (!verified) throw unverifiedSender(domain);
}

/** Returns whether the domain is verified now. */
export async function isVerifiedSender(db: Db, projectId: string, domain: string): Promise<boolean> {
  return (await Domain.query(db).findOne({ projectId, domain, status: 'VERIFIED' })) !== undefined;
}

// Caches which domains were verified at which version of their project's senders (`projects.senders_version`). Entries
// never become wrong, only outdated: the statement that accepts a mail compares the version with the current one and
// looks up the domain where they differ, so no invalidation is needed. Refusals are not cached.

const MAX_ENTRIES = 50_000;

// A transaction shares its pool's config object.
const caches = new WeakMap<object, LRUCache<string, string>>();

function cacheOf(db: Db): LRUCache<string, string> {
  const pool: object = db.client.config;
  const cache = caches.get(pool) ?? new LRUCache<string, string>({ max: MAX_ENTRIES });
  caches.set(pool, cache);
  return cache;
}

/** Returns the version at which the domain was last known to be verified. */
export const knownSender = (db: Db, projectId: string, domain: string): string | undefined =>
  cacheOf(db).get(`${projectId} ${domain}`);

/** May run before the commit: a version that is rolled back never becomes current. */
export function rememberSender(db: Db, projectId: string, domain: string, version: string): void {
  cacheOf(db).set(`${projectId} ${domain}`, version);
}
