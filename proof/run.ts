// `npm run proof`: shows that nothing is lost, doubled or leaked. See docs/reliability.md.
// `npm run proof -- --seed 7 --minutes 10 --only chaos` repeats one part.
import { parseArgs } from 'node:util';
import { endAll } from '../test/support/cleanup.ts';
import { runChaos } from './chaos/run.ts';
import { fuzzHttp } from './fuzz/http.ts';
import { fuzzParsers } from './fuzz/parsers.ts';
import { lengthsOf, type PartLengths } from './lengths.ts';
import { runOverload } from './overload/run.ts';
import { type ProofRow, printProof } from './report.ts';
import { checkSupplyChain } from './supply-chain.ts';
import { runTests } from './tests.ts';

interface PartOptions {
  seed: number;
  lengths: PartLengths;
  /** Keeps the logs of a run without violations too. */
  keep: boolean;
  report: (line: string) => void;
}

const KILLS = ['test/e2e/fault-points.ci.ts', 'test/e2e/fault-points-campaign.ci.ts', 'test/e2e/kill-points.ci.ts'];
const BACKUP = [
  'test/cli/backup.test.ts',
  'test/e2e/backup.ci.ts',
  'test/e2e/backup-mixed.slow.ts',
  'test/e2e/restore-to-the-past.ci.ts',
];

const parts: Record<string, (options: PartOptions) => Promise<ProofRow[]>> = {
  chaos: ({ seed, lengths, keep, report }) => runChaos({ seed, lengthMs: lengths.chaosMs, keep, report }),
  fuzz: async ({ seed, lengths }) => [
    ...(await fuzzParsers(seed, lengths.fuzzMs / 2)),
    ...(await fuzzHttp(seed, lengths.fuzzMs / 2)),
  ],
  kills: ({ report }) => runTests('kills', KILLS, report),
  replay: ({ report }) => runTests('replay', ['test/replay/replay.test.ts'], report),
  backup: ({ report }) => runTests('backup', BACKUP, report),
  supply: ({ report }) => checkSupplyChain(report),
  overload: ({ seed, lengths, report }) => runOverload({ seed, report, ...lengths }),
};

/** The two sequences of a stage run side by side. Overload measures times, so nothing runs beside it. */
const TESTS = ['kills', 'replay', 'backup', 'supply'];
const STAGES = [[['chaos', 'fuzz'], TESTS], [['overload']]];

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
      minutes: { type: 'string', default: '30' },
      only: { type: 'string' },
      keep: { type: 'boolean', default: false },
    },
  });
  const seed = Number(values.seed);
  const minutes = Number(values.minutes);
  if (!Number.isInteger(seed)) throw new Error('--seed must be a whole number.');
  if (!(minutes > 0)) throw new Error('--minutes must be a positive number.');
  const wanted = values.only?.split(',') ?? Object.keys(parts);
  const unknown = wanted.filter((name) => !(name in parts));
  if (unknown.length > 0) throw new Error(`No part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}.`);
  const report = (line: string) => console.error(line);
  report(`seed ${seed}, ${minutes} minutes, node ${process.version}`);
  const began = Date.now();
  const options = { seed, lengths: lengthsOf(minutes, wanted), keep: values.keep, report };
  const rows: ProofRow[] = [];
  for (const stage of STAGES) {
    const sequences = stage.map((names) =>
      runInOrder(
        names.filter((name) => wanted.includes(name)),
        options,
      ),
    );
    rows.push(...(await Promise.all(sequences)).flat());
  }
  const taken = Math.round((Date.now() - began) / 60_000);
  console.log(`seed ${seed}, ${minutes} minutes asked for, ${taken} taken`);
  return printProof(rows);
}

async function runInOrder(names: string[], options: PartOptions): Promise<ProofRow[]> {
  const rows: ProofRow[] = [];
  for (const name of names) {
    const began = Date.now();
    try {
      rows.push(...((await parts[name]?.(options)) ?? []));
    } catch (error) {
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      rows.push({ part: name, what: 'runs to its end', checked: '', violations: [reason] });
    } finally {
      // Test files run in processes of their own, which end what they started.
      if (!TESTS.includes(name)) await endAll();
    }
    options.report(`${name}: ended after ${Math.round((Date.now() - began) / 1000)} s`);
  }
  return rows;
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
