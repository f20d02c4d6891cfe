import type { Db } from '../../db/connect.ts';
import { notify } from '../../db/notify.ts';

/** Payload of the notifications that invalidate domain caches: the project's id. */
export const DOMAINS_CHANNEL = 'everpost_domains';

/** Notifies inside the transaction: it is rare, and must be neither lost nor early. */
export async function notifyDomainsChanged(trx: Db, projectId: string): Promise<void> {
  await notify(trx, DOMAINS_CHANNEL, projectId);
}
