import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MailConnection, Mailer, SendOutcome } from '../../platform/smtp/mailer.ts';
import { senderDomain } from '../domains/name.ts';
import { pendingMails, removeBatch, resolveInterrupted } from './delivery-batch.ts';
import { type ComposeDeps, type Composed, compose } from './delivery-compose.ts';
import { type PrepareDeps, type PreparedMail, prepareMails } from './delivery-content.ts';
import { composeIsolated, failStuck } from './delivery-isolation.ts';
import { type Lease, leaseBatch } from './delivery-lease.ts';
import type { DeliveryLedger, LedgerWrites } from './delivery-ledger.ts';
import { type PendingMail, PreparedMails } from './delivery-queue.ts';
import {
  type Counts,
  type MailInFlight,
  noCounts,
  type ResultKind,
  resultKind,
  type Settlement,
  settle,
} from './delivery-settlement.ts';

export interface DeliveryDeps extends PrepareDeps, ComposeDeps {
  mailer: Mailer;
  ledger: DeliveryLedger;
  onResult?: (kind: ResultKind) => void;
}

export interface DeliveryCalls {
  /** Counts of earlier attempts at this batch. */
  before?: Counts;
  /** Called from time to time while the lease is valid. */
  beat: (counts: Counts) => void;
  /** Stops new attempts; mails in flight are finished. */
  stop: AbortSignal;
  /** Aborts the mails in flight. */
  abort: AbortSignal;
}

/** Thrown when the batch is not finished for reasons outside its mails; the caller retries, at once or after a delay. */
export class RetryLater extends Error {
  readonly afterMs: number | undefined;

  constructor(message: string, afterMs?: number) {
    super(message);
    this.name = 'ComeAgain';
    this.afterMs = afterMs;
  }
}

const BEAT_MS = 3_000;
const LOOK_AGAIN_MS = 200;
/** Two lanes for each connection: while one waits for the server, the next mail is written and signed. */
const LANES_PER_SLOT = 2;
/** Of an isolated batch: its mails are composed before they wait for a slot, and may be large. */
const ISOLATED_LANES = 4;
/** How long mail to a domain that is slow just now is put off, by at least half of it. */
const SLOW_DOMAIN_SECONDS = 120;
/** A result that is known is worth this much waiting for the database: given up, it becomes an unknown outcome. */
const RESULT_PATIENCE_MS = 60_000;

/** Sends the unsent mails of a batch. Safe to call repeatedly and concurrently. */
export async function deliver(deps: DeliveryDeps, batchId: string, calls: DeliveryCalls): Promise<Counts> {
  const answer = await leaseBatch(deps.db, batchId);
  if ('gone' in answer) return calls.before ?? noCounts();
  if ('heldForMs' in answer) throw new RetryLater('another worker has this batch', answer.heldForMs + 500);
  const { lease } = answer;
  const delivery = new Delivery(deps, lease, calls.before);
  const unfollow = [
    follow(delivery.stopping, calls.stop, calls.abort, lease.lost),
    follow(delivery.cutting, calls.abort, lease.lost),
  ];
  const beat = () => lease.check() && calls.beat(delivery.counts);
  const beating = setInterval(beat, BEAT_MS);
  try {
    return await delivery.run();
  } finally {
    clearInterval(beating);
    beat();
    for (const end of unfollow) end();
    await lease.release().catch(() => {});
  }
}

/** Like `AbortSignal.any`, but leaves nothing behind on signals that live as long as the process. */
function follow(controller: AbortController, ...signals: AbortSignal[]): () => void {
  setMaxListeners(0, controller.signal);
  const ends = signals.map((signal) => whenAborted(signal, () => controller.abort(signal.reason)));
  return () => {
    for (const end of ends) end();
  };
}

function whenAborted(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) act();
  signal.addEventListener('abort', act);
  return () => signal.removeEventListener('abort', act);
}

class Delivery {
  readonly counts: Counts;
  /** Begin nothing new. */
  readonly stopping = new AbortController();
  /** Aborts the mails in flight. */
  readonly cutting = new AbortController();
  private readonly deps: DeliveryDeps;
  private readonly lease: Lease;
  private unreachable: string | undefined;
  private exchanged = false;
  private results: Promise<void>[] = [];
  private writes: LedgerWrites;

