import type { Db } from '../../db/connect.ts';
import type { Domain } from '../../db/models/domain.ts';
import { releaseBlockedMail } from '../blocking/release.ts';

/** Releases mail that was blocked because the domain had lost its verification. */
export async function releaseMailOfDomain(trx: Db, { projectId }: Pick<Domain, 'projectId'>): Promise<void> {
  await releaseBlockedMail(trx, { projectId });
}
