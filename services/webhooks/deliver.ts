import { setTimeout as sleep } from 'node:timers/promises';
import { WebhookEndpoint } from '../../db/models/webhook-endpoint.ts';
import { statement } from '../../db/statement.ts';
import { type CallShare, CallShares } from '../../platform/call-shares.ts';
import { faultPoint } from '../../platform/fault-points.ts';
import type { OutboundResponse } from '../../platform/http/outbound-http.ts';
import { processTimings, type Timings } from '../../platform/timings.ts';
import {
  type DueDelivery,
  dueDeliveries,
  nextDueDelivery,
  type StoredCallResult,
  writeResults,
} from './delivery-store.ts';
import {
  DISABLE_AFTER_MS,
  disableEndpoint,
  type FailingDeps,
  hasFailedFor,
  MAIL_AFTER_MS,
  mailAboutFailing,
} from './failing.ts';
import { REFRESH_MS, Receiver, type ReceiverDeps } from './receiver.ts';
import { bodyOf, callResultOf, retryDelayMs } from './request.ts';

export interface DeliverDeps extends FailingDeps, ReceiverDeps {
  /** Whether the process is sending much mail, which goes first. */
  isBusy?: () => boolean;
  timings?: Timings;
}

export interface EndpointRef {
  endpointId: string;
  generation: number;
}

/** What the endpoint's Temporal workflow does next; `until` is in milliseconds since 1970. */
export type NextDelivery = { kind: 'end' } | { kind: 'more' } | { kind: 'rest'; until: number };

/** How a slice ends early: `over` finishes the calls that have begun, `signal` breaks them off. */
export interface SliceControl {
  isOver(): boolean;
  signal?: AbortSignal;
  /** Those of the process; by default nothing else is called. */
  shares?: CallShares;
  /** How long a slice waits for more, so that a steady stream costs few Temporal operations. */
  lingerMs?: number;
}

const CALLS_AT_ONCE = 10;
const PAGE = 200;
/** Until a call succeeds: many slices may wait for receivers that hang, each with its page in memory. */
const FIRST_PAGE = 2 * CALLS_AT_ONCE;
const PREFETCH_BELOW = 150;
const FLUSH_AT = 400;
const MAX_UNWRITTEN = 800;
const FLUSH_MS = 200;
/** Calls with no success among them, after which a round ends. */
const MAX_FAILURES_IN_ROW = CALLS_AT_ONCE;
/** Calls a second of an endpoint while the process sends much mail: those that were not made follow when it is done. */
const RATE_WHEN_BUSY = 250;
const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const markDelivering = statement(
  'webhooks-mark-delivering',
  `update webhook_endpoints set delivering_until = now() + $3 * interval '1 millisecond'
   where id = $1 and generation = $2 and enabled`,
);
const clearDelivering = statement(
  'webhooks-clear-delivering',
  "update webhook_endpoints set delivering_until = '-infinity' where id = $1",
);

/**
 * Calls an endpoint for its due deliveries until none is left, it keeps failing, or the slice is over. Deliveries that were
 * called and not yet written when the process dies are called again, under the same webhook-id.
 */
export async function deliverSlice(deps: DeliverDeps, ref: EndpointRef, control: SliceControl): Promise<NextDelivery> {
  const { db, now, timings = processTimings } = deps;
  const endpoint = await currentEndpoint(deps, ref);
  if (!endpoint) return { kind: 'end' };
  if (!endpoint.enabled || isPaused(endpoint, now())) return decideNext(deps, ref, 0);
  const { id, projectId } = endpoint;
  const { shares = new CallShares(), signal } = control;
  const share = await shares.enter(projectId, id, signal);
  if (!share) return { kind: 'rest', until: now().getTime() + shares.returnDelayMs(projectId) };
  let calls = 0;
  try {
    const isCalled = await markDelivering.count(db, [id, ref.generation, timings.webhooks.delivering]);
    const present = isCalled > 0 ? await WebhookEndpoint.query(db).findById(id) : undefined;
    if (present) calls = await new Slice(deps, present, control, share).run();
  } finally {
    share.leave();
    // From here on new deliveries cause a signal; those from before are found below.
    await clearDelivering(db, [id]);
  }
  return decideNext(deps, ref, calls);
}

async function currentEndpoint({ db }: DeliverDeps, ref: EndpointRef): Promise<WebhookEndpoint | undefined> {
  return WebhookEndpoint.query(db).findOne({ id: ref.endpointId, generation: ref.generation });
}

const isPaused = ({ pausedUntil }: WebhookEndpoint, now: Date): boolean => pausedUntil !== null && pausedUntil > now;