  constructor(deps: DeliveryDeps, lease: Lease, before: Counts | undefined) {
    this.deps = deps;
    this.lease = lease;
    this.writes = deps.ledger.inHaste;
    this.counts = { ...noCounts(), ...before };
  }

  async run(): Promise<Counts> {
    const { db } = this.deps;
    if (this.lease.isolated) for (let left = await failStuck(db, this.lease); left > 0; left--) this.tally('failed');
    for (;;) {
      this.count(...(await resolveInterrupted(db, this.lease)));
      const mails = await pendingMails(db, this.lease.batchId);
      if (mails.length > 0) await this.round(mails);
      else if (await removeBatch(db, this.lease)) return this.counts;
      else await sleep(LOOK_AGAIN_MS);
      this.lease.check();
      const { signal } = this.stopping;
      if (signal.aborted) throw new RetryLater(textOf(signal.reason), 0);
      if (this.unreachable && !this.exchanged) {
        throw new RetryLater(`the SMTP server cannot be reached: ${this.unreachable}`);
      }
    }
  }

  /** One attempt at each of these mails, side by side over as many connections as there are slots. */
  private async round(mails: PendingMail[]): Promise<void> {
    this.unreachable = undefined;
    this.exchanged = false;
    this.results = [];
    const { ledger, mailer } = this.deps;
    const lanes = this.lease.isolated ? ISOLATED_LANES : mailer.slots.size * LANES_PER_SLOT;
    const width = Math.min(mails.length, lanes);
    this.writes = mails.length > width ? ledger.atLeisure : ledger.inHaste;
    const ends = await (this.lease.isolated ? this.sendIsolated(mails, width) : this.sendPrepared(mails, width));
    const results = await Promise.allSettled(this.results);
    for (const end of [...ends, ...results]) if (end.status === 'rejected') throw end.reason;
  }

  private async sendPrepared(mails: PendingMail[], width: number): Promise<PromiseSettledResult<void>[]> {
    const prepared = new PreparedMails(mails, (ids, ready) => prepareMails(this.deps, ids, ready));
    const unfollow = whenAborted(this.stopping.signal, () => prepared.close());
    const ends = await Promise.allSettled(Array.from({ length: width }, () => this.lane(prepared)));
    unfollow();
    return ends;
  }

  /** Goes on until there is no mail left, or the server cannot be reached: others may still have a connection. */
  private async lane(prepared: PreparedMails): Promise<void> {
    for (let mail = await prepared.next(); mail; mail = await prepared.next()) if (!(await this.send(mail))) return;
  }

  /** Renders and composes one mail at a time; several are sent side by side. */
  private sendIsolated(mails: PendingMail[], width: number): Promise<PromiseSettledResult<void>[]> {
    const rest = mails.map(({ id }) => id).reverse();
    const lane = async (): Promise<void> => {
      for (let id = rest.pop(); id && !this.stopping.signal.aborted; id = rest.pop()) {
        const mail = await composeIsolated(this.deps.db, this.lease, id, () => this.composeWhole(id));
        if (!mail) throw new RetryLater('the lease on the batch is lost', 0);
        if (!(await this.send(mail.prepared, mail.composed))) return;
      }
    };
    return Promise.allSettled(Array.from({ length: width }, lane));
  }

  private async composeWhole(id: string): Promise<{ prepared: PreparedMail; composed: Composed } | undefined> {
    const ready: PreparedMail[] = [];
    await prepareMails(this.deps, [id], (mail) => ready.push(mail));
    const [prepared] = ready;
    return prepared && { prepared, composed: await compose(this.deps, prepared) };
  }

