// The chaos run: mixed load under faults, then what happened against the answers that customers got.

import { proofClient } from '../client.ts';
import type { AnswerRecorder } from '../recorder.ts';
import type { ProofRow } from '../report.ts';
import { checkAll } from './checks.ts';
import { drain, waiting } from './drain.ts';
import { keepEvidence } from './evidence.ts';
import { type InjectedFault, injectFaults } from './inject.ts';
import { type LoadOptions, MIXED_LOAD, runLoad } from './load.ts';
import { type PlanOptions, planFaults, processNames } from './plan.ts';
import { setUpProof } from './setup.ts';
import { type ProofStack, type ProofStackOptions, startProofStack } from './stack.ts';

export interface ChaosOptions {
  seed: number;
  lengthMs: number;
  /** Keeps logs and records even without violations. */
  keep?: boolean;
  report: (line: string) => void;
  weights?: LoadOptions['weights'];
  customers?: number;
  pauseMs?: number;
  faults?: Omit<PlanOptions, 'seed' | 'lengthMs'>;
  stack?: Omit<ProofStackOptions, 'seed'>;
}

/** More than these, and two cores are busy with load alone: Temporal's calls time out, and nothing but that is seen. */
const CUSTOMERS = 6;
const SAMPLE_MS = 1_000;
const PROGRESS_MS = 30_000;

export async function runChaos(options: ChaosOptions): Promise<ProofRow[]> {
  const { seed, lengthMs, report, weights = MIXED_LOAD, customers = CUSTOMERS, pauseMs = 300 } = options;
  const stack = await startProofStack({ seed, ...options.stack });
  report(`chaos: seed ${seed}, ${Math.round(lengthMs / 1000)} s of load`);
  const setup = await setUpProof(stack, lengthMs);
  const sampling = setInterval(() => {
    for (const name of processNames) stack.processes[name].sampleMemory();
  }, SAMPLE_MS);
  const progress = reportProgress(stack, report);
  const plan = planFaults({ seed, lengthMs, ...options.faults });
  const [recorder, faults] = await Promise.all([
    runLoad({ stack, setup, seed, lengthMs, customers, pauseMs, weights }),
    injectFaults(stack, plan, report),
  ]);
  clearInterval(progress);
  report('the load has ended; waiting until everything is done');
  await resumePaused(stack, recorder);
  const { left, note } = await drain(stack, report);
  clearInterval(sampling);
  const db = stack.connect();
  try {
    const context = { db, stack, setup, recorder };
    const checked = [
      { what: 'nothing is left in any queue', checked: 'all queues', violations: left, note },
      ...(await checkAll(context)),
    ];
    if (options.keep || checked.some(({ violations }) => violations.length > 0))
      report(`chaos: ${await keepEvidence(context, checked)} has the logs and records of this run`);
    const rows = [
      ...checked,
      { what: 'faults', checked: `${faults.length} faults`, violations: [], details: faultsOf(faults) },
      { what: 'operations (accepted/rejected/unknown)', checked: '', violations: [], details: operationsOf(recorder) },
      { what: 'SMTP server', checked: `${stack.sink.taken.length} taken`, violations: [], details: shownOf(stack) },
    ];
    return rows.map((row) => ({ part: 'chaos', ...row }));
  } finally {
    await db.destroy();
  }
}

/** What waits while the load runs, so that a part of the system that stands still is seen. */
function reportProgress(stack: ProofStack, report: (line: string) => void): NodeJS.Timeout {
  const began = performance.now();
  return setInterval(async () => {
    const db = stack.connect();
    try {
      report(`${Math.round((performance.now() - began) / 1000)} s: waiting: ${(await waiting(db)).join(', ')}`);
    } catch {
      // Postgres is away.
    } finally {
      await db.destroy();
    }
  }, PROGRESS_MS);
}

/** A campaign stays paused when the answer to its resume was never known. */
async function resumePaused(stack: ProofStack, recorder: AnswerRecorder): Promise<void> {
  await stack.revive();
  const client = proofClient(stack.apiUrls, stack.project.secretKey);
  for (const campaign of recorder.campaigns) {
    const { body } = await client.insist('GET', `/campaigns/${campaign.id}`);
    if (!body?.paused) continue;
    const reply = await client.insist('POST', `/campaigns/${campaign.id}/resume`);
    campaign.actions.push({ name: 'resume', reply });
  }
}

const operationsOf = ({ operations }: AnswerRecorder): string =>
  [...operations]
    .map(([name, { accepted, rejected, unknown }]) => `${name} ${accepted}/${rejected}/${unknown}`)
    .join(', ');

const shownOf = ({ sink }: ProofStack): string =>
  Object.entries(sink.shown)
    .map(([behaviour, count]) => `${behaviour} ${count}`)
    .join(', ');

function faultsOf(faults: InjectedFault[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of faults) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${kind} ${count}`).join(', ');
}
