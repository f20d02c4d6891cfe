import { endAll } from './cleanup.ts';

const LEAK_AFTER_MS = 15_000;

export async function mochaGlobalTeardown(): Promise<void> {
  await endAll();
  // Mocha waits for an empty event loop, so that a forgotten socket or timer is a fault and not a hidden leak.
  setTimeout(() => {
    console.error(`The tests are over, but something is still open: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(1);
  }, LEAK_AFTER_MS).unref();
}
