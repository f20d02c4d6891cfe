import { type Db, inTransaction } from '../../db/connect.ts';
import { identifier, sql, sqlText } from '../../db/sql.ts';
import { queryRows, statement } from '../../db/statement.ts';
import { dropUnusedAttachments, dropUnusedParts, isUnused, type RemovedContent } from '../emails/bodies.ts';
import { daysAgo, dropTable, type Month, monthsOf, withLockTimeout } from './partitions.ts';

const CHUNK = 1_000;

/** SQL: whether the mail may still be sent. Then its body stays, however old it is. */
const unfinished = (emailId: string): string =>
  `exists (select 1 from emails e where e.id = ${emailId} and e.status in ('PENDING', 'UNKNOWN'))`;

/**
 * Removes the contents of finished mails that are older than `days`, with bodies and attachments that no other mail has, and
 * returns how many mails. Drops whole months where possible, and deletes the rest in chunks. The ledger stays.
 */
export async function removeOldBodies(db: Db, days: number, now = new Date()): Promise<number> {
  const before = daysAgo(days, now);
  let removed = 0;
  for (const month of await monthsOf(db, 'email_contents')) {
    if (month.to <= before) removed += await dropMonth(db, month);
    else if (month.from < before) removed += await removeContents(db, oldIds, [month.from, before]);
  }
  removed += await removeContents(db, oldInDefault, [before]);
  for (const month of await monthsOf(db, 'email_bodies')) if (month.to <= before) await dropBodies(db, month);
  await removeFromDefault(db, [before]);
  return removed;
}

const lockTable = (trx: Db, table: string) =>
  queryRows(trx, sql`lock table ${identifier(table)} in access exclusive mode`);

/** Moves contents that are still needed to the default partition. */
async function dropMonth(db: Db, { table }: Month): Promise<number> {
  return inTransaction(db, async (trx) => {
    await withLockTimeout(trx);
    await lockTable(trx, table);
    const partition = identifier(table);
    const [removed] = await queryRows<{ count: number; sets: string[] | null }>(
      trx,
      sql`select count(*)::integer as count, array_agg(distinct attachment_set) filter (where attachment_set is not null) as sets
          from ${partition} c where not ${sqlText(unfinished('c.email_id'))}`,
    );
    await queryRows(
      trx,
      sql`create temporary table kept_contents on commit drop as
          select * from ${partition} c where ${sqlText(unfinished('c.email_id'))}`,
    );
    await dropTable(trx, table);
    await queryRows(trx, sql`insert into email_contents select * from kept_contents`);
    await queryRows(trx, sql`drop table kept_contents`);
    await dropUnusedAttachments(trx, removed?.sets ?? []);
    return removed?.count ?? 0;
  });
}

/** Moves bodies of unfinished mail to the default partition. New mail uses bodies of the same month only. */
async function dropBodies(db: Db, { table }: Month): Promise<void> {
  await inTransaction(db, async (trx) => {
    await withLockTimeout(trx);
    await lockTable(trx, table);
    await queryRows(
      trx,
      sql`create temporary table kept_bodies on commit drop as
          select * from ${identifier(table)} b where not ${sqlText(isUnused('b.id'))}`,
    );
    await dropTable(trx, table);
    await queryRows(trx, sql`insert into email_bodies select * from kept_bodies`);
    await queryRows(trx, sql`drop table kept_bodies`);
  });
}

// Bodies that were kept when their month was dropped.
const removeFromDefault = statement(
  'retention-bodies-default',
  `delete from email_bodies_default b where b.id < uuid_floor($1) and ${isUnused('b.id')}`,
);

interface IdRow {
  emailId: string;
  finished: boolean;
}

// Read in the order of ids after $1, so that unfinished mails are read only once.
const oldIds = statement<IdRow>(
  'retention-contents',
  `select email_id, not ${unfinished('email_id')} as finished from email_contents
   where email_id > coalesce($1::uuid, uuid_floor($3)) and email_id < uuid_floor($4) order by email_id limit $2`,
);
const oldInDefault = statement<IdRow>(
  'retention-contents-default',
  `select email_id, not ${unfinished('email_id')} as finished from email_contents_default
   where ($1::uuid is null or email_id > $1) and created_at < $3 order by email_id limit $2`,
);

const removeByIds = statement<RemovedContent>(
  'retention-contents-remove',
  'delete from email_contents where email_id = any ($1::uuid[]) returning body_id, attachment_set',
);

async function removeContents(db: Db, next: typeof oldIds, bounds: Date[]): Promise<number> {
  let removed = 0;
  for (let after: string | null = null; ; ) {
    const rows: IdRow[] = await next(db, [after, CHUNK, ...bounds]);
    const ids = rows.filter(({ finished }) => finished).map(({ emailId }) => emailId);
    if (ids.length > 0) removed += await inTransaction(db, (trx) => remove(trx, ids));
    after = rows.at(-1)?.emailId ?? null;
    if (rows.length < CHUNK) return removed;
  }
}

async function remove(trx: Db, ids: string[]): Promise<number> {
  const removed = await removeByIds(trx, [ids]);
  await dropUnusedParts(trx, removed);
  return removed.length;
}
