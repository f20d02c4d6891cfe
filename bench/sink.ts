// Starts and queries the mail sink, and forks other child processes.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../dev/root.ts';
import { atEnd } from '../test/support/cleanup.ts';

export interface Sink {
  url: string;
  count(): Promise<number>;
  /** Waits for this number of mails in total, and returns when the last of them arrived. */
  reached(count: number): Promise<number>;
}

export async function startSink(): Promise<Sink> {
  const child = forked('mail-sink.ts');
  atEnd(() => void child.kill());
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const readState = async (): Promise<{ count: number; lastAt: number }> => {
    child.send('count');
    return ((await once(child, 'message')) as [{ count: number; lastAt: number }])[0];
  };
  return {
    url: `smtp://127.0.0.1:${port}`,
    count: async () => (await readState()).count,
    reached: async (count) => {
      let state = await readState();
      await until(async () => {
        state = await readState();
        return state.count >= count;
      });
      return state.lastAt;
    },
  };
}

export const forked = (file: string, env: Record<string, string> = {}): ChildProcess =>
  fork(join(root, 'bench', file), [], { execArgv: ['--import', 'tsx'], env: { ...process.env, ...env } });

export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20);
}
