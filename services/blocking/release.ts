import { type Db, wake } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { signalBlockedCampaigns } from '../outbox/campaign-run.ts';

/** Bounds the rows that one statement locks. */
const CHUNK = 2_000;

// Releases mail that the rule that blocked it (sending_block_reason) no longer blocks, in the order of acceptance.
const release = statement<{ id: string }>(
  'emails-release',
  `with unblocked as materialized (
     select project_id, blocked_domain, source_type from (
       select distinct project_id, blocked_domain, source_type from emails
       where blocked_domain is not null and status = 'PENDING' and ($1::uuid is null or project_id = $1)
     ) sender
     where sending_block_reason(project_id, blocked_domain, source_type) is null
   ),
   released as (
     select e.id from unblocked join emails e using (project_id, blocked_domain, source_type) where e.status = 'PENDING'
     order by e.id limit $2 for update of e skip locked
   )
   update emails e set blocked_domain = null, reason = null, due_at = now(), updated_at = now()
   from released where e.id = released.id returning e.id`,
);

/**
 * Releases blocked mail in the transaction that ends the cause: a project is enabled, a domain verified,
 * `sending_blocked_reason` cleared. Mail that is blocked for another cause stays. `releaseAllBlockedMail` releases the
 * rest of a large backlog. Blocked campaigns are signalled to check again.
 */
export async function releaseBlockedMail(trx: Db, { projectId }: { projectId: string }): Promise<void> {
  if ((await release(trx, [projectId, CHUNK])).length > 0) wake(trx, 'mail');
  await signalBlockedCampaigns(trx, projectId);
}

/** Releases all mail that is no longer blocked, as a safety net. Returns how many. */
export async function releaseAllBlockedMail(db: Db): Promise<number> {
  let released = 0;
  for (;;) {
    const { length } = await release(db, [null, CHUNK]);
    released += length;
    if (length > 0) wake(db, 'mail');
    if (length < CHUNK) return released;
  }
}
