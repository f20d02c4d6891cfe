import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { atEnd } from './cleanup.ts';
import type { GrowthFault, GrowthMessage } from './growth-child.ts';

/** No text path takes a hundredth of it over one filler: one that is silent for so long is not going to end. */
const SILENCE_MS = 120_000;

export interface Growth {
  /** What of the path's work grows faster than its text; the last of them with `ratio: Infinity` where it never ended. */
  faultsOf(path: string): Promise<GrowthFault[]>;
  stop(): Promise<void>;
}

/** Measures text paths in a process of their own, which is replaced when it had to be killed. */
export function startGrowth(): Growth {
  let child: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    const ending = child;
    child = undefined;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    ending.kill('SIGKILL');
    await once(ending, 'exit');
  };
  const start = async (): Promise<ChildProcess> => {
    const made = fork(join(import.meta.dirname, 'growth-child.ts'), [], { execArgv: ['--import', 'tsx'] });
    child = made;
    await once(made, 'message');
    return made;
  };
  atEnd(stop);
  return {
    stop,
    faultsOf: async (path) => {
      const running = child ?? (await start());
      const answer = await outcome(running, path);
      if ('faults' in answer) return answer.faults;
      await stop();
      return [{ filler: answer.filler, ratio: Number.POSITIVE_INFINITY, length: 0 }];
    },
  };
}

/** The faults of a path, or the filler that it did not come to an end with. */
function outcome(child: ChildProcess, path: string): Promise<{ faults: GrowthFault[] } | { filler: string }> {
  return new Promise((resolve, reject) => {
    let filler = '';
    let timer: NodeJS.Timeout;
    const end = (): void => {
      clearTimeout(timer);
      child.off('message', onMessage).off('exit', onExit);
    };
    const giveUp = (): void => {
      end();
      resolve({ filler });
    };
    const onMessage = (message: GrowthMessage): void => {
      clearTimeout(timer);
      timer = setTimeout(giveUp, SILENCE_MS);
      if (message.kind === 'filler') filler = message.filler;
      if (message.kind !== 'done') return;
      end();
      resolve({ faults: message.faults });
    };
    const onExit = (code: number | null): void => {
      end();
      reject(new Error(`"${path}" ended the process (${code}) with ${filler}`));
    };
    timer = setTimeout(giveUp, SILENCE_MS);
    child.on('message', onMessage).on('exit', onExit);
    child.send(path);
  });
}
