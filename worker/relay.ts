import type { Db } from '../db/connect.ts';
import type { Listener } from '../db/listener.ts';
import { type OutboxQueue, queues } from '../db/models/outbox-row.ts';
import { newId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import { releaseAllBlockedMail } from '../services/blocking/release.ts';
import { tidyWire } from '../services/campaigns/book.ts';
import { applyNotices } from '../services/emails/apply-notices.ts';
import { takeApartStale } from '../services/emails/delivery-batch.ts';
import { foldDueMail, foldedPriorities } from '../services/emails/fold.ts';
import { publishResults, RESULTS_PER_BATCH } from '../services/emails/publish-results.ts';
import { type ClaimedMessage, claimOutboxMessages } from '../services/outbox/claim.ts';
import { NO_PROJECT } from '../services/outbox/ids.ts';
import { resolveOutboxMessages, type Settlement } from '../services/outbox/resolve.ts';
import { matchEvents } from '../services/workflows/match-events.ts';
import { carryOut, type Order } from '../temporal/carry-out.ts';
import type { Temporal } from '../temporal/connection.ts';
import { Loop, type Pace } from './loop.ts';

export interface RelayOptions {
  db: Db;
  temporal: Temporal;
  /** Not started yet. */
  listener: Listener;
  log: Logger;
  /** Mail that is sent is noted for it. */
  billing?: boolean;
}

/** The channel of `wake`; the payload is a comma list of queues. */
const WAKE_CHANNEL = 'everpost_wake';
const CLAIM = 50;
const CONCURRENCY = 10;
const IDLE_MS = 1_000;
const TROUBLE_MS = 5_000;
const SWEEP_MS = 60_000;
const TIDY_MS = 5_000;

/** What happens in Postgres alone, Temporal away or not. */
type Chore = 'results' | 'notices' | 'matches';

/** Carries what is written down in Postgres over to Temporal. Every worker may have one; they share the work. */
export class Relay {
  private readonly options: RelayOptions;
  private readonly loops = new Map<OutboxQueue | Chore, Loop>();
  private sweptAt = Number.NEGATIVE_INFINITY;
  private tidiedAt = Number.NEGATIVE_INFINITY;
  private reachable = true;

  constructor(options: RelayOptions) {
    this.options = options;
    options.listener.on(WAKE_CHANNEL, (payload) => {
      const named = payload.split(',');
      for (const queue of named) this.loops.get(queue as OutboxQueue)?.wake();
      // A batch that ends asks for more mail, and leaves results behind.
      if (named.includes('mail')) this.loops.get('results')?.wake();
      if (named.includes('events')) this.loops.get('matches')?.wake();
    });
    options.listener.onReset(() => {
      for (const loop of this.loops.values()) loop.wake();
    });
  }

  start(): void {
    for (const queue of queues) this.loop(queue, () => (queue === 'mail' ? this.mailRound() : this.round(queue)));
    this.loop('results', () => this.resultsRound());
    this.loop('notices', async () => ((await applyNotices(this.options.db)) > 0 ? 'more' : 'idle'));
    this.loop('matches', async () => ((await matchEvents(this.options.db)).events > 0 ? 'more' : 'idle'));
  }

  private loop(name: OutboxQueue | Chore, round: () => Promise<Pace>): void {
    const { log } = this.options;
    this.loops.set(name, new Loop({ name: `relay ${name}`, round, idleMs: IDLE_MS, troubleMs: TROUBLE_MS, log }));
  }

  /** What is being carried out is finished. */
  async stop(): Promise<void> {
    await Promise.all([...this.loops.values()].map((loop) => loop.stop()));
  }

  /** Few results are left for the next wake-up, by a batch that ends: the next ones come along. */
  private async resultsRound(): Promise<Pace> {
    const { db, billing } = this.options;
    if (performance.now() - this.tidiedAt > TIDY_MS) {
      await tidyWire(db);
      this.tidiedAt = performance.now();
    }
    return (await publishResults(db, RESULTS_PER_BATCH, { billing })) < RESULTS_PER_BATCH ? 'idle' : 'more';
  }

  /** For mail the due row of the ledger is the intent; it is folded into batches here. */
  private async mailRound(): Promise<Pace> {
    const { db, log } = this.options;
    if (performance.now() - this.sweptAt > SWEEP_MS) {
      const batches = await takeApartStale(db, newId());
      if (batches > 0) log.warn({ batches }, 'took stale batches of mail apart');
      const released = await releaseAllBlockedMail(db);
      if (released > 0) log.info({ released }, 'mail that was held may leave');
      this.sweptAt = performance.now();
    }
    let folded = 0;
    for (const priority of foldedPriorities) folded += await foldDueMail(db, priority);
    const pace = await this.round('mail');
    return pace === 'idle' && folded > 0 ? 'more' : pace;
  }

  private async round(queue: OutboxQueue): Promise<Pace> {
    const { db, log } = this.options;
    const intents = await claimOutboxMessages(db, queue, CLAIM);
    if (intents.length === 0) return 'idle';
    const settlement = await this.carryOutAll(intents);
    const parked = await resolveOutboxMessages(db, settlement);
    for (const { id, error } of settlement.failed) {
      log.warn({ queue, outboxId: id, error, parked: parked.includes(id) }, 'an intent could not be carried out');
    }
    this.tellReachable(settlement);
    return settlement.unreachable.length > 0 && settlement.done.length === 0 ? 'trouble' : 'more';
  }

  private async carryOutAll(intents: ClaimedMessage[]): Promise<Settlement> {
    const settlement: Settlement = { done: [], failed: [], unreachable: [] };
    const rest = intents.values();
    const hand = async (): Promise<void> => {
      for (const intent of rest) {
        const [first] = settlement.unreachable;
        // Where one cannot get through the others need not try: each would wait for its own deadline.
        if (first) settlement.unreachable.push({ id: intent.id, error: first.error });
        else await this.carryOutOne(intent, settlement);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, hand));
    return settlement;
  }

  private async carryOutOne({ id, ...intent }: ClaimedMessage, settlement: Settlement): Promise<void> {
    const verdict = await carryOut(this.options.temporal, orderOf(intent));
    if (verdict.done) settlement.done.push(id);
    else settlement[verdict.fault === 'order' ? 'failed' : 'unreachable'].push({ id, error: verdict.message });
  }

  private tellReachable({ unreachable, done }: Settlement): void {
    const [first] = unreachable;
    if (first && this.reachable)
      this.options.log.warn({ error: first.error }, 'Temporal cannot be reached; work waits');
    if (done.length > 0 && !this.reachable) this.options.log.info('Temporal is back');
    this.reachable = first === undefined && (this.reachable || done.length > 0);
  }
}

function orderOf({ projectId, ...intent }: Omit<ClaimedMessage, 'id'>): Order {
  const order = { args: [], ...intent } as Order;
  return (order.action === 'start' || order.action === 'schedule') && projectId !== NO_PROJECT
    ? { ...order, projectId }
    : order;
}
