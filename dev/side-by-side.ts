// Two programs at once, and an output that can be read: the first one's as it comes, then all of the second one's.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit } from './child.ts';

export interface Program {
  args: string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
}

export interface Options {
  /** Keeps the output of the second while the first one speaks. */
  file: string;
  /** A signal that both are to be given. */
  told: Promise<NodeJS.Signals>;
  say(text: string | Uint8Array): unknown;
}

/** Runs both with Node; `endedBy`: they were told to end, and have nothing more to say. */
export async function runSideBySide(
  first: Program,
  second: Program,
  { file, told, say }: Options,
): Promise<{ exits: [Exit, Exit]; endedBy: NodeJS.Signals | undefined }> {
  const kept = openSync(file, 'a');
  const children = [start(first, ['inherit', 'inherit', 'inherit']), start(second, ['ignore', kept, kept])] as const;
  closeSync(kept);
  let endedBy: NodeJS.Signals | undefined;
  void told.then((signal) => {
    endedBy = signal;
    for (const child of children) child.kill(signal);
  });
  const ends = [exitOf(children[0]), exitOf(children[1])] as const;
  await ends[0];
  if (!endedBy) await copy(file, ends[1], say);
  return { exits: await Promise.all(ends), endedBy };
}

type Stdio = 'inherit' | 'ignore' | number;

const start = ({ args, env, cwd }: Program, stdio: [Stdio, Stdio, Stdio]): ChildProcess =>
  spawn(process.execPath, args, { cwd, env, stdio });

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((done) => {
    child.once('error', () => done({ code: 1, signal: null }));
    child.once('exit', (code, signal) => done({ code, signal }));
  });
}

/** What has been written to the file, and what is still to come. */
async function copy(file: string, end: Promise<unknown>, say: Options['say']): Promise<void> {
  const from = openSync(file, 'r');
  let isOver = false;
  void end.then(() => {
    isOver = true;
  });
  try {
    for (;;) {
      // Looked at before reading: what was written until the end is read after it.
      const isLast = isOver;
      for (;;) {
        const piece = Buffer.alloc(65_536);
        const length = readSync(from, piece);
        if (length === 0) break;
        say(piece.subarray(0, length));
      }
      if (isLast) return;
      await Promise.race([end, sleep(200)]);
    }
  } finally {
    closeSync(from);
  }
}
