import type { Db } from '../../db/connect.ts';
import type { SigningKeys } from '../../platform/cursor.ts';
import { currentSeal, SealError, seal, unseal } from '../../platform/seal.ts';
import { dkimPlace } from '../domains/keys.ts';
import { webhookPlace } from '../projects/webhook-secret.ts';

/** Where sealed secrets are kept. */
const places = [
  { table: 'domain_keys', id: 'id', column: 'private_key', boundTo: dkimPlace },
  { table: 'webhook_secrets', id: 'project_id', column: 'sealed', boundTo: webhookPlace },
];

type Place = (typeof places)[number];

const CHUNK = 100;

/**
 * After a new key was put in front of SECRET_KEY: what an older one has sealed is sealed anew, some at a time, so that
 * the older one can be taken away. Gives back how many there were. What no key opens is left for a person.
 */
export async function resealSecrets(db: Db, keys: SigningKeys): Promise<number> {
  let resealed = 0;
  for (const place of places)
    for (let more = CHUNK; more === CHUNK; resealed += more) more = await resealSome(db, keys, place);
  return resealed;
}

async function resealSome(db: Db, keys: SigningKeys, { table, id, column, boundTo }: Place): Promise<number> {
  const { rows } = await db.raw(
    `select ${id} as id, ${column} as sealed from ${table} where not starts_with(${column}, ?) limit ${CHUNK}`,
    [currentSeal(keys)],
  );
  let resealed = 0;
  for (const row of rows as { id: string; sealed: string }[]) {
    const secret = opened(keys, boundTo(row.id), row.sealed);
    if (secret === undefined) continue;
    const sealed = seal(keys, boundTo(row.id), secret);
    // Somebody may have replaced it meanwhile.
    await db.raw(`update ${table} set ${column} = ? where ${id} = ? and ${column} = ?`, [sealed, row.id, row.sealed]);
    resealed++;
  }
  return resealed;
}

function opened(keys: SigningKeys, boundTo: string[], sealed: string): string | undefined {
  try {
    return unseal(keys, boundTo, sealed);
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}
