// What each unit costs in Temporal actions, as the server itself counts them on the whole stack: for docs/capacity.md.
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../dev/root.ts';
import { type Bench, type Measure, measure } from './bench.ts';
import { call, type Stack, startWhole, trackedEvent } from './whole-stack.ts';

const UNITS = Math.max(10, Math.round(100 * Number(process.env.EVERPOST_BENCH_SCALE ?? 1)));
/** Five runs of the reconciler, three activities of the sender. */
const IDLE_MS = 900_000;
const SECONDS_A_DAY = 86_400;

type Actions = Record<string, number>;

interface Unit {
  what: string;
  /** As the table in docs/capacity.md says. */
  documented: number;
  units: number;
  /** Resolves when everything has ended. */
  run: (stack: Stack) => Promise<void>;
}

const SIGNED_UP = 'signed up';

const units: Unit[] = [
  {
    what: 'a mail',
    documented: 0,
    units: UNITS,
    run: async ({ url, key, body, sink }) => {
      const before = await sink.count();
      for (let n = 0; n < UNITS; n++) await call(url, key, 'POST', '/v1/send', body(n));
      await sink.reached(before + UNITS);
    },
  },
  {
    what: 'an event that matches nothing',
    documented: 0,
    units: UNITS,
    run: async ({ url, publicKey }) => {
      for (let n = 0; n < UNITS; n++) await call(url, publicKey, 'POST', '/v1/track', trackedEvent(n));
    },
  },
  executions('an execution that ends at once', 3, 'exit', [{ type: 'EXIT' }]),
  executions('an execution with a DELAY', 6, 'delay', [
    { type: 'DELAY', config: { amount: 1, unit: 'seconds' } },
    { type: 'UPDATE_CONTACT', config: { data: { delayed: true } } },
  ]),
  executions('an execution with a WAIT_FOR_EVENT that is met', 7, 'wait', [
    { type: 'WAIT_FOR_EVENT', config: { eventName: 'met', timeout: { amount: 1, unit: 'days' } } },
    { type: 'UPDATE_CONTACT', config: { data: { met: true } } },
  ]),
  {
    what: 'a campaign',
    documented: 5,
    units: 1,
    run: async ({ url, campaigns: { secretKey, senderDomain } }) => {
      const draft = { name: 'News', subject: 'News', body: '<p>News</p>', audienceType: 'ALL', type: 'HEADLESS' };
      const from = `news@${senderDomain}`;
      const { id } = await call<{ id: string }>(url, secretKey, 'POST', '/campaigns', { ...draft, from });
      await call(url, secretKey, 'POST', `/campaigns/${id}/send`, {});
      const status = async () => (await call<{ status: string }>(url, secretKey, 'GET', `/campaigns/${id}`)).status;
      while ((await status()) !== 'SENT') await sleep(500);
    },
  },
];

/** Executions of a workflow of their own, which wait for the event `met` where they wait for one. */
function executions(what: string, documented: number, name: string, steps: { type: string; config?: object }[]): Unit {
  const run = async ({ url, key }: Stack) => {
    const request = <T>(method: string, path: string, body?: unknown) => call<T>(url, key, method, path, body);
    const eventName = `${SIGNED_UP} ${name}`;
    const { id } = await request<{ id: string }>('POST', '/workflows', { name, eventName });
    for (const [index, step] of steps.entries())
      await request('POST', `/workflows/${id}/steps`, { name: `${index}`, autoConnect: true, ...step });
    await request('PATCH', `/workflows/${id}`, { enabled: true });
    const email = (n: number) => `${name}${n}@example.com`;
    const reached = async (status: string) =>
      (await request<{ total: number }>('GET', `/workflows/${id}/executions?status=${status}&limit=1`)).total === UNITS;
    for (let n = 0; n < UNITS; n++) await request('POST', '/events/track', { email: email(n), event: eventName });
    if (steps[0]?.type === 'WAIT_FOR_EVENT') {
      while (!(await reached('WAITING'))) await sleep(200);
      for (let n = 0; n < UNITS; n++) await request('POST', '/events/track', { email: email(n), event: 'met' });
    }
    while (!(await reached('COMPLETED')) && !(await reached('EXITED'))) await sleep(200);
    await request('PATCH', `/workflows/${id}`, { enabled: false });
  };
  return { what, documented, units: UNITS, run };
}

export const actionsBench: Bench = {
  name: 'actions',
  about: 'Temporal actions of each unit as the server counts them, compared with the table in docs/capacity.md',
  async run(progress) {
    const stack = await startWhole('actions', root, 50);
    const measures: Measure[] = [];
    await untilQuiet(stack);
    for (const { what, documented, units: count, run } of units) {
      const before = await actionsOf(stack);
      await run(stack);
      await sleep(1_000);
      const counted = difference(before, await actionsOf(stack));
      progress(`${what}, ${count} times: ${JSON.stringify(counted)}`);
      measures.push(measure(what, 'actions', sum(counted) / count, documented));
    }
    const before = await actionsOf(stack);
    await sleep(IDLE_MS);
    const idle = difference(before, await actionsOf(stack));
    progress(`idle for ${IDLE_MS / 1_000} s: ${JSON.stringify(idle)}`);
    const aDay = (sum(idle) / (IDLE_MS / 1_000)) * SECONDS_A_DAY;
    return [...measures, measure('one idle worker', 'actions a day', aDay, 6_390)];
  },
};

/** A start of the worker costs actions of its own. */
async function untilQuiet(stack: Stack): Promise<void> {
  let before = -1;
  let after = 0;
  while (before !== after) {
    before = after;
    after = sum(await actionsOf(stack));
    await sleep(10_000);
  }
}

/** The counter `action` of the server, by type. */
async function actionsOf({ temporalMetrics }: Stack): Promise<Actions> {
  const text = await (await fetch(temporalMetrics)).text();
  const counts: Actions = {};
  for (const [, labels = '', value = '0'] of text.matchAll(/^action(?:_total)?\{([^}]*)\} ([\d.e+]+)$/gm)) {
    const type = /action_type="([^"]*)"/.exec(labels)?.[1] ?? 'other';
    if (/namespace="temporal_system"|namespace="temporal-system"/.test(labels)) continue;
    counts[type] = (counts[type] ?? 0) + Number(value);
  }
  return counts;
}

const difference = (before: Actions, after: Actions): Actions =>
  Object.fromEntries(
    Object.entries(after)
      .map(([type, count]) => [type, count - (before[type] ?? 0)] as const)
      .filter(([, count]) => count > 0),
  );

const sum = (actions: Actions): number => Object.values(actions).reduce((total, count) => total + count, 0);
