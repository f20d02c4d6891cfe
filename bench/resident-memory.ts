import { readFileSync } from 'node:fs';

/** Returns the memory of a process and of all its descendants. Pages that they share count once for each. */
export function residentMegabytes(pid: number): number {
  try {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    return children.reduce((sum, child) => sum + residentMegabytes(Number(child)), Number(kilobytes) / 1_024);
  } catch {
    return 0;
  }
}
