// Collects the results of the mails of a slice, and retries writing them while the database is unavailable.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import type { SendOutcome } from '../../platform/smtp/mailer.ts';
import { finishAll } from '../emails/delivery-ledger.ts';
import { type ResultKind, resultKind, settle } from '../emails/delivery-settlement.ts';
import type { booker } from './book.ts';
import type { BegunMail } from './lane.ts';
import type { RecipientSource, SourcedMail } from './source.ts';
import type { Teller, ToldEnd, Turns } from './turns.ts';

/** A result that is known is worth this much waiting for the database: given up, it becomes an unknown outcome. */
const PATIENCE_MS = 60_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [50, 1_000];

export interface Ended extends ToldEnd<Ended> {
  sourced: SourcedMail;
  /** Where it was not heard at once. */
  again?: { until: number; pauseMs: number };
}

/** What results use of the sender. */
export interface ResultsSender {
  readonly deps: { db: Db; onResult?: (kind: ResultKind) => void };
  readonly turns: Turns<Ended>;
  readonly book: ReturnType<typeof booker>;
}

export interface ResultsOptions {
  sender: ResultsSender;
  /** Of the campaign. */
  from: string;
  source: RecipientSource;
  onFailure: (error: unknown) => void;
}

/** What comes of the mails of a slice. Told as it comes; a connection takes the next mail while it is written. */
export class Results implements Teller<Ended> {
  private readonly options: ResultsOptions;
  /** Told, and not heard yet. */
  private open = 0;
  private allHeard: (() => void) | undefined;
  private readonly chores = new Set<Promise<unknown>>();
  private failure: { error: unknown } | undefined;

  constructor(options: ResultsOptions) {
    this.options = options;
  }

  tell({ sourced, mail }: BegunMail, outcome: SendOutcome): void {
    this.open++;
    const { id, attempts } = mail;
    const settlement = settle(mail, outcome);
    this.options.sender.turns.end({ id, attempts, settlement, holder: sourced.batch.lease, sourced, teller: this });
  }

  /** Waits for all that was told. Throws the first failure. */
  async all(): Promise<void> {
    if (this.open > 0)
      await new Promise<void>((resolve) => {
        this.allHeard = resolve;
      });
    while (this.chores.size > 0) await Promise.all(this.chores);
    if (this.failure) throw this.failure.error;
  }

  heard(ends: Ended[], late: Set<string>): void {
    this.follow(this.book(late.size > 0 ? ends.filter(({ id }) => !late.has(id)) : ends));
    for (const end of ends) if (late.has(end.id)) this.follow(this.tellLate(end));
    this.close(ends.length);
  }

  unheard(ends: Ended[], error: unknown): void {
    this.follow(this.tellAgain(ends, error));
  }

  private close(count: number): void {
    this.open -= count;
    if (this.open === 0) this.allHeard?.();
  }

  /** It is no longer ours to send. */
  passOver(sourced: SourcedMail): void {
    const finished = this.options.source.done(sourced);
    if (finished) this.follow(finished);
  }

  /** Waited for along with the results. */
  follow(work: Promise<unknown>): void {
    const chore = work
      .catch((error) => {
        this.failure ??= { error };
        this.options.onFailure(error);
      })
      .finally(() => this.chores.delete(chore));
    this.chores.add(chore);
  }

  private async book(ends: Ended[]): Promise<void> {
    const { sender, from } = this.options;
    for (const end of ends) this.count(end);
    // They are known, and nothing is lost when this fails: whoever looks after the wire will do it.
    await sender.book(ends.map(({ id }) => ({ id, from }))).catch(() => {});
    await this.done(ends);
  }

  /** What somebody else has booked as unknown: that it has arrived after all is still worth knowing. */
  private async tellLate(end: Ended): Promise<void> {
    const [heard] = await patiently(() => finishAll(this.options.sender.deps.db, [end]));
    if (heard) this.count(end);
    await this.done([end]);
  }

  private async tellAgain(ends: Ended[], error: unknown): Promise<void> {
    const { turns } = this.options.sender;
    for (const end of ends) end.again ??= { until: Date.now() + PATIENCE_MS, pauseMs: FIRST_PAUSE_MS / 2 };
    const again = ends.flatMap(({ again }) => again ?? []);
    if (again.some(({ until }) => until < Date.now())) {
      turns.giveUp(ends.length);
      this.close(ends.length);
      throw error;
    }
    for (const each of again) each.pauseMs = Math.min(each.pauseMs * 2, LONGEST_PAUSE_MS);
    await sleep(Math.max(...again.map(({ pauseMs }) => pauseMs)));
    for (const end of ends) turns.end(end);
  }

  private count({ settlement }: Ended): void {
    const kind = resultKind(settlement);
    if (kind) this.options.sender.deps.onResult?.(kind);
  }

  private async done(ends: Ended[]): Promise<void> {
    await Promise.all(ends.flatMap(({ sourced }) => this.options.source.done(sourced) ?? []));
  }
}

/** Tries over a short outage of the database: what is known must not be forgotten. */
async function patiently<T>(write: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await write();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(pause);
    }
  }
}
