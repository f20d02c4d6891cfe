// The memory of the worker while it sends one campaign to a million: must not grow with the number of recipients.
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../dev/root.ts';
import { type Bench, measure, median } from './bench.ts';
import { residentMegabytes } from './resident-memory.ts';
import { sendNewsletter, startWhole } from './whole-stack.ts';

const RECIPIENTS = Math.max(20_000, Math.round(1_000_000 * Number(process.env.EVERPOST_BENCH_SCALE ?? 1)));
/** The baseline is the memory after so many. */
const FIRST = 10_000;
/** Seconds whose median is taken, at the beginning and at the end. */
const WINDOW = 30;

export const millionBench: Bench = {
  name: 'million',
  about: `the memory of the worker during a campaign to ${RECIPIENTS}, compared with that after the first ${FIRST}`,
  onlyByName: true,
  async run(progress) {
    const stack = await startWhole('million', root, RECIPIENTS);
    const samples: number[] = [];
    await sendNewsletter(stack);
    const started = performance.now();
    for (let sent = 0, shown = 0; sent < RECIPIENTS; await sleep(1_000)) {
      sent = await stack.sink.count();
      if (sent >= FIRST) samples.push(residentMegabytes(stack.pids.worker ?? 0));
      if (sent - shown < RECIPIENTS / 20) continue;
      shown = sent;
      progress(`${sent} sent after ${Math.round((performance.now() - started) / 1_000)} s: ${samples.at(-1)} MB`);
    }
    const first = median(samples.slice(0, WINDOW));
    const last = median(samples.slice(-WINDOW));
    return [measure('memory of the worker at the end, and after the first mails', 'MB', last, first, '<= 1.1')];
  },
};
