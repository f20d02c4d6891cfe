import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectDb, type Db } from '../db/connect.ts';
import { Listener } from '../db/listener.ts';
import { migrate } from '../db/migrate.ts';
import { freePort } from '../dev/ports.ts';
import { startPostgres } from '../dev/postgres.ts';
import { root } from '../dev/root.ts';
import { trackEvent } from '../services/events/track.ts';
import { createTemplate } from '../services/templates/save.ts';
import { matchEvents } from '../services/workflows/match-events.ts';
import type { Temporal } from '../temporal/connection.ts';
import { openRuns } from '../temporal/open-runs.ts';
import { taskQueues } from '../temporal/task-queues.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import { makeProject, type TestProject } from '../test/support/connected-database.ts';
import { insertWorkflow } from '../test/support/executions.ts';
import { testKeys } from '../test/support/keys.ts';
import { testLinks } from '../test/support/links.ts';
import { testRenderer } from '../test/support/renderer.ts';
import { ownNamespace, silent, temporalSettings } from '../test/support/temporal-work.ts';
import { eventually } from '../test/support/waiting.ts';
import { cachedBundle } from '../worker/bundle.ts';
import { Relay } from '../worker/relay.ts';
import { executionsQueueOptions, workflowsQueueOptions } from '../worker/task-queue-options.ts';
import { TemporalWorkers } from '../worker/temporal-workers.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';

const SCALE = Number(process.env.EVERPOST_BENCH_SCALE ?? 1);
const sized = (count: number): number => Math.max(20, Math.round(count * SCALE));
const EXECUTIONS = sized(1_000);
const WAITING = sized(10_000);
const TRACKED = sized(5_000);
const ROUNDS = 3;
const MANY = 'one of many';
/** The concurrency of the relay. */
const CONCURRENCY = 10;
const OPEN = 'WorkflowType IN ("bare", "bareWait", "execution") AND ExecutionStatus = "Running"';
const TIMEOUT = { timeoutMs: 3_600_000 };

interface Engine {
  db: Db;
  temporal: Temporal;
  project: TestProject;
  /** Returns how often the bare activity has run. */
  done: () => number;
}

export const workflowsBench: Bench = {
  name: 'workflows',
  about:
    'executions compared with bare Temporal workflows with one no-op activity; waits and triggers as they become many',
  async run(progress) {
    const engine = await startEngine();
    return [
      await throughput(engine, progress),
      ...(await resuming(engine, progress)),
      ...(await triggering(engine, progress)),
    ];
  },
};

async function startEngine(): Promise<Engine> {
  const postgres = await startPostgres({
    dataDir: join(runDirectory(), 'bench-workflows'),
    port: await freePort(),
    database: 'everpost',
    logFile: join(runDirectory(), 'bench-workflows.log'),
  });
  atEnd(() => postgres.stop());
  await migrate(postgres.url);
  const db = connectDb({ databaseUrl: postgres.url, poolSize: 40 });
  const temporal = await ownNamespace();
  let done = 0;
  const advanceDeps = { db, renderer: testRenderer(), links: testLinks, now: () => new Date(), keys: testKeys };
  const workers = new TemporalWorkers({
    settings: temporalSettings(temporal.address, temporal.namespace),
    temporal,
    duties: [
      {
        ...(await workflowsQueueOptions(advanceDeps)),
        workflowBundle: await cachedBundle(join(root, 'bench/bare-workflows.ts')),
      },
      executionsQueueOptions({ ...advanceDeps, temporalSide: openRuns(temporal) }),
      {
        taskQueue: 'bare',
        activities: { nothing: async () => void done++ },
        maxConcurrentActivityTaskExecutions: 20,
        maxConcurrentActivityTaskPolls: 4,
      },
    ],
    log: silent,
  });
  const listener = new Listener({ databaseUrl: postgres.url, log: silent });
  const relay = new Relay({ db, temporal, listener, log: silent });
  relay.start();
  await listener.start();
  atEnd(async () => {
    await Promise.all([relay.stop(), workers.stop()]);
    await listener.stop();
    await db.destroy();
  });
  return { db, temporal, project: await makeProject(db), done: () => done };
}

