import type { Db } from '../../db/connect.ts';
import type { Email } from '../../db/models/email.ts';
import { isSuppressed } from '../../db/models/suppression.ts';
import { arrays, statement } from '../../db/statement.ts';
import { type CoalesceOptions, coalesced } from '../../platform/coalesce.ts';
import { Slots } from '../../platform/slots.ts';
import { attemptOutcome } from './attempts.ts';
import type { MailInFlight, Settlement } from './delivery-settlement.ts';
import { insertUnpublishedResults } from './publish-results.ts';

/** The holder of a lease. Results that are not final are accepted from the current holder only. */
export interface Holder {
  batchId: string;
  token: string;
}

export interface Begun {
  verdict: 'go';
  mail: MailInFlight;
}

export type Begin =
  | Begun
  /** Blocked for now: it left the batch, with the reason. */
  | { verdict: 'held' }
  /** The address was suppressed after the mail was accepted, so it has failed. */
  | { verdict: 'suppressed' }
  /** Cancelled meanwhile, or the lease is lost. */
  | { verdict: 'passed over' };

/** Held mail is released when its cause ends (`hold.ts`); this is only how long it stays out of everybody's way. */
const HOLD_SECONDS = 24 * 60 * 60;

interface BegunRow {
  id: string;
  verdict: 'go' | 'held' | 'suppressed';
  attempts: number;
  source_type: Email['sourceType'];
  unknown_outcomes: number;
}

// The last look before the wire: the lease is held, the mail is still to be sent, its project may send from there, and
// the address takes mail. What holds mail is asked once for each sender, not for each mail.
const beginStatement = statement<BegunRow>(
  'delivery-begin',
  `with asked as materialized (
     select e.id, e.project_id, e.source_type, ask.domain, ask.wait_reason, ask.wait_seconds,
       ${isSuppressed('e.project_id', 'ask.recipient')} as suppressed
     from unnest(${arrays('uuid', 'uuid', 'uuid', 'text', 'text', 'text', 'float8')})
       as ask (id, batch_id, token, domain, recipient, wait_reason, wait_seconds)
     join delivery_batches b on b.id = ask.batch_id and b.lease_token = ask.token and b.lease_until > now()
     -- Fenced in, so that only the primary key is left to look it up by: the planner would go through the whole batch.
     cross join lateral (select * from emails where emails.id = ask.id offset 0) e
     where e.batch_id = ask.batch_id and e.status = 'PENDING'
   ),
   sender as materialized (
     select project_id, domain, source_type, sending_block_reason(project_id, domain, source_type) as hold
     from (select distinct project_id, domain, source_type from asked) pair
   ),
   judged as (
     select asked.id, asked.domain, asked.wait_seconds, sender.hold, case
         when sender.hold is not null then 'held'
         when asked.suppressed then 'suppressed'
         when asked.wait_reason is not null then 'held'
         else 'go'
       end as verdict,
       coalesce(sender.hold, case when asked.suppressed then 'suppressed' end, asked.wait_reason) as reason
     from asked join sender using (project_id, domain, source_type)
   ),
   begun as (
   update emails e set
     status = case judged.verdict when 'go' then 'SENDING' when 'suppressed' then 'FAILED' else 'PENDING' end,
     attempts = case when judged.verdict = 'go' then e.attempts + 1 else e.attempts end,
     reason = case when judged.verdict <> 'go' then judged.reason when e.blocked_domain is null then e.reason end,
     blocked_domain = case when judged.hold is not null then judged.domain end,
     batch_id = case when judged.verdict = 'held' then null else e.batch_id end,
     due_at = case
       when judged.verdict <> 'held' then e.due_at
       else now() + make_interval(secs => case when judged.hold is null then judged.wait_seconds else $8 end)
     end,
     updated_at = now()
   from judged where e.id = judged.id and e.status = 'PENDING'
   returning e.id, e.contact_id, e.without_events, judged.verdict, e.attempts, e.source_type, e.unknown_outcomes
   ),
   result as (${insertUnpublishedResults("begun where verdict = 'suppressed'")})
   select id, verdict, attempts, source_type, unknown_outcomes from begun`,
);

/** SQL that applies a settlement, a row of `told`, to the ledger row `e`, without its attempts. */
export const settledBy = (told: string, at: string): string => `
  status = ${told}.status,
  reason = ${told}.reason,
  unknown_outcomes = e.unknown_outcomes + case when ${told}."unknown" then 1 else 0 end,
  batch_id = case when ${told}.again_after is null then e.batch_id end,
  due_at = coalesce(${at} + make_interval(secs => ${told}.again_after), e.due_at),
  provider_message_id = coalesce(${told}.provider_message_id, e.provider_message_id),
  sent_at = case when ${told}.status = 'SENT' then ${at} else e.sent_at end,
  updated_at = now()`;

/** SQL that records the attempts of the rows of `settled`. A late result replaces an unknown outcome. */
export const attemptsOf = (settled: string): string => `
  attempt as (
    insert into email_attempts (email_id, number, started_at, ended_at, outcome, answer)
    select id, number, started_at, ended_at, outcome, answer from ${settled} where outcome is not null
    on conflict (email_id, number) do update
    set ended_at = excluded.ended_at, outcome = excluded.outcome, answer = excluded.answer
  )`;

