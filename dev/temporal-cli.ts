// Finds the Temporal dev server: in a setting, on the PATH, in the cache, by download, or by a build with Go.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, cached } from './cache.ts';
import { buildWithGo } from './go-build.ts';
import type { ReportProgress } from './report.ts';
import { execute, isExecutable, onPath } from './run.ts';
import { firstWorkingStrategy } from './strategies.ts';
import { sdkDownload } from './temporal-sdk-download.ts';

// 1.6 and newer have a `replace` in their go.mod, which `go install` rejects.
const VERSION = 'v1.5.1';
const PACKAGE = `github.com/temporalio/cli/cmd/temporal@${VERSION}`;
const CACHE_NAME = `temporal-cli/${VERSION}-${process.platform}-${process.arch}`;

const HELP = `There is no Temporal dev server on this machine, and none could be fetched. Any one of these helps:
  - install the Temporal CLI (https://docs.temporal.io/cli) so that \`temporal\` is on the PATH, or name it in TEMPORAL_CLI_PATH
  - install Go (https://go.dev/dl), then this command builds the server by itself, once
  - point TEMPORAL_ADDRESS at a Temporal server that is running already`;

export async function findTemporalCli(report: ReportProgress): Promise<string> {
  const named = process.env.TEMPORAL_CLI_PATH;
  if (named) {
    if (!isExecutable(named)) throw new Error(`TEMPORAL_CLI_PATH names ${named}, which is not an executable file.`);
    report(`Temporal dev server: ${named} (TEMPORAL_CLI_PATH)`);
    return named;
  }
  const installed = onPath('temporal');
  if (installed) {
    report(`Temporal dev server: ${installed} (found on the PATH)`);
    return installed;
  }
  const wasCached = existsSync(join(cacheDir(), CACHE_NAME));
  if (!wasCached) report('Temporal dev server: not on this machine yet');
  const file = join(
    await cached(CACHE_NAME, report, (dir) => fetchCli(join(dir, 'temporal'), dir, report)),
    'temporal',
  );
  if (wasCached) report(`Temporal dev server: ${file} (from the cache)`);
  return file;
}

async function fetchCli(target: string, dir: string, report: ReportProgress): Promise<void> {
  const strategies = [
    { name: "the SDK's download", run: () => sdkDownload('dev-server', target, report, VERSION) },
    { name: 'a build with go', run: () => buildWithGo([PACKAGE], dir, report, '6 to 12 minutes') },
  ];
  await firstWorkingStrategy(strategies, report, HELP);
  await execute(target, ['--version']);
}
