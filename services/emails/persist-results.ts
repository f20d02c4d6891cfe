// Persists the results of attempts from `outgoing_mails` to the ledger, in sets, and publishes their events.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, wake } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { plainArray, statement } from '../../db/statement.ts';
import { faultPoint } from '../../platform/fault-points.ts';
import { processTimings } from '../../platform/timings.ts';
import { insertUsageDeltas } from '../billing/usage.ts';
import type { AttemptResult } from './attempts.ts';
import { insertResultEvents, insertUnpublishedResults, senderDomainArrays } from './publish-results.ts';

/** The ledger has many indexes, so a set costs far less than its mails one by one. */
const SET_SIZE = 500;
const LINGER_MS = 200;
/** After as many failures in a row results are left to recovery. */
const MAX_FAILURES = 60;

// A final result is persisted whatever the row says by now: its contact may have been deleted while the mail was in
// flight. A retry counts only for a mail that is still pending. Of a deleted contact no address is kept.
const persistSql = (which: string, { locked = '', publish }: { locked?: string; publish: string }): string => `
  with ended as (delete from outgoing_mails where ${which} and ended_at is not null returning *),
  attempt as materialized (
    select ended.*, k.id is not null as is_free, ended.result ->> 'status' as status, ended.result ->> 'reason' as reason,
      ended.result ->> 'outcome' as outcome, (ended.result ->> 'retryAfterSeconds')::float8 as retry_after,
      ended.result ->> 'providerMessageId' as provider_message_id,
      (ended.result -> 'isBounce')::boolean is true as is_bounce,
      coalesce(ended.result ->> 'answer', ended.result ->> 'reason') as answer,
      case when ended.campaign_id is null then exists (select 1 from email_contents c where c.email_id = ended.email_id)
        else k.id is not null or exists (select 1 from contacts where id = ended.contact_id) end as has_recipient
    from ended left join lateral (select id from contacts where id = ended.contact_id ${locked}) k on true
  ),
  persisted as (
    update emails e set
      status = attempt.status,
      reason = case when attempt.has_recipient or attempt.reason not like '%@%' then attempt.reason end,
      attempts = case when attempt.outcome is null then e.attempts else attempt.number end,
      unknown_outcomes = e.unknown_outcomes + case when attempt.outcome = 'unknown' then 1 else 0 end,
      due_at = coalesce(attempt.ended_at + make_interval(secs => attempt.retry_after), e.due_at),
      provider_message_id = coalesce(attempt.provider_message_id, e.provider_message_id),
      sent_at = case when attempt.status = 'SENT' then attempt.ended_at else e.sent_at end,
      bounced_at = case when attempt.is_bounce then attempt.ended_at else e.bounced_at end,
      bounce_type = case when attempt.is_bounce then 'Permanent' else e.bounce_type end,
      blocked_domain = null,
      attempt_log = case when attempt.outcome is null then e.attempt_log else coalesce(e.attempt_log, '[]') ||
        jsonb_build_object('number', attempt.number, 'startedAt', attempt.started_at,
          'endedAt', attempt.ended_at, 'relay', attempt.relay, 'outcome', attempt.outcome,
          'answer', case when attempt.has_recipient and e.status = 'PENDING' then attempt.answer end) end,
      to_email = case when attempt.campaign_id is not null and attempt.has_recipient and e.status = 'PENDING'
        and attempt.outcome is not null then attempt.recipient end,
      rendered_subject = case when attempt.campaign_id is not null and attempt.has_recipient and e.status = 'PENDING'
        and attempt.outcome is not null then attempt.subject end,
      updated_at = now()
    from attempt where e.id = attempt.email_id and (attempt.status <> 'PENDING' or e.status = 'PENDING')
    returning e.*, attempt.number, attempt.is_free, attempt.subject as new_subject
  ),
  subject as (
    update email_contents c set rendered_subject = attempt.subject from attempt
    where attempt.campaign_id is null and attempt.subject is not null and c.email_id = attempt.email_id
  ),
  ${publish}
  select count(*)::integer as count from ended`;

interface Count {
  count: number;
}

const FINAL = "status in ('SENT', 'FAILED')";
/** Leaves out what another statement persists at this moment. */
const persistOnly = (which: string): string =>
  persistSql(
    `email_id = any (array(select email_id from outgoing_mails where ${which} and ended_at is not null
       order by email_id limit ${SET_SIZE} for update skip locked))`,
    { publish: `result as (${insertUnpublishedResults(`persisted where ${FINAL}`)})` },
  );
const persistOfCampaign = statement<Count>('sending-persist-campaign', persistOnly('campaign_id = $1'));
const persistOfSenders = statement<Count>('sending-persist-senders', persistOnly('sender_id = any ($1::uuid[])'));

// Events are recorded under the contact's lock, which is only tried: where another transaction has it, and where an
// earlier result of the mail may still be unpublished, publishing is left to `publishResults`, which can wait. So are
// bounces, which also unsubscribe and suppress.
const PUBLISHED_NOW = `${FINAL} and is_free and number = 1 and bounced_at is null`;
const publishedNow = (condition: string): string =>
  `(select * from persisted where ${PUBLISHED_NOW} and not without_events and ${condition}) mail`;
const facts = `
  left join lateral (
    select c.from_email, c.subject, coalesce(mail.new_subject, c.rendered_subject) as rendered_subject
    from email_contents c where c.email_id = mail.id and mail.campaign_id is null) content on true
  left join lateral (select k.* from campaigns k where k.id = mail.campaign_id limit 1) campaign on true
  left join lateral (select x.depth from executions x where x.id = mail.execution_id limit 1) execution on true`;
