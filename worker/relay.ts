import type { Db } from '../db/connect.ts';
import type { Listener } from '../db/listener.ts';
import { type OutboxQueue, queues } from '../db/models/outbox-queue.ts';
import { faultPoint } from '../platform/fault-points.ts';
import type { Logger } from '../platform/logger.ts';
import { processTimings, type Timings } from '../platform/timings.ts';
import { inSpan } from '../platform/tracing.ts';
import { releaseAllBlockedMail } from '../services/blocking/release.ts';
import { applyNotices } from '../services/emails/apply-notices.ts';
import { publishResults, RESULTS_PER_BATCH } from '../services/emails/publish-results.ts';
import { type ClaimedMessage, claimOutboxMessages, renewOutboxClaim } from '../services/outbox/claim.ts';
import { NO_PROJECT } from '../services/outbox/ids.ts';
import { type OutboxResults, resolveOutboxMessages } from '../services/outbox/resolve.ts';
import { type Complete, completeWebhookEvents } from '../services/webhooks/complete.ts';
import { expandWebhookEvents, signalWebhookEndpoints } from '../services/webhooks/expand.ts';
import { matchEvents } from '../services/workflows/match-events.ts';
import type { Temporal } from '../temporal/connection.ts';
import type { NamespaceOwner } from '../temporal/namespace-owner.ts';
import { type Order, sendToTemporal } from '../temporal/send.ts';
import type { IdleMode } from './idle-mode.ts';
import { Loop, type RoundResult } from './loop.ts';

export interface RelayOptions {
  db: Db;
  temporal: Temporal;
  /** Asked before the first message is sent: nothing is started in another installation's namespace. */
  owner?: Pick<NamespaceOwner, 'verify'>;
  /** Not started yet. */
  listener: Listener;
  log: Logger;
  /** Sent mail is recorded for billing. */
  billing?: boolean;
  /** Completes webhooks about resources. Without it they wait for another relay. */
  webhookResources?: Complete;
  idleMode?: IdleMode;
  timings?: Timings;
}

/** Postgres channel of `wake`. The payload is a comma-separated list of queues. */
export const WAKE_CHANNEL = 'everpost_wake';
const CLAIM_SIZE = 50;
const CONCURRENCY = 10;

/** Work in Postgres alone, which does not need Temporal. */
type PostgresLoop = 'results' | 'notices' | 'matches' | 'blocked' | 'webhooks';

/** Sends outbox messages to Temporal. Any number of workers may run one; they share the work. */
export class Relay {
  private readonly options: RelayOptions;
  private readonly timings: Timings;
  private readonly loops = new Map<OutboxQueue | PostgresLoop, Loop>();
  private sweptAt = Number.NEGATIVE_INFINITY;
  private reachable = true;

  constructor(options: RelayOptions) {
    this.options = options;
    this.timings = options.timings ?? processTimings;
    options.listener.on(WAKE_CHANNEL, (payload) => {
      const woken = payload.split(',');
      for (const queue of woken) this.loops.get(queue as OutboxQueue)?.wake();
      if (woken.includes('events')) this.loops.get('matches')?.wake();
    });
    options.listener.onReset(() => {
      for (const loop of this.loops.values()) loop.wake();
    });
  }

  start(): void {
    for (const queue of queues) this.loop(queue, () => this.round(queue));
    this.loop('blocked', () => this.blockedRound());
    this.loop('results', () => this.resultsRound());
    this.loop('notices', async () => ((await applyNotices(this.options.db)) > 0 ? 'more' : 'idle'));
    this.loop('matches', async () => ((await matchEvents(this.options.db)).events > 0 ? 'more' : 'idle'));
    this.loop('webhooks', () => this.webhooksRound());
  }

  private loop(name: OutboxQueue | PostgresLoop, round: () => Promise<RoundResult>): void {
    const { log, idleMode } = this.options;
    const { poll: idleMs, trouble: troubleMs } = this.timings.relay;
    this.loops.set(name, new Loop({ name: `relay ${name}`, round, idleMs, troubleMs, idleMode, log }));
  }

  /** Finishes the current rounds. */
  async stop(): Promise<void> {
    await Promise.all([...this.loops.values()].map((loop) => loop.stop()));
  }

  /** Leaves an incomplete batch of results to the next round: more are on their way. */
  private async resultsRound(): Promise<RoundResult> {
    const { db, billing } = this.options;
    return (await publishResults(db, RESULTS_PER_BATCH, { billing })) < RESULTS_PER_BATCH ? 'idle' : 'more';
  }

