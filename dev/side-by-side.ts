// Runs two programs at once and keeps their output apart: first all output of the first, then all of the second.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessExit } from './child.ts';

export interface Program {
  args: string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
}

export interface Options {
  /** Buffers the output of the second program while the first one writes to the terminal. */
  file: string;
  /** Resolves with a signal to pass on to both programs. */
  stopSignal: Promise<NodeJS.Signals>;
  write(text: string | Uint8Array): unknown;
}

/** Runs both programs with Node. `endedBy` is the signal that stopped them; the second one's output is not shown then. */
export async function runSideBySide(
  first: Program,
  second: Program,
  { file, stopSignal, write }: Options,
): Promise<{ exits: [ProcessExit, ProcessExit]; endedBy: NodeJS.Signals | undefined }> {
  const outputFile = openSync(file, 'a');
  const children = [
    start(first, ['inherit', 'inherit', 'inherit']),
    start(second, ['ignore', outputFile, outputFile]),
  ] as const;
  closeSync(outputFile);
  let endedBy: NodeJS.Signals | undefined;
  void stopSignal.then((signal) => {
    endedBy = signal;
    for (const child of children) child.kill(signal);
  });
  const exits = [exitOf(children[0]), exitOf(children[1])] as const;
  await exits[0];
  if (!endedBy) await copy(file, exits[1], write);
  return { exits: await Promise.all(exits), endedBy };
}

type Stdio = 'inherit' | 'ignore' | number;

const start = ({ args, env, cwd }: Program, stdio: [Stdio, Stdio, Stdio]): ChildProcess =>
  spawn(process.execPath, args, { cwd, env, stdio });

function exitOf(child: ChildProcess): Promise<ProcessExit> {
  return new Promise((done) => {
    child.once('error', () => done({ code: 1, signal: null }));
    child.once('exit', (code, signal) => done({ code, signal }));
  });
}

/** Copies the file to `write`, and what is appended to it, until `end` resolves. */
async function copy(file: string, end: Promise<unknown>, write: Options['write']): Promise<void> {
  const from = openSync(file, 'r');
  let isOver = false;
  void end.then(() => {
    isOver = true;
  });
  try {
    for (;;) {
      // Checked before reading: what was written before the end is still read afterwards.
      const isLast = isOver;
      for (;;) {
        const piece = Buffer.alloc(65_536);
        const length = readSync(from, piece);
        if (length === 0) break;
        write(piece.subarray(0, length));
      }
      if (isLast) return;
      await Promise.race([end, sleep(200)]);
    }
  } finally {
    closeSync(from);
  }
}
