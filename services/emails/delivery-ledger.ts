import type { Db } from '../../db/connect.ts';
import type { Email } from '../../db/models/email.ts';
import { statement } from '../../db/statement.ts';
import { coalesced } from '../../platform/coalesce.ts';
import { attemptOutcome } from './attempts.ts';
import type { MailInFlight, Settlement } from './delivery-settlement.ts';

/** Who writes: results that are not final count only from the holder of the lease. */
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
  /** Its project is disabled: it waits outside of the batch. */
  | { verdict: 'held' }
  /** Cancelled meanwhile, or no longer ours. */
  | { verdict: 'passed over' };

/** How long held mail waits before it is looked at again. */
const HOLD_SECONDS = 300;

interface BegunRow {
  id: string;
  held: boolean;
  attempts: number;
  source_type: Email['sourceType'];
  unknown_outcomes: number;
}

// The last look before the wire: the lease is held, the mail is still to be sent, its project may send.
const beginStatement = statement<BegunRow>(
  'delivery-begin',
  `with asked as (
     select e.id, coalesce(p.disabled, true) as held
     from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as ask (id, batch_id, token)
     join delivery_batches b on b.id = ask.batch_id and b.lease_token = ask.token and b.lease_until > now()
     join emails e on e.id = ask.id and e.batch_id = ask.batch_id and e.status = 'PENDING'
     left join projects p on p.id = e.project_id
   )
   update emails e set
     status = case when asked.held then 'PENDING' else 'SENDING' end,
     attempts = case when asked.held then e.attempts else e.attempts + 1 end,
     reason = case when asked.held then 'project disabled' else e.reason end,
     batch_id = case when asked.held then null else e.batch_id end,
     due_at = case when asked.held then now() + make_interval(secs => $4) else e.due_at end,
     updated_at = now()
   from asked where e.id = asked.id and e.status = 'PENDING'
   returning e.id, asked.held, e.attempts, e.source_type, e.unknown_outcomes`,
);

// A final result is knowledge, and counts as long as no later attempt has begun; anything else only from the holder.
const finishStatement = statement<{ id: string }>(
  'delivery-finish',
  `with finished as (
   update emails e set
     status = r.status,
     reason = r.reason,
     attempts = e.attempts - case when r.unburnt then 1 else 0 end,
     unknown_outcomes = e.unknown_outcomes + case when r.unknown then 1 else 0 end,
     batch_id = case when r.again_after is null then e.batch_id end,
     due_at = coalesce(now() + make_interval(secs => r.again_after), e.due_at),
     provider_message_id = coalesce(r.provider_message_id, e.provider_message_id),
     sent_at = case when r.status = 'SENT' then now() else e.sent_at end,
     updated_at = now()
   from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::integer[], $5::text[], $6::text[], $7::boolean[], $8::boolean[],
               $9::float8[], $10::text[], $11::text[])
     as r (id, batch_id, token, attempts, status, reason, unburnt, unknown, again_after, provider_message_id, outcome)
   left join delivery_batches b on b.id = r.batch_id
   where e.id = r.id and e.attempts = r.attempts and (
     e.status = 'SENDING' and e.batch_id = r.batch_id and b.lease_token = r.token
     or r.status in ('SENT', 'FAILED') and e.status in ('SENDING', 'PENDING', 'UNKNOWN')
   )
   returning e.id, r.attempts, old.updated_at as started_at, r.outcome, r.reason
   ),
   -- A late word about an attempt whose outcome was unknown makes it known.
   attempt as (
     insert into email_attempts (email_id, number, started_at, ended_at, outcome, answer)
     select id, attempts, started_at, now(), outcome, reason from finished where outcome is not null
     on conflict (email_id, number) do update
     set ended_at = excluded.ended_at, outcome = excluded.outcome, answer = excluded.answer
   )
   select id from finished`,
);

interface Ask {
  id: string;
  holder: Holder;
}

interface Finish extends Ask {
  attempts: number;
  settlement: Settlement;
}

/**
 * The two writes of every mail, right before its SMTP transaction and right after. All deliveries of a process share
 * them, so that they come in small batches under load.
 */
export class DeliveryLedger {
  readonly begin: (ask: Ask) => Promise<Begin>;
  /** False: it came too late, somebody else has gone on with the mail. */
  readonly finish: (finish: Finish) => Promise<boolean>;

  constructor(db: Db) {
    this.begin = coalesced((asks) => beginAll(db, asks));
    this.finish = coalesced((finishes) => finishAll(db, finishes));
  }
}

async function beginAll(db: Db, asks: Ask[]): Promise<Begin[]> {
  const rows = await beginStatement(db, [
    asks.map(({ id }) => id),
    asks.map(({ holder }) => holder.batchId),
    asks.map(({ holder }) => holder.token),
    HOLD_SECONDS,
  ]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return asks.map(({ id }) => {
    const row = byId.get(id);
    if (!row) return { verdict: 'passed over' };
    return row.held ? { verdict: 'held' } : { verdict: 'go', mail: inFlight(row) };
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
    settlements.map(({ unburnt }) => unburnt ?? false),
    settlements.map(({ unknown }) => unknown ?? false),
    settlements.map(({ againAfter }) => againAfter ?? null),
    settlements.map(({ providerMessageId }) => providerMessageId ?? null),
    settlements.map(attemptOutcome),
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
