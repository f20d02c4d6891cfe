import type { Db } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import { seal } from '../../platform/crypto/seal.ts';
import { newId } from '../../platform/ids.ts';
import { addSigningKey, dkimKeyContext, makeDomainKey, openPrivateKey } from '../../services/domains/keys.ts';
import { once } from './cleanup.ts';
import { testLinkSettings } from './links.ts';

const { secretKeys } = testLinkSettings;

/** Generating a key takes a tenth of a second of a core: one for all domains of a run. */
const sharedKey = once(() => makeDomainKey(secretKeys));

/** Adds a domain with a key that nobody has published, and without the loop that checks it. */
export async function addPendingDomain(db: Db, projectId: string, domain: string): Promise<Domain> {
  const added = await Domain.query(db).insertAndFetch({ id: newId(), projectId, domain });
  const shared = await sharedKey();
  const id = newId();
  const privateKey = seal(secretKeys, dkimKeyContext(id), openPrivateKey(secretKeys, shared));
  await addSigningKey(db, added.id, { ...shared, id, privateKey });
  return added;
}
