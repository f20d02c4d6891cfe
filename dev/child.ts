// Runs a long-running part of the stack as a child process with a log file.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ChildOptions {
  name: string;
  command: string;
  args: string[];
  logFile: string;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
  /** Sent when this process ends without having stopped the child. */
  signalOnExit?: NodeJS.Signals;
  /** Called as soon as the child is spawned, before it is ready. */
  onSpawn?: (child: Child) => void;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Child {
  name: string;
  pid: number;
  logFile: string;
  exited: Promise<ProcessExit>;
  hasExited(): boolean;
  /** Sends each signal in order, and SIGKILL at the end, until the child has exited. */
  stop(steps: StopStep[]): Promise<ProcessExit>;
  kill(): Promise<ProcessExit>;
  lastLines(count?: number): string;
}

export interface StopStep {
  signal: NodeJS.Signals;
  waitMs: number;
}

const runningChildren = new Map<ChildProcess, NodeJS.Signals>();

// Ends all children when this process exits. After a SIGKILL, the next start stops the orphans (stack/orphans.ts).
process.on('exit', () => {
  for (const [child, signal] of runningChildren) signalGroup(child, signal);
});

/**
 * Every child leads its own process group: Ctrl-C in a terminal reaches only this process, which stops the children in
 * order. Output goes straight to a file, so that the child can still write when this process dies first.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  mkdirSync(dirname(options.logFile), { recursive: true });
  const log = openSync(options.logFile, 'a');
  const { command, args, env, cwd, uid, gid } = options;
  const child = spawn(command, args, { detached: true, stdio: ['ignore', log, log], env, cwd, uid, gid });
  closeSync(log);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(new Error(`${options.name} cannot be started: ${error.message}`)));
  });
  runningChildren.set(child, options.signalOnExit ?? 'SIGKILL');
  const started = childHandle(options, child);
  options.onSpawn?.(started);
  return started;
}

function childHandle({ name, logFile }: ChildOptions, child: ChildProcess): Child {
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => {
      runningChildren.delete(child);
      resolve({ code, signal });
    });
  });
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  const stop = async (steps: StopStep[]): Promise<ProcessExit> => {
    for (const { signal, waitMs } of steps) {
      if (hasExited()) break;
      child.kill(signal);
      const timeout = new AbortController();
      await Promise.race([exited, sleep(waitMs, undefined, { signal: timeout.signal }).catch(() => {})]);
      timeout.abort();
    }
    if (!hasExited()) signalGroup(child, 'SIGKILL');
    return exited;
  };
  return {
    name,
    pid: child.pid ?? 0,
    logFile,
    exited,
    hasExited,
    stop,
    kill: () => stop([]),
    lastLines: (count = 20) => lastLines(logFile, count),
  };
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid) process.kill(-child.pid, signal);
  } catch {
    child.kill(signal);
  }
}

export function lastLines(file: string, count: number): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
  } catch {
    return '';
  }
}

export const exitText = ({ code, signal }: ProcessExit): string =>
  signal ? `killed by ${signal}` : `exit code ${code}`;

/** Polls `ready` until it returns true. Throws when the child exits meanwhile or the timeout passes. */
export async function waitUntilReady(child: Child, timeoutMs: number, ready: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (let delayMs = 20; ; delayMs = Math.min(delayMs * 1.5, 250)) {
    if (child.hasExited()) throw new Error(childFailure(child, `ended at once (${exitText(await child.exited)})`));
    if (await ready().catch(() => false)) return;
    if (Date.now() > deadline) throw new Error(childFailure(child, `is not ready after ${timeoutMs / 1000} s`));
    await sleep(delayMs);
  }
}

export function childFailure(child: Child, what: string): string {
  return `${child.name} ${what}. Its last lines (${child.logFile}):\n${child.lastLines()}`;
}
