import type { Db } from '../../db/connect.ts';
import { sql, sqlText } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import { SealError, sealPrefixes, unseal } from '../../platform/crypto/seal.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { type SealedColumn, sealedColumns } from '../sealing/columns.ts';
import { headersContext } from '../workflows/sealed-headers.ts';

const checkedColumns: SealedColumn[] = [
  ...sealedColumns,
  {
    kind: 'headers of WEBHOOK steps',
    table: `workflows w join workflow_versions v on v.workflow_id = w.id and v.version = w.version
      cross join jsonb_array_elements(v.graph -> 'steps') as step`,
    id: 'project_id',
    column: "step -> 'config' ->> 'sealedHeaders'",
    boundTo: headersContext,
  },
];

export interface SealedSecrets {
  /** Kinds with a secret that was opened. */
  opened: string[];
  /** Kinds with a secret that cannot be opened, and why. */
  unopened: { kind: string; reason: string }[];
}

/** Opens one secret of each kind, preferably one that none of the keys has sealed. */
export async function checkSealedSecrets(db: Db, keys: SigningKeys): Promise<SealedSecrets> {
  const found: SealedSecrets = { opened: [], unopened: [] };
  for (const { kind, table, id, column, boundTo } of checkedColumns) {
    const rows = await queryRows<{ id: string; sealed: string }>(
      db,
      sql`select ${sqlText(id)} as id, ${sqlText(column)} as sealed from ${sqlText(table)} where ${sqlText(column)} is not null
          order by ${sqlText(column)} ^@ any (${sealPrefixes(keys)}::text[]) limit 1`,
    );
    for (const row of rows) {
      try {
        unseal(keys, boundTo(row.id), row.sealed);
        found.opened.push(kind);
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        found.unopened.push({ kind, reason: error.message });
      }
    }
  }
  return found;
}
