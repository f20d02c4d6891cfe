// A lock between processes, made of a file that names its holder. The lock of a dead process is taken over.
import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identityOf, isIdentity, isRunning, type ProcessIdentity } from './process-identity.ts';

export interface Holder extends ProcessIdentity {
  token: string;
}

export interface HeldLock {
  release(): void;
}

/** Takes the lock, or answers with the living holder. */
export function tryLock(file: string): HeldLock | { heldBy: Holder | undefined } {
  mkdirSync(dirname(file), { recursive: true });
  const token = randomUUID();
  for (let tries = 0; tries < 3; tries++) {
    if (claim(file, token)) return { release: () => removeIf(file, token) };
    const holder = readHolder(file);
    if (holder && isRunning(holder)) return { heldBy: holder };
    if (!removeDead(file, holder)) break;
  }
  return { heldBy: readHolder(file) };
}

/** Waits for the lock; `onWait` hears once a second for how long, and who holds it. */
export async function lock(
  file: string,
  onWait: (heldBy: Holder | undefined, waitedMs: number) => void,
): Promise<HeldLock> {
  const started = Date.now();
  for (;;) {
    const held = tryLock(file);
    if ('release' in held) return held;
    onWait(held.heldBy, Date.now() - started);
    await sleep(1_000);
  }
}

// Written beside and linked into place, so that nobody ever reads a lock without its holder.
function claim(file: string, token: string): boolean {
  const mine = `${file}.${token}`;
  writeFileSync(mine, JSON.stringify({ ...identityOf(process.pid), token }));
  try {
    linkSync(mine, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(mine, { force: true });
  }
}

function readHolder(file: string): Holder | undefined {
  try {
    const holder: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isIdentity(holder) && 'token' in holder && typeof holder.token === 'string'
      ? { ...holder, token: holder.token }
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Of all who see the same dead holder only one may remove its lock: the one that links the marker of that holder.
 * It looks again under the marker, since a slow comer may hold yesterday's news. False: somebody else is at it.
 */
function removeDead(file: string, holder: Holder | undefined): boolean {
  const marker = `${file}.dead-${holder?.token ?? 'unreadable'}`;
  if (ageMs(marker) > 10_000) rmSync(marker, { force: true });
  try {
    writeFileSync(marker, String(process.pid), { flag: 'wx' });
  } catch {
    return false;
  }
  try {
    removeIf(file, holder?.token);
    return true;
  } finally {
    rmSync(marker, { force: true });
  }
}

function removeIf(file: string, token: string | undefined): void {
  if (readHolder(file)?.token === token) rmSync(file, { force: true });
}

function ageMs(file: string): number {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}
