import type { Db } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { newId } from '../../platform/ids.ts';
import { addSigningKey, makeDomainKey } from './keys.ts';

/**
 * Adds a domain of our own (the demo's): verified from the start, without DNS checks. Its mail is signed only if
 * `secretKeys` are given.
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