async function decideNext(deps: DeliverDeps, ref: EndpointRef, calls: number): Promise<NextDelivery> {
  const now = deps.now();
  const { nextAt, retries } = await nextDueDelivery(deps.db, ref.endpointId, now);
  const failing = await currentEndpoint(deps, ref);
  if (failing?.enabled && hasFailedFor(failing, MAIL_AFTER_MS, now)) await mailAboutFailing(deps, failing.id);
  if (failing?.enabled && retries && hasFailedFor(failing, DISABLE_AFTER_MS, now))
    await disableEndpoint(deps, failing.id, 'failing');
  const endpoint = await currentEndpoint(deps, ref);
  if (!endpoint) return { kind: 'end' };
  if (!endpoint.enabled) return { kind: 'rest', until: now.getTime() + DAY_MS };
  const { failingSince, failureMailed, pausedUntil } = endpoint;
  const dueAt = Math.max(nextAt?.getTime() ?? Number.POSITIVE_INFINITY, pausedUntil?.getTime() ?? 0);
  // Without a call it rests, whatever is due: another clock may be ahead of this one.
  if (dueAt <= now.getTime() && calls > 0) return { kind: 'more' };
  const newsAt = failingSince ? failingSince.getTime() + (failureMailed ? DISABLE_AFTER_MS : MAIL_AFTER_MS) : 0;
  // Bounds the delay when a signal is lost.
  const times = [
    Math.max(dueAt, now.getTime() + SECOND_MS),
    now.getTime() + HOUR_MS,
    ...(newsAt > now.getTime() ? [newsAt] : []),
  ];
  return { kind: 'rest', until: Math.min(...times) };
}

/** One visit of an endpoint. Several calls are made at once; results are written in sets. */
class Slice {
  private readonly deps: DeliverDeps;
  private readonly receiver: Receiver;
  private readonly control: SliceControl;
  private readonly share: CallShare;
  private waiting: DueDelivery[] = [];
  private last: DueDelivery | undefined;
  private fetching: Promise<void> | undefined;
  private exhausted = false;
  private unwritten: StoredCallResult[] = [];
  private writing: Promise<void> = Promise.resolve();
  private writtenAt = performance.now();
  private nextCallAt = 0;
  private calls = 0;
  private failuresInRow = 0;
  private succeeded = false;
  private failed = false;
  private gone = false;
  private failingSince: Date | null;

  constructor(deps: DeliverDeps, endpoint: WebhookEndpoint, control: SliceControl, share: CallShare) {
    this.deps = deps;
    this.receiver = new Receiver(deps, endpoint, CALLS_AT_ONCE);
    this.control = control;
    this.share = share;
    this.failingSince = endpoint.failingSince;
  }

  /** Returns the number of calls. */
  async run(): Promise<number> {
    const { poll, linger } = (this.deps.timings ?? processTimings).webhooks;
    await this.fetch();
    if (this.waiting.length === 0) return 0;
    const breakOff = () => void this.receiver.close();
    this.control.signal?.addEventListener('abort', breakOff, { once: true });
    try {
      for (let foundAt = performance.now(); ; ) {
        const ends = await Promise.allSettled(Array.from({ length: CALLS_AT_ONCE }, () => this.callOneByOne()));
        await this.flush();
        for (const end of ends) if (end.status === 'rejected') throw end.reason;
        const onlyFailures = this.failed && !this.succeeded;
        if (this.isStopping() || onlyFailures || performance.now() - foundAt >= (this.control.lingerMs ?? linger))
          break;
        await sleep(poll);
        // From the start: earlier transactions may have committed later.
        this.last = undefined;
        this.exhausted = false;
        await this.fetch();
        if (this.waiting.length > 0) foundAt = performance.now();
      }
    } finally {
      this.control.signal?.removeEventListener('abort', breakOff);
      await this.receiver.close();
      await this.writeHealth();
    }
    if (this.gone) await disableEndpoint(this.deps, this.receiver.endpoint.id, 'gone');
    return this.calls;
  }

  private isStopping(): boolean {
    const isDead = this.gone || this.receiver.withdrawn || this.failuresInRow >= MAX_FAILURES_IN_ROW;
    return isDead || this.control.isOver() || this.share.shouldYield();
  }

  private async callOneByOne(): Promise<void> {
    const { receiver } = this;
    for (;;) {
      const delivery = this.waiting.length >= PREFETCH_BELOW ? this.waiting.shift() : await this.next();
      if (!delivery) return;
      await this.turn();
      const asked = performance.now();
      const preparing = receiver.prepare();
      if (preparing) await preparing;
      if (this.isStopping()) return;
      const startedAt = this.deps.now();
      const began = performance.now();
      const { response, isCurrent } = await receiver.call(delivery.eventId, startedAt, bodyOf(delivery));
      faultPoint('delivery-called');
      // With the lookup of its name, which may be what is slow.
      this.share.report(performance.now() - asked);
      // A call that was broken off has no result.
      if (this.control.signal?.aborted) return;
      this.record(delivery, response, startedAt, Math.round(performance.now() - began), isCurrent);
      if (this.unwritten.length > MAX_UNWRITTEN) await this.writing;
    }
  }

