// The writes of every mail: right before it is sent, right after, and, where it is not sent, back to the ledger.
import type { Db } from '../../db/connect.ts';
import { PinnedConnection } from '../../db/pinned-connection.ts';
import { plainArray, statement } from '../../db/statement.ts';
import { coalesced } from '../../platform/coalesce.ts';
import { faultPoint } from '../../platform/fault-points.ts';
import type { AttemptResult } from '../emails/attempts.ts';
import { persistLateResult, ResultPersister } from '../emails/persist-results.ts';
import { insertUnpublishedResults } from '../emails/publish-results.ts';
import type { EndedAttempt, QueuedMail } from './mail.ts';
import type { Attempt } from './outcome.ts';

/** What `write_outgoing_mails` decided about a mail that was to begin. */
export type BeginVerdict =
  | { verdict: 'go'; attempt: Attempt }
  /** `gone`: no longer pending. `changed`: the recipient has another address now. `lost`: the sender may not send. */
  | { verdict: 'gone' | 'changed' | 'lost' }
  /** The campaign is paused, cancelled or finished. */
  | { verdict: 'stopped' }
  | { verdict: 'blocked' | 'suppressed' | 'skip'; reason: string }
  /** The database failed. */
  | { verdict: 'failed'; error: unknown };

/** A leased mail that is not sent now. `status` is its new one; undefined leaves the row as it is. */
export interface UnsentMail {
  id: string;
  status?: 'PENDING' | 'FAILED' | 'SKIPPED' | 'UNKNOWN';
  reason?: string;
  /** Due after this many seconds. */
  retryAfterSeconds?: number;
  /** The sender's domain, when policy blocks the mail. */
  blockedDomain?: string;
}

interface VerdictRow {
  id: string;
  verdict: 'go' | 'gone' | 'lost' | 'stopped' | 'blocked' | 'skip' | 'suppressed' | 'changed' | 'late';
  reason: string | null;
  number: number;
  unknownOutcomes: number;
}

const write = statement<VerdictRow>(
  'sending-write',
  'select * from write_outgoing_mails($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
);

const release = statement<{ id: string }>(
  'sending-release',
  `with unsent as materialized (
     select * from unnest($2::uuid[], $3::text[], $4::text[], $5::float8[], $6::text[])
       as u (id, status, reason, seconds, blocked_domain)
   ),
   released as (
     delete from outgoing_mails o using unsent
     where o.email_id = unsent.id and o.sender_id = $1 and o.started_at is null returning o.email_id
   ),
   changed as (
     update emails e set status = unsent.status, reason = unsent.reason, blocked_domain = unsent.blocked_domain,
       due_at = coalesce(now() + make_interval(secs => unsent.seconds), e.due_at), updated_at = now()
     from unsent join released on released.email_id = unsent.id
     where unsent.status is not null and e.id = unsent.id and e.status = 'PENDING'
     returning e.*
   ),
   result as (${insertUnpublishedResults("changed where status = 'FAILED'")})
   select id from changed`,
);

/** Collects writes for this long after the last one: a write costs about the same for one mail as for ten. */
const LINGER_MS = 3;
/** A write waits for no more connections than these. */
const MOST_AWAITED = 20;
/** The connection goes back to the pool after this long without a write. */
const IDLE_MS = 200;
/** A known result is worth this much waiting for the database: without it the outcome becomes unknown. */
const PATIENCE_MS = 60_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

interface WaitingBegin {
  mail: QueuedMail;
  relay: string;
  resolve: (verdict: BeginVerdict) => void;
}

interface WaitingEnd extends EndedAttempt {
  giveUpAt: number | undefined;
}

export interface LedgerOptions {
  db: Db;
  senderId: string;
  connections: number;
  /** The most campaign mails of a connection that have begun and not ended. */
  campaignInFlight: number;
  billing: boolean;
  /** Called for every result that was stored. */
  onResult: (ended: EndedAttempt) => void;
}

/**
 * Batches the writes of all connections of a sender. One call stores the results of mails that have ended and begins
 * others. A connection reports the end of a mail before it asks to begin another one, and a result that could not be stored
 * is part of the next call, so a connection never has more mails with an unstored result than its policy allows.
 */
