// How benchmarks talk to the sink, and to their other children.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../test/support/cleanup.ts';

export interface Sink {
  url: string;
  count(): Promise<number>;
  /** Waits for so many mails in all, and says when the last of them came. */
  reached(count: number): Promise<number>;
}

export async function startSink(): Promise<Sink> {
  const child = forked('mail-sink.ts');
  atEnd(() => void child.kill());
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const ask = async (): Promise<{ count: number; lastAt: number }> => {
    child.send('how many?');
    return ((await once(child, 'message')) as [{ count: number; lastAt: number }])[0];
  };
  return {
    url: `smtp://127.0.0.1:${port}`,
    count: async () => (await ask()).count,
    reached: async (count) => {
      let told = await ask();
      await until(async () => {
        told = await ask();
        return told.count >= count;
      });
      return told.lastAt;
    },
  };
}

export const forked = (file: string, env: Record<string, string> = {}): ChildProcess =>
  fork(join(import.meta.dirname, file), [], { execArgv: ['--import', 'tsx'], env: { ...process.env, ...env } });

export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20);
}
