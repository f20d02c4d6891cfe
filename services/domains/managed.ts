import type { Db } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import type { SigningKeys } from '../../platform/cursor.ts';
import { newId } from '../../platform/ids.ts';
import { addSigningKey, makeDomainKey } from './keys.ts';

/**
 * A domain that we answer for ourselves (the demo's): verified from the start, outside the DNS checks. Without keys to
 * seal one with, its mail is not signed.
 */
export async function addManagedDomain(
  db: Db,
  projectId: string,
  domain: string,
  secretKeys?: SigningKeys,
): Promise<Domain> {
  const added = await Domain.query(db).insertAndFetch({
    id: newId(),
    projectId,
    domain,
    status: 'VERIFIED',
    managed: true,
    everVerified: true,
    verifiedAt: new Date(),
  });
  if (secretKeys) await addSigningKey(db, added.id, await makeDomainKey(secretKeys));
  return added;
}
