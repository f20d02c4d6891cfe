import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { Db } from '../../db/connect.ts';
import { DomainKey } from '../../db/models/domain-key.ts';
import { seal, unseal } from '../../platform/crypto/seal.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { newId, randomText } from '../../platform/ids.ts';
import { Slots } from '../../platform/slots.ts';

const generate = promisify(generateKeyPair);

/** RFC 8301 requires 1024 bits and recommends 2048; a longer key exceeds a DNS answer over UDP. */
const MODULUS_BITS = 2048;
/**
 * Generating a key takes about 100 ms of a core: one at a time, so that adding many domains does not take all cores.
 */
const generationSlots = new Slots(1);

export type NewDomainKey = Pick<DomainKey, 'id' | 'selector' | 'privateKey' | 'publicKey'>;

/** Generates a key with a new selector, so that records published for an earlier key never match this one. */
export async function makeDomainKey(secretKeys: SigningKeys): Promise<NewDomainKey> {
  await generationSlots.take();
  try {
    const { privateKey, publicKey } = await generate('rsa', {
      modulusLength: MODULUS_BITS,
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const id = newId();
    return {
      id,
      selector: `ep${randomText(8).toLowerCase()}`,
      privateKey: seal(secretKeys, dkimKeyContext(id), privateKey),
      publicKey: publicKey.toString('base64'),
    };
  } finally {
    generationSlots.give();
  }
}

export async function addSigningKey(trx: Db, domainId: string, key: NewDomainKey): Promise<DomainKey> {
  return DomainKey.query(trx).insertAndFetch({ ...key, domainId, signs: true });
}

export const openPrivateKey = (secretKeys: SigningKeys, { id, privateKey }: Pick<DomainKey, 'id' | 'privateKey'>) =>
  unseal(secretKeys, dkimKeyContext(id), privateKey);

/** The context that the sealed private key is bound to. */
export function dkimKeyContext(id: string): string[] {
  return ['dkim', id];
}
