import type { Db } from '../../db/connect.ts';
import type { Domain } from '../../db/models/domain.ts';
import { releaseHeld } from '../blocking/release.ts';

/** Mail that was held because the domain had lost its verification goes out at once, not when it is next looked at. */
export async function regain(trx: Db, { projectId }: Pick<Domain, 'projectId'>): Promise<void> {
  await releaseHeld(trx, { projectId });
}
