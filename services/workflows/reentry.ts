import type { Db } from '../../db/connect.ts';

// `once_per_contact` marks the execution for which its contact may never come again; a unique index has one of them per contact.

/** Those who have been on it count from now on, or no longer. The workflow is locked: nobody enters meanwhile. */
export async function changeReentry(trx: Db, workflowId: string, allowReentry: boolean): Promise<void> {
  await trx.raw(allowReentry ? forget : remember, { workflowId });
}

const forget = `
  update executions set once_per_contact = false
  where id in (select id from executions where workflow_id = :workflowId and once_per_contact order by id for update)`;

const remember = `
  update executions set once_per_contact = true where id in (
    select first.id from executions first where first.workflow_id = :workflowId and first.id in (
      select distinct on (e.contact_id) e.id from executions e where e.workflow_id = :workflowId
      order by e.contact_id, e.once_per_contact desc, e.id)
    order by first.id for update)`;
