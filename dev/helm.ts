// Helm, which checks and renders the chart in ops/helm: on the PATH, in the cache, or built with Go.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, cached } from './cache.ts';
import { buildWithGo } from './go-build.ts';
import type { ReportProgress } from './report.ts';
import { onPath } from './run.ts';

const VERSION = 'v3.19.5';
const PACKAGE = `helm.sh/helm/v3/cmd/helm@${VERSION}`;
const CACHE_NAME = `helm/${VERSION}-${process.platform}-${process.arch}`;

const HELP = `There is no Helm on this machine, and ${VERSION} could not be built. Install Helm (https://helm.sh/docs/intro/install), or Go
(https://go.dev/dl) with a module proxy that can be reached (go env GOPROXY): then it is built once, in about two minutes.`;

export async function findHelm(report: ReportProgress): Promise<string> {
  const installed = onPath('helm');
  if (installed) return installed;
  if (!existsSync(join(cacheDir(), CACHE_NAME))) report('Helm: not on this machine yet');
  const dir = await cached(CACHE_NAME, report, async (target) => {
    try {
      await buildWithGo([PACKAGE], target, report, 'about 2 minutes');
    } catch (error) {
      throw new Error(`${HELP}\n${error instanceof Error ? error.message : error}`);
    }
  });
  return join(dir, 'helm');
}
