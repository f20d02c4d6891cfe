// Lets the Temporal SDK download its own server, in a process of its own, so that a download that hangs can be ended.
// node --import tsx dev/temporal-download.ts <dev-server|test-server> <directory> [version]
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [kind, downloadDir, version] = process.argv.slice(2);

async function download(): Promise<void> {
  const server = { executable: { type: 'cached-download' as const, downloadDir, version } };
  // The SDK offers no download without a start. That is as well: what is kept has been seen to run.
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
