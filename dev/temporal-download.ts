// Makes the Temporal SDK download its server, in a separate process, so that a stalled download can be killed.
// node --import tsx dev/temporal-download.ts <dev-server|test-server> <directory> [version]
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [kind, downloadDir, version] = process.argv.slice(2);

async function download(): Promise<void> {
  const server = { executable: { type: 'cached-download' as const, downloadDir, version } };
  // The SDK cannot download without starting the server, which also proves that the binary runs.
  const environment =
    kind === 'test-server'
      ? await TestWorkflowEnvironment.createTimeSkipping({ server })
      : await TestWorkflowEnvironment.createLocal({ server });
  await environment.teardown();
}

download().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
