// What a large installation costs while nothing happens, compared with an empty one.
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../dev/root.ts';
import { type Bench, measure, median } from './bench.ts';
import { processorTimes, untilIdle } from './processor-time.ts';
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

type Usage = Record<string, number>;

export const idleBench: Bench = {
  name: 'idle',
  about: `processor time while nothing happens, with ${CONTACTS} contacts, ${SEGMENTS} tracked segments and ${EXECUTIONS} waiting executions, compared with an empty stack`,
  async run(progress) {
    const full = await startWhole('full', root, CONTACTS);
    progress(`${CONTACTS} contacts`);
    await trackSegments(full);
    progress(`${SEGMENTS} tracked segments`);
    await startExecutions(full);
    progress(`${EXECUTIONS} waiting executions`);
    const empty = await startWhole('empty', root, 0);
    const usages: Record<'full' | 'empty', Usage[]> = { full: [], empty: [] };
    for (const { pids } of [full, empty]) await untilIdle(pids);
    // What was written last is still counted, vacuumed and analyzed.
    await sleep(30_000);
    for (let round = 1; round <= ROUNDS; round++) {
      // Both at once: neither does anything that could disturb the other.
      const before = [processorTimes(full.pids), processorTimes(empty.pids)] as const;
      await sleep(WINDOW_MS);
      usages.full.push(percentages(before[0], processorTimes(full.pids)));
      usages.empty.push(percentages(before[1], processorTimes(empty.pids)));
      progress(`round ${round} of ${ROUNDS}: ${JSON.stringify([usages.full.at(-1), usages.empty.at(-1)])}`);
    }
    const row = (what: string, parts: string[], aim?: string) => {
      const of = (rounds: Usage[]) =>
        median(rounds.map((usage) => parts.reduce((sum, part) => sum + (usage[part] ?? 0), 0)));
      return measure(`${what}, idle`, '% of a core', of(usages.full), of(usages.empty), aim);
    };
    return [
      row('API and worker', ['api', 'worker'], 'ours <= baseline + 2'),
      row('Postgres', ['postgres']),
      row('Temporal', ['temporal']),
    ];
  },
};

function percentages(before: Usage, after: Usage): Usage {
  const percent = (seconds: number) => Number(((seconds / (WINDOW_MS / 1_000)) * 100).toFixed(2));
  return Object.fromEntries(
    Object.entries(after).map(([name, seconds]) => [name, percent(seconds - (before[name] ?? 0))]),
  );
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