const persistAndPublish = statement<Count>(
  'sending-persist',
  persistSql('email_id = any ($1::uuid[])', {
    locked: 'for update skip locked',
    publish: `
      event as (${insertResultEvents(`${publishedNow('true')} ${facts}`, '$2::text[], $3::text[]')}),
      usage as (${insertUsageDeltas(publishedNow('$4'))}),
      result as (${insertUnpublishedResults(`persisted where ${FINAL} and not (${PUBLISHED_NOW})`)})`,
  }),
);

/** A mail whose result is stored in `outgoing_mails`. */
export interface StoredResult {
  id: string;
  /** The sender's address, for the Message-ID in its event. */
  from: string;
}

/** Persists stored results shortly after they are stored. */
export class ResultPersister {
  private readonly db: Db;
  private readonly billing: boolean;
  private readonly retryMs: number;
  private ids: string[] = [];
  private readonly senders = new Set<string>();
  private failures = 0;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  constructor(db: Db, { billing }: { billing: boolean }, retryMs = processTimings.sender.persistRetry) {
    this.db = db;
    this.billing = billing;
    this.retryMs = retryMs;
  }

  add(mails: StoredResult[]): void {
    for (const { id, from } of mails) {
      this.ids.push(id);
      this.senders.add(from);
    }
    this.startWhenFull();
  }

  /** Persists what is left, and waits for it. */
  async idle(): Promise<void> {
    while (this.ids.length > 0 || this.running) {
      this.start();
      await this.running;
    }
  }

  private startWhenFull(): void {
    if (this.ids.length >= SET_SIZE) this.start();
    else if (this.ids.length > 0) this.timer ??= setTimeout(() => this.start(), LINGER_MS);
  }

  private start(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.running ??= this.persistSet()
      .catch(() => {})
      .finally(() => {
        this.running = undefined;
        this.startWhenFull();
      });
  }

  /** One set. What fails is tried again with the next one. */
  private async persistSet(): Promise<void> {
    const ids = this.ids.splice(0, SET_SIZE);
    const values = [plainArray(ids), ...senderDomainArrays([...this.senders]), this.billing];
    faultPoint('before-persist');
    try {
      await retryDeadlocks(this.db, () => persistAndPublish(this.db, values));
      this.failures = 0;
    } catch (error) {
      if (++this.failures > MAX_FAILURES) throw error;
      this.ids.unshift(...ids);
      await sleep(this.retryMs);
      return;
    }
    faultPoint('after-persist');
    if (this.ids.length === 0) this.senders.clear();
    wake(this.db, 'events');
  }
}

/** Persists all stored results of a campaign, for a reader or writer that needs exact counts. */
export async function persistCampaignResults(db: Db, campaignId: string): Promise<void> {
  while (((await persistOfCampaign(db, [campaignId]))[0]?.count ?? 0) === SET_SIZE);
}

/** Persists results that senders stored and did not persist. Returns how many. */
export async function persistResultsOfSenders(db: Db, senderIds: string[]): Promise<number> {
  let total = 0;
  for (;;) {
    const count = (await retryDeadlocks(db, () => persistOfSenders(db, [senderIds])))[0]?.count ?? 0;
    total += count;
    if (count < SET_SIZE) return total;
  }
}

// A final result counts as long as no later attempt has begun, and replaces the unknown outcome of the same attempt.
const persistLate = statement<{ id: string }>(
  'sending-persist-late',
  `with attempt as (
     select $1::uuid as id, $2::integer as number, $3::text as status, $4::text as reason, $5::text as outcome,
       $6::text as answer, $7::text as provider_message_id, $8::boolean as is_bounce
   ),
   persisted as (
     update emails e set status = attempt.status, reason = attempt.reason, updated_at = now(),
       provider_message_id = coalesce(attempt.provider_message_id, e.provider_message_id),
       sent_at = case when attempt.status = 'SENT' then now() else e.sent_at end,
       bounced_at = case when attempt.is_bounce then now() else e.bounced_at end,
       bounce_type = case when attempt.is_bounce then 'Permanent' else e.bounce_type end,
       attempt_log = (
         select jsonb_agg(case when (entry -> 'number')::integer = attempt.number
           then entry || jsonb_build_object('endedAt', now(), 'outcome', attempt.outcome, 'answer', attempt.answer)
           else entry end order by place)
         from jsonb_array_elements(e.attempt_log) with ordinality as log (entry, place))
     from attempt
     where e.id = attempt.id and e.attempts = attempt.number and e.status in ('PENDING', 'UNKNOWN')
       and not exists (select 1 from outgoing_mails o where o.email_id = e.id and o.started_at is not null)
     returning e.*
   ),
   result as (${insertUnpublishedResults(`persisted where ${FINAL}`)})
   select id from persisted`,
);

/**
 * Persists a result that arrives after recovery took the attempt for lost, if it is final. Returns false when a later
 * attempt has begun, or the mail has a final result already.
 */
export async function persistLateResult(
  db: Db,
  { id, number }: { id: string; number: number },
  result: AttemptResult,
): Promise<boolean> {
  const { status, reason, outcome, answer = reason, providerMessageId = null, isBounce = false } = result;
  if (status !== 'SENT' && status !== 'FAILED') return false;
  const values = [id, number, status, reason, outcome, answer, providerMessageId, isBounce];
  return (await persistLate(db, values)).length > 0;
}
