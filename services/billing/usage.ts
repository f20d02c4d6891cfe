import { type Db, inTransaction } from '../../db/connect.ts';
import { BillingReport } from '../../db/models/project-billing.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { SYSTEM_PROJECT_ID } from '../system/project.ts';

/** Inserts usage deltas for the sent mails among `mails` (a table expression of ledger rows), without system mail. */
export const insertUsageDeltas = (mails: string): string => `
  insert into billing_deltas (project_id, source_type, hour, count)
  select project_id, source_type, date_trunc('hour', sent_at, 'UTC'), count(*)
  from ${mails} where sent_at is not null and project_id <> '${SYSTEM_PROJECT_ID}' group by 1, 2, 3`;

const insertDeltas = statement(
  'billing-usage-insert',
  insertUsageDeltas('(select * from emails where id = any ($1::uuid[])) mail'),
);

/** Call it in the transaction that publishes the results, so that each sent mail is counted once. */
export async function recordUsage(trx: Db, emailIds: string[]): Promise<void> {
  await insertDeltas(trx, [emailIds]);
}

const CHUNK = 5_000;

const aggregate = statement<{ projectId: string; customerId: string | null; count: string }>(
  'billing-usage-aggregate',
  `with deltas as (
     delete from billing_deltas where id in (select id from billing_deltas order by id limit $1 for update skip locked)
     returning project_id, source_type, hour, count
   ),
   hours as (
     insert into billing_hours as h (project_id, hour, source_type, count)
     select project_id, hour, source_type, sum(count) from deltas group by 1, 2, 3 order by 1, 2, 3
     on conflict (project_id, hour, source_type) do update set count = h.count + excluded.count
   )
   select deltas.project_id, b.customer_id, sum(deltas.count) as count
   from deltas left join project_billing b on b.project_id = deltas.project_id group by 1, 2`,
);

/**
 * Aggregates deltas and writes the reports for Stripe in one transaction: each delta is in exactly one report. Returns
 * the projects.
 */
export async function aggregateUsage(db: Db): Promise<string[]> {
  return inTransaction(db, async (trx) => {
    const rows = await aggregate(trx, [CHUNK]);
    const reports = rows.flatMap(({ projectId, customerId, count }) =>
      customerId ? [{ id: newId(), projectId, customerId, count }] : [],
    );
    if (reports.length > 0) await BillingReport.query(trx).insert(reports);
    return rows.map(({ projectId }) => projectId);
  });
}
