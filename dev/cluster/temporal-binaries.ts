// The real Temporal server and its schema tool, built from the Go proxy and cached, as the dev server is.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, cached } from '../cache.ts';
import { buildWithGo } from '../go-build.ts';
import type { ReportProgress } from '../report.ts';

const VERSION = 'v1.29.1';
const PACKAGES = [`go.temporal.io/server/cmd/server@${VERSION}`, `go.temporal.io/server/cmd/tools/sql@${VERSION}`];
const CACHE_NAME = `temporal-server/${VERSION}-${process.platform}-${process.arch}`;

const HELP = `The Temporal server ${VERSION} could not be built. Install Go (https://go.dev/dl) and make sure that its module
proxy can be reached (go env GOPROXY), then run this again: it takes about three minutes, once.`;

export interface TemporalBinaries {
  server: string;
  sqlTool: string;
}

export async function findTemporalServer(report: ReportProgress): Promise<TemporalBinaries> {
  if (!existsSync(join(cacheDir(), CACHE_NAME))) report('Temporal server: not on this machine yet');
  const dir = await cached(CACHE_NAME, report, async (target) => {
    try {
      await buildWithGo(PACKAGES, target, report, 'about 3 minutes');
    } catch (error) {
      throw new Error(`${HELP}\n${error instanceof Error ? error.message : error}`);
    }
  });
  return { server: join(dir, 'server'), sqlTool: join(dir, 'sql') };
}
