import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../db/connect.ts';
import { readSettings } from '../platform/settings.ts';
import { trackEvent } from '../services/events/track.ts';
import { createEndpoint } from '../services/webhooks/endpoints.ts';
import { atEnd } from '../test/support/cleanup.ts';
import { makeProject, type TestProject } from '../test/support/connected-database.ts';
import { insertWorkflow } from '../test/support/executions.ts';
import { startHttpReceiver } from '../test/support/http-receiver.ts';
import { startWorker } from '../test/support/processes.ts';
import { ownNamespace } from '../test/support/temporal-work.ts';
import { eventually } from '../test/support/waiting.ts';
import { type Measure, measure } from './bench.ts';
import { startSink } from './sink.ts';

const SLOW_PROJECTS = 5;
const SLOW_ENDPOINTS = 20;
const SLOW_MS = 14_000;
const HANGING_STEPS = 300;
const ROUNDS = 15;
const BETWEEN_ROUNDS_MS = 3_000;
/** The longest that a call may wait. */
const ALLOWED_SECONDS = 5;

/** The longest wait of a project's calls while others flood the worker with slow endpoints and hanging steps. */
export async function innocentCalls(db: Db, databaseUrl: string, progress: (line: string) => void): Promise<Measure[]> {
  const receiver = await startHttpReceiver();
  const mails = await startSink();
  const temporal = await ownNamespace();
  atEnd(() => temporal.close());
  const settings = readSettings({ WEBHOOK_ALLOWED_HOSTS: receiver.host });
  receiver.answer({ delayMs: SLOW_MS }, '/slow');
  receiver.answer({ instead: 'hang' }, '/hang');
  const track = (project: TestProject, person = 0) =>
    trackEvent(db, project.access, { email: `person${person}@example.com`, event: 'bought' });
  const addEndpoint = (project: TestProject, path: string) =>
    createEndpoint(db, project.access, { url: receiver.url + path, types: ['event.*'] }, settings);
  const addWorkflow = (project: TestProject, path: string) =>
    insertWorkflow(db, project, {
      steps: { call: ['WEBHOOK', { url: receiver.url + path }], out: ['EXIT'] },
      workflow: { triggerConfig: JSON.stringify({ eventName: 'bought' }) },
    });

  const innocent = await makeProject(db);
  await addEndpoint(innocent, '/endpoint');
  await addWorkflow(innocent, '/step');
  const slow: TestProject[] = [];
  for (let n = 0; n < SLOW_PROJECTS; n++) slow.push(await makeProject(db));
  for (const project of slow) for (let n = 0; n < SLOW_ENDPOINTS; n++) await addEndpoint(project, '/slow');
  const hanging = await makeProject(db);
  await addWorkflow(hanging, '/hang');
  const worker = await startWorker({
    DATABASE_URL: databaseUrl,
    SMTP_URL: mails.url,
    WEBHOOK_ALLOWED_HOSTS: receiver.host,
    LOG_LEVEL: 'warn',
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
  });

  const at = (path: string) => receiver.requests.filter((request) => request.path === path);
  for (let n = 0; n < HANGING_STEPS; n++) await track(hanging, n);
  await Promise.all(slow.map((project) => track(project)));
  // Before that, another project's execution waits for its start behind 300 others, not for a call.
  const begunSteps = async () => (await db('execution_steps').where({ projectId: hanging.id, type: 'WEBHOOK' })).length;
  await eventually(async () => at('/slow').length > 0 && (await begunSteps()) === HANGING_STEPS, {
    what: 'both floods',
  });
  const waits = { '/endpoint': [] as number[], '/step': [] as number[] };
  for (let round = 1; round <= ROUNDS; round++) {
    await Promise.all(slow.map((project) => track(project)));
    const tracked = Date.now();
    await track(innocent, round);
    for (const path of ['/endpoint', '/step'] as const) {
      await eventually(() => at(path).length === round, { what: 'a call beside the floods' });
      waits[path].push(((at(path).at(-1)?.receivedAt.getTime() ?? 0) - tracked) / 1_000);
    }
    progress(
      `innocent calls, round ${round} of ${ROUNDS}: ${waits['/endpoint'].at(-1)} s and ${waits['/step'].at(-1)} s`,
    );
    await sleep(BETWEEN_ROUNDS_MS);
  }
  await worker.stop();
  await receiver.stop();
  const row = (what: string, seconds: number[]) =>
    measure(`longest wait of ${what} beside floods (allowed: 5)`, 's', Math.max(...seconds), ALLOWED_SECONDS, '<= 1');
  return [row("another project's delivery", waits['/endpoint']), row("another project's step", waits['/step'])];
}
