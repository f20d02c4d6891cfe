// What an installation costs while nothing happens: a large one compared with an empty one, and one process with two.
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../dev/root.ts';
import { type Bench, measure, median } from './bench.ts';
import { processorTimes, untilIdle } from './processor-time.ts';
import { residentMegabytes } from './resident-memory.ts';
import { tree } from './segments-questions.ts';
import { call, type Stack, startWhole } from './whole-stack.ts';

const SCALE = Number(process.env.EVERPOST_BENCH_SCALE ?? 1);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const CONTACTS = Math.max(1_000, Math.round(1_000_000 * SCALE));
const SEGMENTS = Math.max(10, Math.round(200 * SCALE));
/** Every so many segments, one depends on time, so that the minute sweep runs. */
const TIMED_EVERY = 20;
const EXECUTIONS = Math.max(10, Math.round(1_000 * SCALE));
const AT_ONCE = 10;
/** Contains a sweep of segments and several beats of every loop. */
const WINDOW_MS = 65_000;

/** Long enough for everything that ends or slows down without work. */
const IDLE_MINUTES = Number(process.env.BENCH_MINUTES ?? 10);

type Usage = Record<string, number>;
/** API and worker, in processes of their own or in one. */
const OURS = ['api', 'worker', 'serve'];

export const idleBench: Bench = {
  name: 'idle',
  about: `processor time and memory after ${IDLE_MINUTES} idle minutes: with ${CONTACTS} contacts, ${SEGMENTS} tracked segments and ${EXECUTIONS} waiting executions, compared with an empty stack; \`everpost serve\`, compared with separate processes`,
  async run(progress) {
    const full = await startWhole('full', root, CONTACTS);
    progress(`${CONTACTS} contacts`);
    await trackSegments(full);
    progress(`${SEGMENTS} tracked segments`);
    await startExecutions(full);
    progress(`${EXECUTIONS} waiting executions`);
    const empty = await startWhole('empty', root, 0);
    const serve = await startWhole('serve', root, 0, { serve: true });
    const stacks = { full, empty, serve };
    // One mail each, so that everything has worked once.
    for (const stack of [empty, serve]) await sendOne(stack);
    for (const { pids } of Object.values(stacks)) await untilIdle(pids);
    progress(`idle, for ${IDLE_MINUTES} minutes`);
    await sleep(IDLE_MINUTES * 60_000);
    const usages: Record<keyof typeof stacks, Usage[]> = { full: [], empty: [], serve: [] };
    for (let round = 1; round <= ROUNDS; round++) {
      // All at once: none does anything that could disturb the others.
      const before = Object.values(stacks).map(({ pids }) => processorTimes(pids));
      await sleep(WINDOW_MS);
      const lines = Object.entries(stacks).map(([name, { pids }], index) => {
        const usage = percentages(before[index] ?? {}, processorTimes(pids));
        usages[name as keyof typeof stacks].push(usage);
        return `${name} ${JSON.stringify(usage)}`;
      });
      progress(`round ${round} of ${ROUNDS}: ${lines.join(', ')}`);
    }
    const share = (stack: keyof typeof stacks, parts: string[]) =>
      median(usages[stack].map((usage) => sum(parts.map((part) => usage[part] ?? 0))));
    const memory = ({ pids }: Stack) => sum(OURS.map((part) => residentMegabytes(pids[part] ?? 0)));
    const [ofServe, ofEmpty] = [memory(serve), memory(empty)];
    const [firstOfServe, firstOfEmpty] = [await sendOne(serve), await sendOne(empty)];
    const percent = '% of a core';
    return [
      measure('API and worker, idle', percent, share('full', OURS), share('empty', OURS), 'ours <= baseline + 2'),
      measure('Postgres, idle', percent, share('full', ['postgres']), share('empty', ['postgres'])),
      measure('Temporal, idle', percent, share('full', ['temporal']), share('empty', ['temporal'])),
      measure('`everpost serve`, idle', percent, share('serve', OURS), share('empty', OURS), 'ours <= 2'),
      measure('memory of `everpost serve`, idle', 'MB', ofServe, ofEmpty, 'ours <= 300'),
      measure('first email of `everpost serve` after idling', 'ms', firstOfServe, firstOfEmpty, 'ours <= 1000'),
    ];
  },
};

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

function percentages(before: Usage, after: Usage): Usage {
  const percent = (seconds: number) => Number(((seconds / (WINDOW_MS / 1_000)) * 100).toFixed(2));
  return Object.fromEntries(
    Object.entries(after).map(([name, seconds]) => [name, percent(seconds - (before[name] ?? 0))]),
  );
}

/** Returns the milliseconds from the request until the SMTP server has the mail. */
async function sendOne({ url, key, sink, body }: Stack): Promise<number> {
  const before = await sink.count();
  const started = Date.now();
  await call(url, key, 'POST', '/v1/send', body(1));
  return (await sink.reached(before + 1)) - started;
}

async function trackSegments({ url, campaigns: { secretKey } }: Stack): Promise<void> {
  for (let n = 0; n < SEGMENTS; n++) {
    const name = { field: 'data.name', operator: 'equals', value: `Ann ${n}` };
    const viewed = { field: 'viewed', operator: 'triggeredWithin', value: 30, unit: 'days' };
    const condition = n % TIMED_EVERY === 0 ? tree(name, viewed) : tree(name);
    await call(url, secretKey, 'POST', '/segments', { name: `Segment ${n}`, condition, trackMembership: true });
  }
}

async function startExecutions({ url, campaigns: { secretKey } }: Stack): Promise<void> {
  const request = <T>(method: string, path: string, body?: unknown) => call<T>(url, secretKey, method, path, body);
  const workflow = { name: 'Later', eventName: 'signed up' };
  const { id } = await request<{ id: string }>('POST', '/workflows', workflow);
  const config = { amount: 30, unit: 'days' };
  await request('POST', `/workflows/${id}/steps`, { name: 'wait', type: 'DELAY', config, autoConnect: true });
  await request('PATCH', `/workflows/${id}`, { enabled: true });
  for (let n = 1; n <= EXECUTIONS; n += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) =>
        request('POST', '/events/track', {
          email: `user${n + index}@d${(n + index) % 20}.example.com`,
          event: workflow.eventName,
        }),
      ),
    );
  const waiting = `/workflows/${id}/executions?status=WAITING&limit=1`;
  while ((await request<{ total: number }>('GET', waiting)).total < EXECUTIONS) await sleep(500);
}