  /** False: the server cannot be reached, or nothing new may begin. */
  private async send(mail: PreparedMail, composed?: Composed): Promise<boolean> {
    const { slots } = this.deps.mailer;
    const domain = mail.content && domainOf(mail.content.to.email);
    if (domain && slots.isCrowded(domain)) {
      await this.putOff(mail, domain);
      return true;
    }
    // Rendered and written before it waits for a slot, so that no slot ever waits for a template or a signature. But
    // files are read only with a slot in hand: they may be large.
    const wire = composed ?? (mail.attachmentSet ? undefined : await compose(this.deps, mail));
    if (!(await slots.take(this.lease.priority, this.stopping.signal, domain))) return false;
    try {
      return await this.attempt(mail, wire);
    } finally {
      slots.give(domain);
    }
  }

  /** Its own servers keep the relay, and so us, waiting: others go first. */
  private async putOff(mail: PreparedMail, domain: string): Promise<void> {
    const seconds = SLOW_DOMAIN_SECONDS * (0.5 + Math.random() / 2);
    const wait = { reason: `mail to ${domain} takes long just now; it will be tried again`, seconds };
    const { verdict } = await this.writes.begin({ ...this.askFor(mail), wait });
    if (verdict === 'held') this.tally('held');
  }

  private askFor({ id, content }: PreparedMail) {
    return {
      id,
      holder: this.lease,
      domain: content ? senderDomain(content.from.email) : '',
      to: content?.to.email ?? '',
    };
  }

  /** False: the server cannot be reached. */
  private async attempt(mail: PreparedMail, composed: Composed | undefined): Promise<boolean> {
    const wire = composed ?? (await compose(this.deps, mail));
    // First the connection: what cannot be offered is not even begun.
    const line = await this.deps.mailer.connect(this.cutting.signal);
    if ('kind' in line) return this.tell(line);
    try {
      const begun = await this.begin(mail);
      return !begun || this.tell(await this.offer(begun, wire, line));
    } finally {
      await line.release();
    }
  }

  /** Undefined: it may not leave, or not from here. Otherwise it is in doubt until its result is written. */
  private async begin(mail: PreparedMail): Promise<MailInFlight | undefined> {
    const { inDoubt } = this.deps.ledger;
    if (!(await inDoubt.take(this.lease.priority, this.stopping.signal))) return undefined;
    let begun: MailInFlight | undefined;
    try {
      const begin = await this.writes.begin(this.askFor(mail));
      if (begin.verdict === 'held') this.tally('held');
      if (begin.verdict === 'suppressed') this.tally('failed');
      if (begin.verdict === 'go') begun = begin.mail;
      return begun;
    } finally {
      if (!begun) inDoubt.give();
    }
  }

  private async offer(mail: MailInFlight, composed: Composed, line: MailConnection): Promise<SendOutcome> {
    let outcome: SendOutcome;
    if ('kind' in composed) outcome = composed;
    else if (!this.lease.check()) outcome = { kind: 'unreachable', reason: 'the lease was lost' };
    else outcome = await line.send(composed);
    // Not waited for: the connection can take the next mail while the result is written.
    const result = this.record(mail, settle(mail, outcome)).finally(() => this.deps.ledger.inDoubt.give());
    // The round waits for all of them; until then it is nobody's unhandled failure.
    result.catch(() => {});
    this.results.push(result);
    return outcome;
  }

  private tell(outcome: SendOutcome): boolean {
    if (outcome.kind === 'unreachable') this.unreachable = outcome.reason;
    else this.exchanged = true;
    return outcome.kind !== 'unreachable';
  }

  /** Tries over a short outage of the database: what is known must not be forgotten. */
  private async record({ id, attempts }: MailInFlight, settlement: Settlement): Promise<void> {
    const deadline = Date.now() + RESULT_PATIENCE_MS;
    for (let pause = 50; ; pause = Math.min(pause * 2, 1_000)) {
      try {
        if (await this.writes.finish({ id, holder: this.lease, attempts, settlement })) this.count(settlement);
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await sleep(pause);
      }
    }
  }

  private count(...settlements: Settlement[]): void {
    for (const settlement of settlements) {
      const kind = resultKind(settlement);
      if (kind) this.tally(kind);
    }
  }

  private tally(kind: ResultKind): void {
    this.counts[kind]++;
    this.deps.onResult?.(kind);
  }
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

const textOf = (reason: unknown): string => (reason instanceof Error ? reason.message : String(reason));
