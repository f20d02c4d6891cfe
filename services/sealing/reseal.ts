import type { Db } from '../../db/connect.ts';
import { sql, sqlText } from '../../db/sql.ts';
import { queryCount, queryRows } from '../../db/statement.ts';
import { currentSealPrefix, SealError, seal, unseal } from '../../platform/crypto/seal.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { type SealedColumn, sealedColumns } from './columns.ts';

const CHUNK = 100;

/**
 * Seals secrets anew that an older key has sealed, after a new key was put in front of SECRET_KEY, so that the older
 * one can be removed. Skips secrets that no key opens. Returns how many it sealed.
 */
export async function resealSecrets(db: Db, keys: SigningKeys): Promise<number> {
  let resealed = 0;
  for (const column of sealedColumns)
    for (let more = CHUNK; more === CHUNK; resealed += more) more = await resealSome(db, keys, column);
  return resealed;
}

async function resealSome(db: Db, keys: SigningKeys, { table, id, column, boundTo }: SealedColumn): Promise<number> {
  const names = { id: sqlText(id), column: sqlText(column), table: sqlText(table) };
  const rows = await queryRows<{ id: string; sealed: string }>(
    db,
    sql`select ${names.id} as id, ${names.column} as sealed from ${names.table}
        where not starts_with(${names.column}, ${currentSealPrefix(keys)}) limit ${CHUNK}`,
  );
  let resealed = 0;
  for (const row of rows) {
    const secret = tryUnseal(keys, boundTo(row.id), row.sealed);
    if (secret === undefined) continue;
    const sealed = seal(keys, boundTo(row.id), secret);
    // Another process may have replaced it meanwhile.
    await queryCount(
      db,
      sql`update ${names.table} set ${names.column} = ${sealed}
          where ${names.id} = ${row.id} and ${names.column} = ${row.sealed}`,
    );
    resealed++;
  }
  return resealed;
}

function tryUnseal(keys: SigningKeys, boundTo: string[], sealed: string): string | undefined {
  try {
    return unseal(keys, boundTo, sealed);
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}
