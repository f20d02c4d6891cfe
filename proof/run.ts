// `npm run proof`: shows that nothing is lost, doubled or leaked. See docs/reliability.md.
// `npm run proof -- --seed 7 --minutes 10 --only chaos` repeats one part.
import { parseArgs } from 'node:util';
import { endAll } from '../test/support/cleanup.ts';
import { runChaos } from './chaos/run.ts';
import { type ProofRow, printProof } from './report.ts';

export interface ProofOptions {
  seed: number;
  minutes: number;
  report: (line: string) => void;
}

/** Each part with its share of the minutes. */
const parts: Record<string, (options: ProofOptions) => Promise<ProofRow[]>> = {
  chaos: ({ seed, minutes, report }) => runChaos({ seed, lengthMs: minutes * 60_000 * 0.4, report }),
};

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
      minutes: { type: 'string', default: '30' },
      only: { type: 'string' },
    },
  });
  const [seed, minutes] = [Number(values.seed), Number(values.minutes)];
  if (!Number.isInteger(seed)) throw new Error('--seed must be a whole number.');
  if (!(minutes > 0)) throw new Error('--minutes must be a positive number.');
  const wanted = values.only?.split(',') ?? Object.keys(parts);
  const unknown = wanted.filter((name) => !(name in parts));
  if (unknown.length > 0) throw new Error(`No part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}.`);
  const report = (line: string) => console.error(line);
  report(`seed ${seed}, ${minutes} minutes, node ${process.version}`);
  const rows: ProofRow[] = [];
  for (const name of wanted) {
    const run = parts[name];
    if (!run) continue;
    try {
      rows.push(...(await run({ seed, minutes, report })));
    } catch (error) {
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      rows.push({ part: name, what: 'runs to its end', checked: '', violations: [reason] });
    } finally {
      await endAll();
    }
  }
  console.log(`seed ${seed}, ${minutes} minutes`);
  return printProof(rows);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void endAll().finally(() => process.exit(1)));

main().then(
  (isProven) => process.exit(isProven ? 0 : 1),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
