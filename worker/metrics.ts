import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Db } from '../db/connect.ts';
import { queues } from '../db/models/outbox-queue.ts';
import { EVENT_LOOP_SAMPLE_MS } from '../platform/probes.ts';
import { type MailBacklog, mailBacklog } from '../services/emails/backlog.ts';
import { noticesWaiting } from '../services/emails/notices.ts';
import { listStuckWorkflows } from '../services/operators/stuck-workflows.ts';
import { outboxDepth, type QueueDepth } from '../services/outbox/depth.ts';
import { type ResultKind, resultKinds } from '../services/sending/outcome.ts';

export interface WorkerMetrics {
  registry: Registry;
  countResult(kind: ResultKind): void;
  countQuarantined(): void;
}

/** Backlogs are read from the database on each scrape, so every worker reports the same values. */
export function createWorkerMetrics(db: Db): WorkerMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  outboxGauges(
    registry,
    shared(() => outboxDepth(db)),
  );
  mailGauges(
    registry,
    shared(() => mailBacklog(db)),
  );
  new Gauge({
    name: 'everpost_notices_waiting',
    help: 'Opens, clicks and notices of providers that are not recorded yet.',
    registers: [registry],
    async collect() {
      this.reset();
      const count = await noticesWaiting(db).catch(() => undefined);
      if (count !== undefined) this.set(count);
    },
  });
  new Gauge({
    name: 'everpost_stuck_workflows',
    help: 'Temporal workflows whose task fails again and again; "everpost workflows heal" starts them anew.',
    registers: [registry],
    async collect() {
      this.reset();
      const stuck = await listStuckWorkflows(db, 1).catch(() => undefined);
      if (stuck) this.set(stuck.count);
    },
  });
  const results = new Counter({
    name: 'everpost_mail_results_total',
    help: 'Mails of this process by result.',
    labelNames: ['result'],
    registers: [registry],
  });
  for (const kind of resultKinds) results.inc({ result: kind }, 0);
  const quarantined = new Counter({
    name: 'everpost_mail_quarantined_total',
    help: 'Mails of this process that failed because composing them was cut off twice.',
    registers: [registry],
  });
  return {
    registry,
    countResult: (kind) => results.inc({ result: kind }),
    countQuarantined: () => quarantined.inc(),
  };
}

type SharedQuery<T> = () => Promise<T | undefined>;

/** Lets the gauges of one scrape share a query. Returns undefined without a database, so that other metrics still work. */
function shared<T>(query: () => Promise<T>): SharedQuery<T> {
  let result: Promise<T | undefined> | undefined;
  let queriedAt = 0;
  return () => {
    if (!result || performance.now() - queriedAt > 500) {
      result = query().catch(() => undefined);
      queriedAt = performance.now();
    }
    return result;
  };
}

function outboxGauges(registry: Registry, query: SharedQuery<QueueDepth[]>): void {
  new Gauge({
    name: 'everpost_outbox_rows',
    help: 'Rows of the outbox by queue; parked ones wait for an operator.',
    labelNames: ['queue', 'state'],
    registers: [registry],
    async collect() {
      this.reset();
      const depths = await query();
      for (const queue of depths ? queues : []) {
        const depth = depths?.find((one) => one.queue === queue);
        this.set({ queue, state: 'waiting' }, depth?.waiting ?? 0);
        this.set({ queue, state: 'parked' }, depth?.parked ?? 0);
      }
    },
  });
  new Gauge({
    name: 'everpost_outbox_oldest_seconds',
    help: 'Age of the oldest waiting row of a queue.',
    labelNames: ['queue'],
    registers: [registry],
    async collect() {
      this.reset();
      const depths = await query();
      for (const queue of depths ? queues : []) {
        this.set({ queue }, depths?.find((one) => one.queue === queue)?.oldest ?? 0);
      }
    },
  });
}

function mailGauges(registry: Registry, query: SharedQuery<MailBacklog>): void {
  new Gauge({
    name: 'everpost_mail',
    help: 'Unfinished mail: due, due later, leased by a sender, in flight.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      this.reset();
      const { oldest: _, ...counts } = (await query()) ?? { oldest: 0 };
      for (const [state, count] of Object.entries(counts)) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'everpost_mail_oldest_seconds',
    help: 'How long the oldest unsent mail has been due.',
    registers: [registry],
    async collect() {
      this.reset();
      const backlog = await query();
      if (backlog) this.set(backlog.oldest);
    },
  });
}