export class SendingLedger {
  private readonly options: LedgerOptions;
  private readonly connection: PinnedConnection;
  private readonly persister: ResultPersister;
  private readonly enoughConnections: number;
  private readonly late = new Set<Promise<void>>();
  private begins: WaitingBegin[] = [];
  private ends: WaitingEnd[] = [];
  private isWriting = false;
  private lastWriteAt = Number.NEGATIVE_INFINITY;
  private isScheduled = false;
  private lingerTimer: NodeJS.Timeout | undefined;
  private idleTimer: NodeJS.Timeout | undefined;
  private onIdle: (() => void)[] = [];
  /** Runs after a failed write: the next one comes after it. */
  private pauseTimer: NodeJS.Timeout | undefined;
  private pauseMs = FIRST_PAUSE_MS;

  constructor(options: LedgerOptions) {
    this.options = options;
    this.enoughConnections = Math.min(options.connections, MOST_AWAITED);
    this.connection = new PinnedConnection(options.db);
    this.persister = new ResultPersister(options.db, { billing: options.billing });
  }

  /** Never rejects. */
  begin(mail: QueuedMail, relay: string): Promise<BeginVerdict> {
    return new Promise((resolve) => {
      this.begins.push({ mail, relay, resolve });
      this.schedule();
    });
  }

  /** Not awaited: the connection continues while the result is stored. */
  end(ended: EndedAttempt): void {
    this.ends.push({ ...ended, giveUpAt: undefined });
    this.schedule();
  }

  /** Gives up leases of mails that are not sent now. */
  readonly release = coalesced<UnsentMail, void>(async (mails) => {
    const { db, senderId } = this.options;
    await release(db, [
      senderId,
      mails.map(({ id }) => id),
      mails.map(({ status }) => status ?? null),
      mails.map(({ reason }) => reason ?? null),
      mails.map(({ retryAfterSeconds }) => retryAfterSeconds ?? null),
      mails.map(({ blockedDomain }) => blockedDomain ?? null),
    ]);
    return mails.map(() => undefined);
  });

  /** Resolves when all results are persisted or given up. */
  async idle(): Promise<void> {
    if (this.isWriting || this.ends.length + this.begins.length > 0)
      await new Promise<void>((resolve) => this.onIdle.push(resolve));
    await this.persister.idle();
    await Promise.all(this.late);
    clearTimeout(this.idleTimer);
    this.connection.release();
  }

  /** Waits for the other calls of this tick: a connection reports an end and a begin together. */
  private schedule(): void {
    if (this.isScheduled || this.isWriting) return;
    this.isScheduled = true;
    queueMicrotask(() => {
      this.isScheduled = false;
      this.writeIfReady();
    });
  }

  private writeIfReady(): void {
    if (this.isWriting || this.pauseTimer) return;
    if (this.begins.length + this.ends.length === 0) {
      this.rest();
      return;
    }
    const sinceLast = performance.now() - this.lastWriteAt;
    if (this.waitingConnections() >= this.enoughConnections || sinceLast >= LINGER_MS) void this.writeAll();
    else this.lingerTimer ??= setTimeout(() => void this.writeAll(), LINGER_MS - sinceLast);
  }

  /** How many connections can go on only after this write: those that ended and asked for all that their policy allows. */
  private waitingConnections(): number {
    const ofCampaign = 0.5 / this.options.campaignInFlight;
    let connections = 0;
    for (const { mail } of this.begins) connections += mail.policy.beginsAhead ? ofCampaign : 0.5;
    for (const { mail } of this.ends) connections += mail.policy.beginsAhead ? ofCampaign : 0.5;
    return connections;
  }

  private rest(): void {
    for (const resolve of this.onIdle.splice(0)) resolve();
    this.idleTimer ??= setTimeout(() => {
      this.idleTimer = undefined;
      if (!this.isWriting) this.connection.release();
    }, IDLE_MS);
  }

