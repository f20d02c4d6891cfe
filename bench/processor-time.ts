import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Seconds in a tick of /proc/<pid>/stat. */
const TICK = 0.01;
/** What idle processes use in a window, all together. */
const SETTLED_SECONDS = 0.08;
const WINDOW_MS = 500;
const MAX_WINDOWS = 120;

/** Returns the processor seconds of a process and of all its descendants, those that have ended included. */
export function processorSeconds(pid: number): number {
  let stat: string;
  let children: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  } catch {
    // Ended meanwhile: its parent has its time.
    return 0;
  }
  // After the name: state is field 3; utime, stime, and those of ended children are fields 14 to 17.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK;
  return children
    .split(' ')
    .filter(Boolean)
    .reduce((sum, child) => sum + processorSeconds(Number(child)), own);
}

export type Pids<Name extends string> = Record<Name, number>;

/** Reads the processor time of several processes by name. */
export function processorTimes<Name extends string>(pids: Pids<Name>): Record<Name, number> {
  return Object.fromEntries(Object.entries<number>(pids).map(([name, pid]) => [name, processorSeconds(pid)])) as Record<
    Name,
    number
  >;
}

/** Waits until the processes are idle: work that follows the last mail belongs to the mails too. */
export async function untilIdle(pids: Pids<string>): Promise<void> {
  const total = () => Object.values(pids).reduce((sum, pid) => sum + processorSeconds(pid), 0);
  for (let window = 0, before = total(); window < MAX_WINDOWS; window++) {
    await sleep(WINDOW_MS);
    const now = total();
    if (now - before <= SETTLED_SECONDS) return;
    before = now;
  }
}
