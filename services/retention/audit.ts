import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { AUDIT_RETENTION_DAYS } from '../audit/list.ts';
import { addMonth, daysAgo, dropTable, monthsOf, withLockTimeout } from './partitions.ts';

const removeRevokedKeys = statement('keys-remove-revoked', 'delete from scoped_keys where revoked_at < $1');

const monthsInDefault = statement<{ month: string }>(
  'audit-months-in-default',
  `select distinct to_char(at at time zone 'UTC', 'YYYY-MM-01') as month from audit_log_default order by 1`,
);

/**
 * Drops the months of the audit log that are older than it is kept, and returns how many. Rows are never deleted. Revoked
 * keys are deleted with the rows that show their names.
 */
export async function dropOldAuditMonths(db: Db, now = new Date()): Promise<number> {
  const before = daysAgo(AUDIT_RETENTION_DAYS, now);
  await emptyDefaultPartition(db);
  let dropped = 0;
  for (const { table, to } of await monthsOf(db, 'audit_log'))
    if (to <= before) {
      await inTransaction(db, async (trx) => {
        await withLockTimeout(trx);
        await dropTable(trx, table);
      });
      dropped++;
    }
  await removeRevokedKeys(db, [before]);
  return dropped;
}

/** Rows are in the default partition when no worker ran for months. Only those of a month can be dropped. */
async function emptyDefaultPartition(db: Db): Promise<void> {
  for (const { month } of await monthsInDefault(db)) await addMonth(db, 'audit_log', month);
}