// A final result is knowledge, and counts as long as no later attempt has begun; anything else only from the holder.
const finishStatement = statement<{ id: string }>(
  'delivery-finish',
  `with finished as (
   update emails e set
     ${settledBy('r', 'now()')},
     attempts = e.attempts - case when r.attempt_not_counted then 1 else 0 end
   from unnest(${arrays('uuid', 'uuid', 'uuid', 'integer', 'text', 'text', 'boolean', 'boolean', 'float8', 'text', 'text', 'text')})
     as r (id, batch_id, token, attempts, status, reason, attempt_not_counted, unknown, again_after, provider_message_id, outcome,
       answer)
   left join delivery_batches b on b.id = r.batch_id
   where e.id = r.id and e.attempts = r.attempts and (
     e.status = 'SENDING' and e.batch_id = r.batch_id and b.lease_token = r.token
     or r.status in ('SENT', 'FAILED') and e.status in ('SENDING', 'PENDING', 'UNKNOWN')
   )
   returning e.id, e.contact_id, e.without_events, e.status, r.attempts as number, old.updated_at as started_at,
     now() as ended_at, r.outcome, coalesce(r.answer, r.reason) as answer
   ),
   result as (${insertUnpublishedResults("finished where status in ('SENT', 'FAILED')")}),
   ${attemptsOf('finished')}
   select id from finished`,
);

export interface BeginAsk {
  id: string;
  holder: Holder;
  /** The sender's domain; empty when there is nothing to send. */
  domain: string;
  to: string;
  /** Asks to postpone the mail with this reason, unless policy blocks it anyway. */
  wait?: { reason: string; seconds: number };
}

interface Finish {
  id: string;
  holder: Holder;
  attempts: number;
  settlement: Settlement;
}

/** The two writes of every mail: right before and right after its SMTP transaction. */
export interface LedgerWrites {
  begin: (ask: BeginAsk) => Promise<Begin>;
  /** Returns false when the result is superseded because another worker has taken over the mail. */
  finish: (finish: Finish) => Promise<boolean>;
}

/** What a write costs, it costs once for all that are in it; more than there are connections need not be waited for. */
const LINGER_MS = 3;
const ENOUGH = 8;
const inCompany = (connections: number): CoalesceOptions => ({
  linger: { ms: LINGER_MS, enough: Math.min(connections, ENOUGH) },
});

/** Shares writes between all deliveries of a process, so that they are batched under load. */
export class DeliveryLedger {
  /** For mail that is sent immediately. */
  readonly inHaste: LedgerWrites;
  /** For bulk mail, which tolerates a short delay. */
  readonly atLeisure: LedgerWrites;
  /** Counts mails in flight whose result is not written; at most twice the connections. */
  readonly inDoubt: Slots;

  constructor(db: Db, connections = ENOUGH) {
    this.inDoubt = new Slots(connections * 2);
    const writes = (options: CoalesceOptions): LedgerWrites => ({
      begin: coalesced((asks) => beginAll(db, asks), options),
      finish: coalesced((finishes) => finishAll(db, finishes), options),
    });
    this.inHaste = writes({ width: 2 });
    this.atLeisure = writes(inCompany(connections));
  }
}

async function beginAll(db: Db, asks: BeginAsk[]): Promise<Begin[]> {
  const rows = await beginStatement(db, [
    asks.map(({ id }) => id),
    asks.map(({ holder }) => holder.batchId),
    asks.map(({ holder }) => holder.token),
    asks.map(({ domain }) => domain),
    asks.map(({ to }) => to),
    asks.map(({ wait }) => wait?.reason ?? null),
    asks.map(({ wait }) => wait?.seconds ?? null),
    HOLD_SECONDS,
  ]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return asks.map(({ id }) => {
    const row = byId.get(id);
    if (!row) return { verdict: 'passed over' };
    return row.verdict === 'go' ? { verdict: 'go', mail: inFlight(row) } : { verdict: row.verdict };
  });
}

export async function finishAll(db: Db, finishes: Finish[]): Promise<boolean[]> {
  const settlements = finishes.map(({ settlement }) => settlement);
  const rows = await finishStatement(db, [
    finishes.map(({ id }) => id),
    finishes.map(({ holder }) => holder.batchId),
    finishes.map(({ holder }) => holder.token),
    finishes.map(({ attempts }) => attempts),
    settlements.map(({ status }) => status),
    settlements.map(({ reason }) => reason),
    settlements.map(({ attemptNotCounted }) => attemptNotCounted ?? false),
    settlements.map(({ unknown }) => unknown ?? false),
    settlements.map(({ retryAfterSeconds }) => retryAfterSeconds ?? null),
    settlements.map(({ providerMessageId }) => providerMessageId ?? null),
    settlements.map(attemptOutcome),
    settlements.map(({ answer }) => answer ?? null),
  ]);
  const written = new Set(rows.map(({ id }) => id));
  return finishes.map(({ id }) => written.has(id));
}

const inFlight = ({ id, source_type, attempts, unknown_outcomes }: BegunRow): MailInFlight => ({
  id,
  sourceType: source_type,
  attempts,
  unknownOutcomes: unknown_outcomes,
});
