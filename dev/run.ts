// Runs short-lived commands: a build, a download, a version check.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export const execute = promisify(execFile);

export interface RunOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Called with every line that the command prints. */
  onLine?: (line: string) => void;
  /** Aborting kills the command and its process group. */
  signal?: AbortSignal;
}

const running = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of running) killGroup(child);
});

/** Runs a command until it exits. The error of a failed one contains the last lines of its output. */
export async function runCommand(command: string, args: string[], options: RunOptions = {}): Promise<void> {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const abort = () => killGroup(child);
  options.signal?.addEventListener('abort', abort, { once: true });
  const tail: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    eachLine(stream, (line) => {
      tail.push(line);
      if (tail.length > 15) tail.shift();
      options.onLine?.(line);
    });
  }
  try {
    const status = await new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve(code ?? signal));
    });
    if (status !== 0) throw new Error(`${command} ended with ${status}:\n${tail.join('\n')}`);
  } finally {
    running.delete(child);
    options.signal?.removeEventListener('abort', abort);
  }
}

function eachLine(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim()) onLine(line);
  });
  stream.on('end', () => {
    if (rest.trim()) onLine(rest);
  });
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

export function onPath(name: string): string | undefined {
  for (const dir of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(dir || '.', name);
    if (isExecutable(file)) return file;
  }
  return undefined;
}
