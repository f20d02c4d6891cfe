// The memory of API and worker under mixed load: what they use in the end, compared with what they used after a minute.
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../dev/root.ts';
import { type Bench, measure, median } from './bench.ts';
import { residentMegabytes } from './resident-memory.ts';
import { unreadStreams } from './unread-streams.ts';
import { call, type Stack, sendNewsletter, startWhole, trackedEvent } from './whole-stack.ts';

const MINUTES = Number(process.env.BENCH_MINUTES ?? 60);
const CONTACTS = 5_000;
/** Requests of each second. Moderate: what is measured is what stays, not what a burst needs. */
const PER_SECOND = { send: 20, track: 40, contacts: 10, lists: 4 };
const CAMPAIGN_EVERY_S = 120;
const PARTS = ['api', 'worker'] as const;

export const memoryBench: Bench = {
  name: 'memory',
  about: `the memory of API and worker after ${MINUTES} minutes of mixed load, compared with that after one minute; and of the API beside clients that do not read`,
  onlyByName: true,
  async run(progress) {
    const stack = await startWhole('memory', root, CONTACTS);
    const samples: Record<(typeof PARTS)[number], number>[] = [];
    const requests = new Set<Promise<unknown>>();
    for (let second = 0; second < MINUTES * 60; second++) {
      const started = performance.now();
      const open = mixedLoad(stack, second).map((request) => request.finally(() => requests.delete(request)));
      for (const request of open) requests.add(request);
      if (second % CAMPAIGN_EVERY_S === 0) await sendNewsletter(stack);
      samples.push({ api: residentMegabytes(stack.pids.api ?? 0), worker: residentMegabytes(stack.pids.worker ?? 0) });
      if (second % 60 === 59) progress(`minute ${(second + 1) / 60} of ${MINUTES}: ${JSON.stringify(samples.at(-1))}`);
      await sleep(Math.max(0, 1_000 - (performance.now() - started)));
    }
    await Promise.all(requests);
    const around = (from: number, part: (typeof PARTS)[number]) =>
      median(samples.slice(from, from + 30).map((sample) => sample[part]));
    const rows = PARTS.map((part) =>
      measure(
        `memory of the ${part} after ${MINUTES} minutes, and after one`,
        'MB',
        around(samples.length - 30, part),
        around(60, part),
        '<= 1.2',
      ),
    );
    return [...rows, await unreadStreams(stack)];
  },
};

function mixedLoad({ url, key, publicKey, body, campaigns }: Stack, second: number): Promise<unknown>[] {
  const times = <T>(count: number, one: (n: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => one(second * count + index));
  const contact = (n: number) => ({ email: `person${n % 20_000}@example.com`, data: { seats: n % 50 } });
  return [
    ...times(PER_SECOND.send, (n) => call(url, key, 'POST', '/v1/send', body(n))),
    ...times(PER_SECOND.track, (n) => call(url, publicKey, 'POST', '/v1/track', trackedEvent(n))),
    ...times(PER_SECOND.contacts, (n) => call(url, key, 'POST', '/contacts', contact(n))),
    ...times(PER_SECOND.lists, (n) =>
      call(url, campaigns.secretKey, 'GET', `/contacts?limit=50&search=user${n % 1_000}`),
    ),
  ];
}
