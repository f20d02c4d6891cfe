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
