// `npm run proof`: shows that nothing is lost, doubled or leaked. See docs/reliability.md.
// `npm run proof -- --seed 7 --minutes 10 --only chaos` repeats one part.
import { parseArgs } from 'node:util';
import { endAll } from '../test/support/cleanup.ts';
import { runChaos } from './chaos/run.ts';
import { fuzzHttp } from './fuzz/http.ts';
import { fuzzParsers } from './fuzz/parsers.ts';
import { runOverload } from './overload.ts';
import { type ProofRow, printProof } from './report.ts';
import { checkSupplyChain } from './supply-chain.ts';
import { runTests } from './tests.ts';

export interface ProofOptions {
  seed: number;
  minutes: number;
  report: (line: string) => void;
}

const MINUTE_MS = 60_000;

/** The parts. Those that last take a share of the minutes. */
const parts: Record<string, (options: ProofOptions) => Promise<ProofRow[]>> = {
  chaos: ({ seed, minutes, report }) => runChaos({ seed, lengthMs: minutes * MINUTE_MS * 0.4, report }),
  kills: ({ report }) =>
    runTests(
      'kills',
      ['test/e2e/fault-points.test.ts', 'test/e2e/fault-points.matrix.ts', 'test/e2e/kill-points.matrix.ts'],
      report,
    ),
  replay: ({ report }) => runTests('replay', ['test/replay/replay.test.ts'], report),
  fuzz: async ({ seed, minutes }) => [
    ...(await fuzzParsers(seed, minutes * MINUTE_MS * 0.04)),
    ...(await fuzzHttp(seed, minutes * MINUTE_MS * 0.06)),
  ],
  overload: ({ seed, minutes, report }) =>
    runOverload({
      seed,
      report,
      // Ten minutes, and three for each outage, of thirty; an hour each with --minutes 180 and more.
      overloadMs: (minutes * MINUTE_MS) / 3,
      outageMs: minutes >= 180 ? 60 * MINUTE_MS : (minutes * MINUTE_MS) / 10,
    }),
  backup: ({ report }) =>
    runTests('backup', ['test/cli/backup.test.ts', 'test/e2e/restore-to-the-past.test.ts'], report),
  supply: ({ report }) => checkSupplyChain(report),
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
