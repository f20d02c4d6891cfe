import './test-timings.ts';
import { spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import fc from 'fast-check';
import type { Context } from 'mocha';
import { endAll } from './cleanup.ts';
import { answerDifferences } from './declared-answers.ts';
import { setCurrentTest, watcherViolations } from './statement-watcher.ts';

// Every run uses the same cases, so that a failure can be reproduced; FAST_CHECK_SEED=<number> selects others.
fc.configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED ?? 20_261_115) });

// Node would exit at once on a signal. `dev/child.ts` ends its own children at exit; this ends the others: the SDK's
// time-skipping server, renderers, an `npm start`.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    spawnSync('pkill', ['-P', String(process.pid)]);
    process.exit(128 + constants.signals[signal]);
  });
}

export const mochaHooks = {
  beforeEach(this: Context) {
    setCurrentTest(this.currentTest?.titlePath().join(' > ') ?? '');
  },
  afterEach(this: Context) {
    setCurrentTest(`a hook after ${this.currentTest?.titlePath().join(' > ')}`);
  },
  afterAll() {
    const violations = [...watcherViolations(), ...answerDifferences()];
    if (violations.length > 0) throw new Error(violations.join('\n'));
  },
};

const LEAK_AFTER_MS = 15_000;

export async function mochaGlobalTeardown(): Promise<void> {
  await endAll();
  // Mocha waits for an empty event loop, so that a forgotten socket or timer fails the run.
  setTimeout(() => {
    console.error(`The tests are over, but something is still open: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(1);
  }, LEAK_AFTER_MS).unref();
}
