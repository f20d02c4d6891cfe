import { type Db, wake } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { signalBlockedCampaigns } from '../outbox/campaign-run.ts';

/** So many at once: a project with a hundred thousand held mails shall not lock them all in one go. */
const CHUNK = 2_000;

// What may leave by now, by the word of the same function that holds it. In the order in which it was accepted.
const release = statement<{ id: string }>(
  'emails-release',
  `with free as materialized (
     select project_id, blocked_domain, source_type from (
       select distinct project_id, blocked_domain, source_type from emails
       where blocked_domain is not null and status = 'PENDING' and ($1::uuid is null or project_id = $1)
     ) sender
     where sending_block_reason(project_id, blocked_domain, source_type) is null
   ),
   mine as (
     select e.id from free join emails e using (project_id, blocked_domain, source_type) where e.status = 'PENDING'
     order by e.id limit $2 for update of e skip locked
   )
   update emails e set blocked_domain = null, reason = null, due_at = now(), updated_at = now()
   from mine where e.id = mine.id returning e.id`,
);

/**
 * Lets go of mail that was held, for whoever ends the cause, in that transaction: a project is enabled, a domain
 * verified, `sending_blocked_reason` taken away. What is still held for another cause stays. A large rest follows by itself.
 * Campaigns that were held look for themselves.
 */
export async function releaseBlockedMail(trx: Db, { projectId }: { projectId: string }): Promise<void> {
  if ((await release(trx, [projectId, CHUNK])).length > 0) wake(trx, 'mail');
  await signalBlockedCampaigns(trx, projectId);
}

/** The net below: whatever may leave by now, however its cause ended. Gives back how many there were. */
export async function releaseAllBlockedMail(db: Db): Promise<number> {
  let released = 0;
  for (;;) {
    const { length } = await release(db, [null, CHUNK]);
    released += length;
    if (length > 0) wake(db, 'mail');
    if (length < CHUNK) return released;
  }
}