  /** Waits until the next call may begin at the endpoint's rate, which may change meanwhile. */
  private async turn(): Promise<void> {
    for (let interval = this.intervalMs(); interval > 0 && !this.isStopping(); interval = this.intervalMs()) {
      const now = performance.now();
      const at = Math.max(this.nextCallAt, now);
      if (at - now > REFRESH_MS) {
        await sleep(REFRESH_MS);
        await this.receiver.prepare();
        continue;
      }
      this.nextCallAt = at + interval;
      if (at > now) await sleep(at - now);
      return;
    }
  }

  /** Returns the time between two calls; 0 without a limit. */
  private intervalMs(): number {
    const own = this.receiver.endpoint.ratePerSecond ?? Number.POSITIVE_INFINITY;
    return 1_000 / Math.min(own, this.deps.isBusy?.() ? RATE_WHEN_BUSY : Number.POSITIVE_INFINITY);
  }

  private async next(): Promise<DueDelivery | undefined> {
    if (this.isStopping()) return undefined;
    if (this.waiting.length < (this.succeeded ? PREFETCH_BELOW : 1) && !this.exhausted) {
      const fetching = this.fetch();
      if (this.waiting.length === 0) await fetching;
      // The caller that needs the rows sees the error.
      else fetching.catch(() => {});
    }
    return this.waiting.shift();
  }

  private fetch(): Promise<void> {
    this.fetching ??= this.fetchPage().finally(() => {
      this.fetching = undefined;
    });
    return this.fetching;
  }

  private async fetchPage(): Promise<void> {
    const { db, now } = this.deps;
    const size = this.succeeded ? PAGE : FIRST_PAGE;
    const page = await dueDeliveries(db, this.receiver.endpoint.id, now(), size, this.last);
    this.waiting.push(...page);
    this.last = page.at(-1) ?? this.last;
    this.exhausted = page.length < size;
  }

  private record(
    delivery: DueDelivery,
    response: OutboundResponse,
    startedAt: Date,
    durationMs: number,
    isCurrent: boolean,
  ): void {
    this.calls++;
    const now = this.deps.now();
    const { delivered, gone, statusCode, error, answer, retryAfterMs } = callResultOf(response, now);
    const { id, createdAt, attempts, attemptsBefore } = delivery;
    const delayMs = delivered ? undefined : retryDelayMs(attempts + 1 - attemptsBefore, retryAfterMs);
    const retried = delayMs !== undefined;
    this.unwritten.push({
      id,
      createdAt,
      attempts,
      status: delivered ? 'DELIVERED' : retried ? 'PENDING' : 'FAILED',
      nextAttemptAt: retried ? new Date(now.getTime() + delayMs) : null,
      statusCode,
      error,
      deliveredAt: delivered ? now : null,
      attempt: { number: attempts + 1, startedAt, durationMs, statusCode, error, answer },
    });
    // What an address answers that the endpoint has left says nothing about it.
    if (isCurrent && delivered) this.countSuccess();
    else if (isCurrent) this.countFailure(startedAt);
    if (isCurrent && gone) this.gone = true;
    if (this.unwritten.length >= FLUSH_AT || performance.now() - this.writtenAt > FLUSH_MS) void this.flush();
  }

  private countSuccess(): void {
    this.succeeded = true;
    this.failuresInRow = 0;
    this.failingSince = null;
  }

  private countFailure(at: Date): void {
    this.failed = true;
    this.failuresInRow++;
    this.failingSince ??= at;
  }

  /** One write at a time. An error reaches the next caller that waits. */
  private flush(): Promise<void> {
    this.writtenAt = performance.now();
    const write = this.writing.then(async () => {
      const results = this.unwritten;
      if (results.length === 0) return;
      this.unwritten = [];
      await writeResults(this.deps.db, results);
      faultPoint('delivery-written');
    });
    this.writing = write;
    write.catch(() => {});
    return write;
  }

  /** A round without a success is followed by a pause, so that a dead receiver takes little time from others. */
  private async writeHealth(): Promise<void> {
    const { db, now } = this.deps;
    const { id, failedRounds, failingSince } = this.receiver.endpoint;
    const isSame = failingSince?.getTime() === this.failingSince?.getTime();
    if (isSame && !this.failed && failedRounds === 0) return;
    const rounds = this.failed && !this.succeeded ? failedRounds + 1 : 0;
    await WebhookEndpoint.query(db)
      .findById(id)
      .patch({
        failingSince: this.failingSince,
        ...(this.failingSince === null && { failureMailed: false }),
        failedRounds: rounds,
        pausedUntil: rounds > 1 ? new Date(now().getTime() + pauseMs(rounds)) : null,
      });
  }
}

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

/** The first failed round has no pause: its deliveries are retried after five seconds. */
const pauseMs = (rounds: number): number => Math.min(FIRST_PAUSE_MS * 2 ** (rounds - 2), LONGEST_PAUSE_MS);