  private async writeAll(): Promise<void> {
    clearTimeout(this.lingerTimer);
    clearTimeout(this.idleTimer);
    this.lingerTimer = undefined;
    this.idleTimer = undefined;
    if (this.isWriting) return;
    this.isWriting = true;
    const begins = this.begins;
    const ends = this.ends;
    this.begins = [];
    this.ends = [];
    try {
      if (!this.connection.isThere) await this.connection.take();
      if (begins.length > 0) faultPoint('before-begin');
      if (ends.length > 0) faultPoint('before-end');
      const rows = await write(this.connection, [
        this.options.senderId,
        ...beginColumns(begins),
        ...resultColumns(ends.map(({ attempt, result }) => ({ ...attempt, result }))),
      ]);
      this.pauseMs = FIRST_PAUSE_MS;
      this.report(begins, ends, rows);
    } catch (error) {
      this.connection.release();
      for (const { resolve } of begins) resolve({ verdict: 'failed', error });
      this.retryLater(ends);
    }
    this.isWriting = false;
    this.lastWriteAt = performance.now();
    this.writeIfReady();
  }

  private report(begins: WaitingBegin[], ends: WaitingEnd[], rows: VerdictRow[]): void {
    const verdicts = new Map<string, VerdictRow>();
    const late = new Set<string>();
    for (const row of rows) {
      if (row.verdict === 'late') late.add(row.id);
      else verdicts.set(row.id, row);
    }
    for (const { mail, resolve } of begins) resolve(verdictOf(mail, verdicts.get(mail.id)));
    if (ends.length === 0) return;
    faultPoint('after-end');
    for (const end of ends) {
      if (late.has(end.mail.id)) this.persistLate(end);
      else this.options.onResult(end);
    }
    const stored = late.size > 0 ? ends.filter(({ mail }) => !late.has(mail.id)) : ends;
    this.persister.add(stored.map(({ mail }) => ({ id: mail.id, from: mail.prepared.from })));
  }

  /** Another sender has taken the attempt for lost. That the relay accepted the mail is still worth knowing. */
  private persistLate(ended: EndedAttempt): void {
    const persisting = persistLateResult(this.options.db, ended.attempt, ended.result)
      .then((isPersisted) => {
        if (isPersisted) this.options.onResult(ended);
      })
      .catch(() => {})
      .finally(() => this.late.delete(persisting));
    this.late.add(persisting);
  }

  /** Keeps results that could not be stored for the next write, which comes after a pause. */
  private retryLater(ends: WaitingEnd[]): void {
    const now = performance.now();
    for (const end of ends) end.giveUpAt ??= now + PATIENCE_MS;
    this.ends.unshift(...ends.filter(({ giveUpAt = now }) => giveUpAt > now));
    this.pauseTimer = setTimeout(() => {
      this.pauseTimer = undefined;
      this.writeIfReady();
    }, this.pauseMs);
    this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

function beginColumns(begins: WaitingBegin[]): unknown[] {
  const mails = begins.map(({ mail }) => mail);
  return [
    plainArray(mails.map(({ id }) => id)),
    mails.map(({ prepared }) => prepared.to),
    mails.map(({ prepared }) => prepared.subject),
    mails.map(({ prepared }) => prepared.senderDomain),
    begins.map(({ relay }) => relay),
    plainArray([...new Set(mails.flatMap(({ campaignId }) => campaignId ?? []))]),
  ];
}

/** The parameters with results of `write_outgoing_mails`. */
export const resultColumns = (ends: { id: string; number: number; result: AttemptResult }[]): unknown[] => [
  plainArray(ends.map(({ id }) => id)),
  plainArray(ends.map(({ number }) => number)),
  JSON.stringify(ends.map(({ result }) => result)),
];

function verdictOf({ id, policy }: QueuedMail, row: VerdictRow | undefined): BeginVerdict {
  switch (row?.verdict) {
    case 'go': {
      const { number, unknownOutcomes } = row;
      return { verdict: 'go', attempt: { id, number, unknownOutcomes, policy } };
    }
    case 'blocked':
    case 'suppressed':
    case 'skip':
      return { verdict: row.verdict, reason: row.reason ?? row.verdict };
    case 'changed':
    case 'lost':
    case 'stopped':
      return { verdict: row.verdict };
    default:
      return { verdict: 'gone' };
  }
}
