import fc from 'fast-check';
import { endAll } from './cleanup.ts';

// The same cases in every run, so that a failure can be looked at; FAST_CHECK_SEED=<number> looks at others.
fc.configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED ?? 20_261_115) });

const LEAK_AFTER_MS = 15_000;

export async function mochaGlobalTeardown(): Promise<void> {
  await endAll();
  // Mocha waits for an empty event loop, so that a forgotten socket or timer is a fault and not a hidden leak.
  setTimeout(() => {
    console.error(`The tests are over, but something is still open: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(1);
  }, LEAK_AFTER_MS).unref();
}
