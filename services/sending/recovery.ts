// Recovers mail of senders that died or lost their lease.
import type { Db } from '../../db/connect.ts';
import type { Email } from '../../db/models/email.ts';
import { statement } from '../../db/statement.ts';
import { faultPoint } from '../../platform/fault-points.ts';
import { persistResultsOfSenders } from '../emails/persist-results.ts';
import { resultColumns } from './ledger.ts';
import { resultOf } from './outcome.ts';
import { policies } from './policy.ts';

const deadSenders = statement<{ id: string }>('recovery-senders', 'select id from senders where lease_until <= now()');

const interrupted = statement<{
  id: string;
  number: number;
  sourceType: Email['sourceType'];
  unknownOutcomes: number;
}>(
  'recovery-interrupted',
  `select e.id, o.number, e.source_type, e.unknown_outcomes
   from outgoing_mails o join emails e on e.id = o.email_id
   where o.sender_id = any ($1::uuid[]) and o.started_at is not null and o.ended_at is null order by e.id limit 1000`,
);

const end = statement(
  'recovery-end',
  `update outgoing_mails o set ended_at = now(), result = $3::jsonb -> (array_position($1::uuid[], o.email_id) - 1)
   where o.email_id = any ($1::uuid[]) and o.number = ($2::integer[])[array_position($1::uuid[], o.email_id)]
     and o.ended_at is null and o.sender_id = any ($4::uuid[])`,
);

// Mail of an erased project has no ledger row.
const free = statement<{ emailId: string }>(
  'recovery-free',
  `delete from outgoing_mails o where o.sender_id = any ($1::uuid[])
     and (o.started_at is null or not exists (select 1 from emails e where e.id = o.email_id))
   returning o.email_id`,
);

const removeSenders = statement(
  'recovery-remove-senders',
  `delete from senders s where s.id = any ($1::uuid[])
     and not exists (select 1 from outgoing_mails o where o.sender_id = s.id)`,
);

const INTERRUPTED = { kind: 'unknown', reason: 'the worker was interrupted while sending' } as const;

/**
 * Takes back the mail of senders without a valid lease: leased mail is free again, mail in flight has an unknown outcome,
 * stored results are persisted. Safe to run in several processes at once. Returns the number of mails.
 */
export async function recoverMails(db: Db): Promise<number> {
  const senders = (await deadSenders(db, [])).map(({ id }) => id);
  if (senders.length === 0) return 0;
  const lost = await interrupted(db, [senders]);
  if (lost.length > 0) {
    const ends = lost.map(({ id, number, sourceType, unknownOutcomes }) => ({
      id,
      number,
      result: resultOf({ id, number, unknownOutcomes, policy: policies[sourceType] }, INTERRUPTED),
    }));
    await end(db, [...resultColumns(ends), senders]);
    faultPoint('recovery-outcomes-stored');
  }
  const freed = await free(db, [senders]);
  faultPoint('recovery-mails-freed');
  const persisted = await persistResultsOfSenders(db, senders);
  faultPoint('recovery-results-persisted');
  await removeSenders(db, [senders]);
  return freed.length + persisted;
}