/** Runs `work` for each number, several at a time. */
async function runConcurrently(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  const rest = Array.from({ length: count }, (_, n) => n).values();
  const worker = async () => {
    for (const n of rest) await work(n);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

const perSecond = async (count: number, work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now();
  await work();
  return (count / (performance.now() - started)) * 1_000;
};

async function throughput(engine: Engine, progress: (line: string) => void): Promise<Measure> {
  const { db, project } = engine;
  const template = await createTemplate(db, project.access, {
    name: 'Bench',
    subject: 'Hello',
    body: '<p>Hello {{ email }}</p>',
    type: 'MARKETING',
    from: { email: `bench@${project.senderDomain}` },
  });
  const workflow = await insertWorkflow(db, project, {
    steps: {
      change: ['UPDATE_CONTACT', { data: { seen: true } }],
      ask: ['CONDITION', { field: 'data.seen', operator: 'equals', value: true }],
      send: ['SEND_EMAIL', { templateId: template.id }],
      out: ['EXIT', { reason: 'done' }],
    },
    arrows: ['change -> ask', 'ask -yes-> send', 'send -> out'],
    workflow: { triggerConfig: JSON.stringify({ eventName: 'go' }) },
  });
  const rates: { ours: number[]; bare: number[] } = { ours: [], bare: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    const bare = await perSecond(EXECUTIONS, () => runBare(engine, round));
    const ours = await perSecond(EXECUTIONS, () => runExecutions(engine, workflow.id, round));
    progress(`round ${round} of ${ROUNDS}: ${ours.toFixed(1)} executions, ${bare.toFixed(1)} bare workflows a second`);
    // The first round is a warm-up.
    if (round === 0) continue;
    rates.bare.push(bare);
    rates.ours.push(ours);
  }
  return measure('executions of four steps', 'executions/s', median(rates.ours), median(rates.bare), '>= 0.8');
}

async function runBare({ temporal, done }: Engine, round: number): Promise<void> {
  const goal = done() + EXECUTIONS;
  await runConcurrently(EXECUTIONS, (n) =>
    temporal.client.workflow.start('bare', {
      workflowId: `bare/${round}/${n}`,
      taskQueue: taskQueues.workflows,
      args: [],
    }),
  );
  await eventually(() => done() >= goal, TIMEOUT);
  await closed(temporal);
}

async function runExecutions({ db, temporal, project }: Engine, workflowId: string, round: number): Promise<void> {
  await runConcurrently(EXECUTIONS, (n) =>
    trackEvent(db, project.access, { email: `go${round}.${n}@example.com`, event: 'go' }),
  );
  const goal = EXECUTIONS * (round + 1);
  await eventually(async () => (await countOf(db, { workflowId, status: 'EXITED' })) >= goal, TIMEOUT);
  await closed(temporal);
}

/** Waits until Temporal has closed all workflows. */
const closed = (temporal: Temporal) =>
  eventually(async () => (await temporal.client.workflow.count(OPEN)).count === 0, TIMEOUT);

async function countOf(db: Db, where: object): Promise<number> {
  const [row] = await db('executions').where(where).count();
  return Number(row?.count);
}

/**
 * Measures whether an event costs more when many executions wait: a quarter of them, all, and a quarter again, because
 * machines change. Then the same with bare workflows that wait for a signal, which shows the share of Temporal.
 */
async function resuming(engine: Engine, progress: (line: string) => void): Promise<Measure[]> {
  const few = Math.round(WAITING / 4);
  const growth = async (cost: (count: number, name: string) => Promise<number>) => {
    const before = await cost(few, 'before');
    const many = await cost(WAITING, 'many');
    const after = await cost(few, 'after');
    return { many, few: (before + after) / 2 };
  };
  const ours = await growth((count, name) => resume(engine, count, name, progress));
  const bare = await growth((count, name) => resumeBare(engine, count, name, progress));
  return [
    measure(
      `an event for each of ${WAITING} that wait, to a quarter of them`,
      'ms/event',
      ours.many,
      ours.few,
      '<= 1.2',
    ),
    measure('a signal for as many bare workflows that wait, to a quarter', 'ms/signal', bare.many, bare.few),
  ];
}

async function resumeBare({ temporal }: Engine, count: number, name: string, progress: (line: string) => void) {
  const idOf = (n: number) => `bareWait/${name}/${n}`;
  const { workflow } = temporal.client;
  await runConcurrently(count, (n) =>
    workflow.start('bareWait', { workflowId: idOf(n), taskQueue: taskQueues.workflows, args: [] }),
  );
  progress(`${count} bare workflows wait`);
  const rate = await perSecond(count, async () => {
    await runConcurrently(count, (n) => workflow.getHandle(idOf(n)).signal('resume'));
    await closed(temporal);
  });
  progress(`all ${count} bare ones resumed, ${rate.toFixed(1)} a second`);
  return 1_000 / rate;
}

/** Returns the milliseconds per execution. */
async function resume(
  { db, temporal, project }: Engine,
  count: number,
  name: string,
  progress: (line: string) => void,
): Promise<number> {
  const workflow = await insertWorkflow(db, project, {
    steps: { wait: ['WAIT_FOR_EVENT', { eventName: `returned ${name}` }] },
    workflow: { triggerConfig: JSON.stringify({ eventName: `left ${name}` }) },
  });
  const track = (event: string) =>
    runConcurrently(count, (n) => trackEvent(db, project.access, { email: `wait${n}@example.com`, event }));
  // Counting thousands of rows costs time too.
  const all = async (status: string) => {
    while ((await countOf(db, { workflowId: workflow.id, status })) < count) await sleep(500);
  };
  await track(`left ${name}`);
  await all('WAITING');
  progress(`${count} executions wait`);
  const rate = await perSecond(count, async () => {
    await track(`returned ${name}`);
    await all('COMPLETED');
    await closed(temporal);
  });
  progress(`all ${count} resumed, ${rate.toFixed(1)} a second`);
  return 1_000 / rate;
}

/** Measures what 200 enabled workflows cost tracking and matching. */
async function triggering({ db, project }: Engine, progress: (line: string) => void): Promise<Measure[]> {
  const track = (event: string) =>
    perSecond(TRACKED, () =>
      runConcurrently(TRACKED, (n) => trackEvent(db, project.access, { email: `many${n}@example.com`, event })),
    );
  for (let n = 0; n < 200; n++)
    await insertWorkflow(db, project, {
      steps: { out: ['EXIT'] },
      workflow: { triggerConfig: JSON.stringify({ eventName: `triggered ${n}` }), description: MANY },
    });
  const rates: Record<'alone' | 'untriggered' | 'triggered', number[]> = { alone: [], untriggered: [], triggered: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    await db('workflows').where({ description: MANY }).update({ enabled: false });
    const alone = await track('untriggered');
    await db('workflows').where({ description: MANY }).update({ enabled: true });
    const untriggered = await track('untriggered');
    const triggered = await track(`triggered ${round}`);
    await eventually(async () => (await matchEvents(db)).events === 0, TIMEOUT);
    progress(`round ${round} of ${ROUNDS}: ${TRACKED} events tracked with 200 workflows enabled, and with none`);
    if (round === 0) continue;
    rates.alone.push(alone);
    rates.untriggered.push(untriggered);
    rates.triggered.push(triggered);
  }
  const alone = median(rates.alone);
  const untriggered = median(rates.untriggered);
  const triggered = median(rates.triggered);
  return [
    measure('tracking an event that triggers none of 200 workflows', 'events/s', untriggered, alone, '>= 0.9'),
    measure('tracking an event that triggers one of 200 workflows', 'events/s', triggered, alone, '>= 0.7'),
  ];
}
