// Recovers mail of senders that died or lost their lease.
import type { Db } from '../../db/connect.ts';
import type { Email } from '../../db/models/email.ts';
import { statement } from '../../db/statement.ts';
import { persistLeftResults } from '../emails/persist-results.ts';
import { resultColumns } from './ledger.ts';
import { resultOf } from './outcome.ts';
import { policies } from './policy.ts';

const hasLease = `exists (select 1 from senders s where s.id = o.sender_id and s.lease_until > now())`;

const removeSenders = statement('recovery-senders', 'delete from senders where lease_until < now()');

const interrupted = statement<{
  id: string;
  number: number;
  source_type: Email['sourceType'];
  unknown_outcomes: number;
}>(
  'recovery-interrupted',
  `select e.id, o.number, e.source_type, e.unknown_outcomes
   from outgoing_mails o join emails e on e.id = o.email_id
   where o.started_at is not null and o.ended_at is null and not ${hasLease} order by e.id limit 1000`,
);

const end = statement(
  'recovery-end',
  `update outgoing_mails o set ended_at = now(), result = ended.result
   from rows from (unnest($1::uuid[]), unnest($2::integer[]), jsonb_array_elements($3::jsonb)) as ended (id, number, result)
   where o.email_id = ended.id and o.number = ended.number and o.ended_at is null and not ${hasLease}`,
);

// Mail of an erased project has no ledger row.
const free = statement<{ email_id: string }>(
  'recovery-free',
  `delete from outgoing_mails o where not ${hasLease}
     and (o.started_at is null or not exists (select 1 from emails e where e.id = o.email_id))
   returning o.email_id`,
);

const INTERRUPTED = { kind: 'unknown', reason: 'the worker was interrupted while it was sending' } as const;

/**
 * Takes back the mail of senders without a valid lease: leased mail is free again, mail in flight has an unknown outcome,
 * stored results are persisted. Safe to run in several processes at once. Returns the number of mails.
 */
export async function recoverMails(db: Db): Promise<number> {
  const lost = await interrupted(db, []);
  if (lost.length > 0) {
    const ends = lost.map(({ id, number, source_type, unknown_outcomes: unknownOutcomes }) => ({
      id,
      number,
      result: resultOf({ id, number, unknownOutcomes, policy: policies[source_type] }, INTERRUPTED),
    }));
    await end(db, resultColumns(ends));
  }
  const freed = await free(db, []);
  const persisted = await persistLeftResults(db, lost.length > 0 ? 0 : undefined);
  await removeSenders(db, []);
  return freed.length + persisted;
}
