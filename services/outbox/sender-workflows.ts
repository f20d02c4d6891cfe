import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { processTimings } from '../../platform/timings.ts';
import { NO_PROJECT, workflowIds } from './ids.ts';
import { writeOutboxMessage } from './write.ts';

/** A process that was not seen for this long does not count. */
const FORGOTTEN = `interval '${processTimings.mailProcess.forgotten} milliseconds'`;

/**
 * SQL: how many sender workflows there should be: one more than processes that can send, so that a process that is
 * restarted finds the activity of the spare one waiting. None while no process can send.
 */
export const WANTED_SENDERS = `(
  select case when count(*) > 0 then 1 + count(*) else 0 end::integer
  from mail_processes where seen_at > now() - ${FORGOTTEN})`;

const register = statement<{ wanted: number }>(
  'mail-process-seen',
  `with seen as (
     insert into mail_processes (id) values ($1) on conflict (id) do update set seen_at = now()
   ),
   forgotten as (delete from mail_processes where seen_at < now() - ${FORGOTTEN})
   select 1 + count(*)::integer as wanted from (
     select id from mail_processes where seen_at > now() - ${FORGOTTEN} union select $1) processes`,
);
const unregister = statement('mail-process-gone', 'delete from mail_processes where id = $1');

/** Registers a process that can send mail, and repeats that. Returns how many sender workflows there should be. */
export async function registerMailProcess(db: Db, processId: string): Promise<number> {
  return (await register(db, [processId]))[0]?.wanted ?? 1;
}

export const unregisterMailProcess = (db: Db, processId: string): Promise<unknown> => unregister(db, [processId]);

/** Starts a sender workflow. Nothing happens if it runs already. */
export async function startSenderWorkflow(trx: Db, number: number): Promise<void> {
  await writeOutboxMessage(trx, {
    queue: 'control',
    action: 'start',
    workflowType: 'sender',
    workflowId: workflowIds.sender(number),
    args: [],
    projectId: NO_PROJECT,
    again: true,
  });
}
