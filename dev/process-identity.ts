// A pid is reused after its process has ended. Pid and start time together identify a process.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

export function identityOf(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? startFromProc(pid) : ps('lstart=', pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** Returns whether the identified process still runs, as opposed to a later process with the same pid. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identityOf(identity.pid)?.startedAt === identity.startedAt;
}

export function isIdentity(value: unknown): value is ProcessIdentity {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, startedAt } = value as Partial<ProcessIdentity>;
  return typeof pid === 'number' && Number.isInteger(pid) && pid > 0 && typeof startedAt === 'string';
}

export function parentOf(pid: number): number | undefined {
  const text = process.platform === 'linux' ? statOf(pid)?.[1] : ps('ppid=', pid);
  return Number(text) || undefined;
}

export function commandLineOf(pid: number): string {
  if (process.platform !== 'linux') return ps('command=', pid) ?? '';
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

// The start time counts ticks since boot; the boot id tells two boots apart. Zombies count as ended.
function startFromProc(pid: number): string | undefined {
  const stat = statOf(pid);
  if (!stat || stat[0] === 'Z' || stat[0] === 'X') return undefined;
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${stat[19]}`;
}

/** Returns the fields of /proc/<pid>/stat, starting at the state. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name, in parentheses, may contain spaces and parentheses: fields start after the last parenthesis.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function ps(field: string, pid: number): string | undefined {
  try {
    const options = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' }, stdio: 'pipe' } as const;
    return execFileSync('ps', ['-o', field, '-p', String(pid)], options).trim() || undefined;
  } catch {
    return undefined;
  }
}
