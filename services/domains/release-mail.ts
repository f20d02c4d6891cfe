import type { Db } from '../../db/connect.ts';
import type { Domain } from '../../db/models/domain.ts';
import { releaseBlockedMail } from '../blocking/release.ts';

/** Mail that was held because the domain had lost its verification goes out at once, not when it is next looked at. */
export async function releaseMailOfDomain(trx: Db, { projectId }: Pick<Domain, 'projectId'>): Promise<void> {
  await releaseBlockedMail(trx, { projectId });
}
