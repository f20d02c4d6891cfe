import type { Db } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import { unverifiedSender } from '../../platform/errors.ts';
import { senderDomain } from './name.ts';

/** For whoever writes an address to send from down: until its transaction ends, the domain cannot be deleted. */
export async function requireVerifiedSender(trx: Db, projectId: string, email: string): Promise<void> {
  const domain = senderDomain(email);
  const verified = await Domain.query(trx).findOne({ projectId, domain, status: 'VERIFIED' }).forKeyShare();
  if (!verified) throw unverifiedSender(domain);
}

/** As of this moment. */
export async function isVerifiedSender(db: Db, projectId: string, domain: string): Promise<boolean> {
  return (await Domain.query(db).findOne({ projectId, domain, status: 'VERIFIED' })) !== undefined;
}
