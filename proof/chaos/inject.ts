// Carries out the planned faults.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { PlannedFault, ProcessName, ProxyName } from './plan.ts';
import type { ProofStack } from './stack.ts';

const execute = promisify(execFile);

export interface InjectedFault extends PlannedFault {
  /** When it ended, from the start of the load. */
  endedAtMs: number;
}

/** Carries out every fault at its time, one after the other. */
export async function injectFaults(
  stack: ProofStack,
  plan: PlannedFault[],
  report: (line: string) => void,
): Promise<InjectedFault[]> {
  const start = performance.now();
  const injected: InjectedFault[] = [];
  for (const fault of plan) {
    await sleep(Math.max(0, fault.atMs - (performance.now() - start)));
    report(`${(fault.atMs / 1000).toFixed(1)} s: ${fault.kind} of ${fault.target}, ${fault.forMs} ms`);
    await inject(stack, fault);
    injected.push({ ...fault, endedAtMs: performance.now() - start });
  }
  return injected;
}

async function inject(stack: ProofStack, { kind, target, forMs }: PlannedFault): Promise<void> {
  const service = stack.processes[target as ProcessName];
  const proxy = stack.proxies[target as ProxyName];
  switch (kind) {
    case 'kill':
      service.kill(forMs);
      return;
    case 'freeze':
      service.signal('SIGSTOP');
      await sleep(forMs);
      service.signal('SIGCONT');
      return;
    case 'postgres-restart':
      return stack.restartPostgres(() => sleep(forMs));
    case 'temporal-restart':
      return stack.restartTemporal(() => sleep(forMs));
    case 'cut':
      proxy.cut();
      return;
    case 'stall':
      proxy.stall();
      await sleep(forMs);
      proxy.resume();
      return;
    case 'disk-full':
      return fillDisk(stack, target, forMs);
    case 'clock-step':
      // An hour ahead or behind; both happen over a run.
      service.stepClock(forMs % 2 === 0 ? 3_600_000 : -3_600_000);
      await sleep(forMs);
      service.stepClock(0);
      return;
  }
}

/**
 * No file of the processes may grow (`ulimit -f`, set while they run): writes fail as on a full disk. Postgres and Temporal
 * may end by that, and are started again when there is space.
 */
async function fillDisk(stack: ProofStack, target: string, forMs: number): Promise<void> {
  const service = stack.processes[target as ProcessName];
  service?.disturb();
  const root = service?.pid ?? stack.pids(target as 'postgres' | 'temporal');
  const limit = (size: string) =>
    Promise.all(
      familyOf(root).map((pid) => execute('prlimit', ['--pid', String(pid), `--fsize=${size}:`]).catch(() => {})),
    );
  await limit('4096');
  await sleep(forMs);
  await limit('unlimited');
  if (service) service.calm();
  else await stack.revive();
}

/** The process and its children, such as the sessions of Postgres. */
function familyOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return [pid, ...(children ? children.split(' ').map(Number) : [])];
  } catch {
    return [pid];
  }
}
