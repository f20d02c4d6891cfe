import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { SYSTEM_PROJECT_ID } from '../system/project.ts';

/** Notes how many of these ledger rows were sent, but for our own mail. */
export const notingUsage = (mails: string): string => `
  insert into billing_deltas (project_id, source_type, hour, count)
  select project_id, source_type, date_trunc('hour', sent_at, 'UTC'), count(*)
  from ${mails} where sent_at is not null and project_id <> '${SYSTEM_PROJECT_ID}' group by 1, 2, 3`;

const note = statement('billing-note', notingUsage('(select * from emails where id = any ($1::uuid[])) mail'));

/** In the transaction that tells the results: each mail that was sent is counted once. */
export async function recordUsage(trx: Db, emailIds: string[]): Promise<void> {
  await note(trx, [emailIds]);
}

const FOLD = 5_000;

const fold = statement<{ project_id: string; customer_id: string | null; count: string }>(
  'billing-fold',
  `with notes as (
     delete from billing_deltas where id in (select id from billing_deltas order by id limit $1 for update skip locked)
     returning project_id, source_type, hour, count
   ),
   hours as (
     insert into billing_hours as h (project_id, hour, source_type, count)
     select project_id, hour, source_type, sum(count) from notes group by 1, 2, 3 order by 1, 2, 3
     on conflict (project_id, hour, source_type) do update set count = h.count + excluded.count
   )
   select notes.project_id, b.customer_id, sum(notes.count) as count
   from notes left join project_billing b on b.project_id = notes.project_id group by 1, 2`,
);

/**
 * Adds up what was noted and writes down what Stripe shall hear of it, in one transaction: whatever is noted is in one
 * report and no other. Gives back the projects it was about.
 */
export async function aggregateUsage(db: Db): Promise<string[]> {
  return inTransaction(db, async (trx) => {
    const rows = await fold(trx, [FOLD]);
    const reports = rows.flatMap(({ project_id: projectId, customer_id: customerId, count }) =>
      customerId ? [{ id: newId(), projectId, customerId, count }] : [],
    );
    if (reports.length > 0) await trx('billingReports').insert(reports);
    return rows.map(({ project_id: projectId }) => projectId);
  });
}
