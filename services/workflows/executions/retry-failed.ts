import { type Db, wake } from '../../../db/connect.ts';
import { statement } from '../../../db/statement.ts';
import { insertStartMessages } from './start-message.ts';

/** The FAILED executions of a workflow, or those of one cause. */
export interface FailedExecutions {
  projectId: string;
  workflowId: string;
  /** The whole text of the error. Null: every cause. */
  error: string | null;
  /** A time of the database, exact as text. Leaves out those that have failed since. */
  failedUntil: string;
}

const matching = `project_id = $1 and workflow_id = $2 and status = 'FAILED' and ($3::text is null or error = $3)
  and completed_at <= $4::timestamptz`;

const count = statement<{ count: number }>(
  'executions-failed-count',
  `select count(*)::integer as count from executions where ${matching}`,
);

// Of several failed executions of one contact only the newest is retried, since one at a time may be active.
const retry = statement<{ found: number; retried: number; last: string | null; blocked: string[] | null }>(
  'executions-retry-failed',
  `with found as materialized (
     select id, contact_id from executions where ${matching} and ($5::uuid is null or id > $5)
     order by id limit $6 for update
   ),
   allowed as (
     select distinct on (contact_id) id from found
     where not exists (
       select 1 from executions other where other.workflow_id = $2 and other.contact_id = found.contact_id
         and other.status in ('RUNNING', 'WAITING'))
     order by contact_id, id desc
   ),
   resumed as (
     update executions set status = 'RUNNING', generation = generation + 1, error = null, completed_at = null,
       updated_at = now()
     where id in (select id from allowed)
     returning id, project_id, workflow_id, version, contact_id, generation
   ),
   message as (
     ${insertStartMessages('resumed')}
   )
   select (select count(*)::integer from found) as found, (select count(*)::integer from resumed) as retried,
     (select id from found order by id desc limit 1) as last,
     (select array_agg(contact_id) from found where id not in (select id from resumed)) as blocked`,
);

export async function countFailedExecutions(db: Db, which: FailedExecutions): Promise<number> {
  const [row] = await count(db, bindingsOf(which));
  return row?.count ?? 0;
}

export interface RetriedExecutions {
  /** How many were looked at; fewer than the limit at the end. */
  found: number;
  retried: number;
  /** Where the next call continues. */
  last: string | null;
  /** Contacts whose execution was not retried, because another one is active. */
  blockedContacts: string[];
}

/** Retries the next failed executions in the order of their ids, each from its failed step. */
export async function retryFailedExecutions(
  trx: Db,
  which: FailedExecutions,
  { after, limit }: { after: string | null; limit: number },
): Promise<RetriedExecutions> {
  const [row] = await retry(trx, [...bindingsOf(which), after, limit]);
  const { found = 0, retried = 0, last = null, blocked = null } = row ?? {};
  if (retried > 0) wake(trx, 'starts');
  return { found, retried, last, blockedContacts: blocked ?? [] };
}

const bindingsOf = ({ projectId, workflowId, error, failedUntil }: FailedExecutions) => [
  projectId,
  workflowId,
  error,
  failedUntil,
];
