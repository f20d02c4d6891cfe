import type { Db } from '../../db/connect.ts';

/** Payload of the notices that empty caches of domains: the project's id. */
export const DOMAINS_CHANNEL = 'everpost_domains';

/** Inside the transaction: it is rare, and must be neither lost nor early. */
export async function notifyDomainsChanged(trx: Db, projectId: string): Promise<void> {
  await trx.raw('select pg_notify(?, ?)', [DOMAINS_CHANNEL, projectId]);
}
