import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { Db } from '../../db/connect.ts';
import { DomainKey } from '../../db/models/domain-key.ts';
import type { SigningKeys } from '../../platform/cursor.ts';
import { newId, randomText } from '../../platform/ids.ts';
import { seal, unseal } from '../../platform/seal.ts';
import { Slots } from '../../platform/slots.ts';

const generate = promisify(generateKeyPair);

/** RFC 8301 asks for 2048 bits; a longer key does not fit into one answer over UDP. */
const MODULUS_BITS = 2048;
/** A tenth of a second of a core each: whoever adds many domains must not take all cores. */
const making = new Slots(1);

export type NewDomainKey = Pick<DomainKey, 'id' | 'selector' | 'privateKey' | 'publicKey'>;

/** The selector is new every time: what was published for an earlier key never stands for this one. */
export async function makeDomainKey(secretKeys: SigningKeys): Promise<NewDomainKey> {
  await making.take();
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
      privateKey: seal(secretKeys, dkimPlace(id), privateKey),
      publicKey: publicKey.toString('base64'),
    };
  } finally {
    making.give();
  }
}

export async function addSigningKey(trx: Db, domainId: string, key: NewDomainKey): Promise<DomainKey> {
  return DomainKey.query(trx).insertAndFetch({ ...key, domainId, signs: true });
}

export const openPrivateKey = (secretKeys: SigningKeys, { id, privateKey }: Pick<DomainKey, 'id' | 'privateKey'>) =>
  unseal(secretKeys, dkimPlace(id), privateKey);

/** What the sealed private key is bound to. */
export function dkimPlace(id: string): string[] {
  return ['dkim', id];
}
