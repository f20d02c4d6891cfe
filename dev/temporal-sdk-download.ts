import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceExtension } from '../platform/process-flags.ts';
import { type ReportProgress, withProgress } from './report.ts';
import { isExecutable, runCommand } from './run.ts';

const GIVE_UP_AFTER_MS = 20_000;

/** Writes the SDK's own download to `target`. Gives up when nothing arrived for 20 seconds. */
export async function sdkDownload(
  kind: 'dev-server' | 'test-server',
  target: string,
  report: ReportProgress,
  version = 'default',
): Promise<void> {
  const dir = `${target}.download`;
  mkdirSync(dir, { recursive: true });
  const stalled = new AbortController();
  let bytes = 0;
  let grewAt = Date.now();
  const progressTimer = setInterval(() => {
    const now = bytesIn(dir);
    if (now !== bytes) {
      bytes = now;
      grewAt = Date.now();
    } else if (Date.now() - grewAt > GIVE_UP_AFTER_MS) stalled.abort();
  }, 500);
  const program = fileURLToPath(new URL(`./temporal-download${sourceExtension}`, import.meta.url));
  const loader = sourceExtension === '.ts' ? ['--import', import.meta.resolve('tsx')] : [];
  const args = [...loader, program, kind, dir, version];
  try {
    await withProgress(
      report,
      `  trying the SDK's own download of the ${kind}`,
      () => runCommand(process.execPath, args, { signal: stalled.signal }),
      () => `${(bytes / 1e6).toFixed(0)} MB`,
    );
    renameSync(binaryIn(dir), target);
  } catch (error) {
    if (stalled.signal.aborted) throw new Error(`nothing arrived for ${GIVE_UP_AFTER_MS / 1000} s`);
    throw error instanceof Error ? new Error(error.message.split('\n').at(-1)) : error;
  } finally {
    clearInterval(progressTimer);
    rmSync(dir, { recursive: true, force: true });
  }
}

const filesIn = (dir: string): string[] => readdirSync(dir).map((name) => join(dir, name));

const bytesIn = (dir: string): number =>
  filesIn(dir).reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);

function binaryIn(dir: string): string {
  const binary = filesIn(dir).find(isExecutable);
  if (!binary) throw new Error('the download contains no executable file');
  return binary;
}
