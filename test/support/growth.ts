import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { sourceExtension } from '../../platform/process-flags.ts';
import { atEnd } from './cleanup.ts';
import type { GrowthMessage, GrowthViolation } from './growth-child.ts';

/** No text path needs a hundredth of this for one filler: one that reports nothing for so long never ends. */
const TIMEOUT_MS = 120_000;

export interface Growth {
  /** Returns the fillers whose work grows faster than the text; `ratio: Infinity` for one that never ended. */
  faultsOf(path: string): Promise<GrowthViolation[]>;
  stop(): Promise<void>;
}

/** Measures text paths in a child process, which is replaced when it had to be killed. */
export function startGrowth(): Growth {
  let child: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    const running = child;
    child = undefined;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  };
  const start = async (): Promise<ChildProcess> => {
    const started = fork(join(import.meta.dirname, `growth-child${sourceExtension}`), [], {
      execArgv: sourceExtension === '.ts' ? ['--import', 'tsx'] : [],
    });
    child = started;
    await once(started, 'message');
    return started;
  };
  atEnd(stop);
  return {
    stop,
    faultsOf: async (path) => {
      const measuring = child ?? (await start());
      const answer = await outcome(measuring, path);
      if ('faults' in answer) return answer.faults;
      await stop();
      return [{ filler: answer.filler, ratio: Number.POSITIVE_INFINITY, length: 0 }];
    },
  };
}

/** Resolves with the violations of a path, or with the filler that it did not finish. */
function outcome(child: ChildProcess, path: string): Promise<{ faults: GrowthViolation[] } | { filler: string }> {
  return new Promise((resolve, reject) => {
    let filler = '';
    let timer: NodeJS.Timeout;
    const end = (): void => {
      clearTimeout(timer);
      child.off('message', onMessage).off('exit', onExit);
    };
    const timeOut = (): void => {
      end();
      resolve({ filler });
    };
    const onMessage = (message: GrowthMessage): void => {
      clearTimeout(timer);
      timer = setTimeout(timeOut, TIMEOUT_MS);
      if (message.kind === 'filler') filler = message.filler;
      if (message.kind !== 'done') return;
      end();
      resolve({ faults: message.faults });
    };
    const onExit = (code: number | null): void => {
      end();
      reject(new Error(`"${path}" ended the process (${code}) with ${filler}`));
    };
    timer = setTimeout(timeOut, TIMEOUT_MS);
    child.on('message', onMessage).on('exit', onExit);
    child.send(path);
  });
}