  private async webhooksRound(): Promise<RoundResult> {
    const { db, webhookResources } = this.options;
    const expanded = await expandWebhookEvents(db);
    await signalWebhookEndpoints(db);
    const completed = webhookResources ? await completeWebhookEvents(db, webhookResources) : 0;
    return completed + expanded > 0 ? 'more' : 'idle';
  }

  /** Releases blocked mail whose release was missed. */
  private async blockedRound(): Promise<RoundResult> {
    if (performance.now() - this.sweptAt < this.timings.relay.sweep) return 'idle';
    const released = await releaseAllBlockedMail(this.options.db);
    if (released > 0) this.options.log.info({ released }, 'released blocked mail');
    this.sweptAt = performance.now();
    return 'idle';
  }

  private async round(queue: OutboxQueue): Promise<RoundResult> {
    const { db, log } = this.options;
    const { claim, unreachable } = this.timings.outboxClaim;
    const messages = await claimOutboxMessages(db, queue, CLAIM_SIZE, claim);
    if (messages.length === 0) return 'idle';
    faultPoint('relay-claimed');
    const results = await this.sendAll(messages);
    faultPoint('relay-sent');
    const parked = await resolveOutboxMessages(db, results, unreachable);
    faultPoint('relay-resolved');
    for (const { id, error } of results.failed) {
      log.warn({ queue, outboxId: id, error, parked: parked.includes(id) }, 'outbox message failed');
    }
    this.logReachability(results);
    return results.unreachable.length > 0 && results.done.length === 0 ? 'trouble' : 'more';
  }

  /** Renews the claim meanwhile, so that it may be short: the messages of a relay that has died wait for seconds only. */
  private async sendAll(messages: ClaimedMessage[]): Promise<OutboxResults> {
    const results: OutboxResults = { done: [], failed: [], unreachable: [] };
    const ids = messages.map(({ id }) => id);
    const { claim, renew } = this.timings.outboxClaim;
    const renewal = setInterval(() => void renewOutboxClaim(this.options.db, ids, claim).catch(() => {}), renew);
    try {
      await this.options.owner?.verify();
      await this.sendClaimed(messages, results);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const untried = ids.filter((id) => !isResolved(results, id));
      results.unreachable.push(...untried.map((id) => ({ id, error: reason })));
    } finally {
      clearInterval(renewal);
    }
    return results;
  }

  private async sendClaimed(messages: ClaimedMessage[], results: OutboxResults): Promise<void> {
    const remaining = messages.values();
    const sendRemaining = async (): Promise<void> => {
      for (const message of remaining) {
        const [first] = results.unreachable;
        // Skips the others once Temporal is unreachable: each would wait for its own deadline.
        if (first) results.unreachable.push({ id: message.id, error: first.error });
        else await this.send(message, results);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, sendRemaining));
  }

  private async send({ id, ...message }: ClaimedMessage, results: OutboxResults): Promise<void> {
    const { action, workflowId } = message;
    // `<kind>/<project>/<row>/…`
    const row = workflowId.split('/')[2];
    const options = {
      ...(row && { row }),
      kind: 'producer',
      attributes: { 'everpost.workflow_id': workflowId },
    } as const;
    const result = await inSpan(`outbox ${action}`, options, () =>
      sendToTemporal(this.options.temporal, orderOf(message)),
    );
    if (result.done) results.done.push(id);
    else results[result.cause === 'message' ? 'failed' : 'unreachable'].push({ id, error: result.message });
  }

  private logReachability({ unreachable, done }: OutboxResults): void {
    const [first] = unreachable;
    if (first && this.reachable)
      this.options.log.warn({ error: first.error }, 'Temporal is unreachable; outbox messages wait');
    if (done.length > 0 && !this.reachable) this.options.log.info('Temporal is reachable again');
    this.reachable = first === undefined && (this.reachable || done.length > 0);
  }
}

const isResolved = ({ done, failed, unreachable }: OutboxResults, id: string): boolean =>
  done.includes(id) || [...failed, ...unreachable].some((message) => message.id === id);

function orderOf({ projectId, ...message }: Omit<ClaimedMessage, 'id'>): Order {
  const order = { args: [], ...message } as Order;
  return (order.action === 'start' || order.action === 'schedule') && projectId !== NO_PROJECT
    ? { ...order, projectId }
    : order;
}
