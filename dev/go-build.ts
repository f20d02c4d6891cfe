import { type ReportProgress, withProgress } from './report.ts';
import { onPath, runCommand } from './run.ts';

/** Builds Go programs into a directory. Throws where there is no Go. */
export async function buildWithGo(
  packages: string[],
  dir: string,
  report: ReportProgress,
  duration: string,
): Promise<void> {
  const go = onPath('go');
  if (!go) throw new Error('go is not on the PATH');
  // With another GOOS or GOARCH, go rejects GOBIN.
  const { GOOS: _os, GOARCH: _arch, ...env } = process.env;
  let current = 'fetching modules';
  await withProgress(
    report,
    `  building ${packages.join(' and ')} with go (once; ${duration} on two cores)`,
    () =>
      runCommand(go, ['install', '-v', ...packages], {
        env: { ...env, CGO_ENABLED: '0', GOBIN: dir },
        onLine: (line) => {
          current = line;
        },
      }),
    () => current,
  );
}
