// A lock between processes: a file that names its owner. The lock of a dead process is taken over.
import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identityOf, isIdentity, isRunning, type ProcessIdentity } from './process-identity.ts';

export interface LockOwner extends ProcessIdentity {
  token: string;
}

export interface AcquiredLock {
  release(): void;
}

/** Acquires the lock, or returns the running process that owns it. */
export function tryLock(file: string): AcquiredLock | { owner: LockOwner | undefined } {
  mkdirSync(dirname(file), { recursive: true });
  const token = randomUUID();
  for (let tries = 0; tries < 3; tries++) {
    if (createLockFile(file, token)) return { release: () => removeIf(file, token) };
    const owner = readOwner(file);
    if (owner && isRunning(owner)) return { owner };
    if (!removeDead(file, owner)) break;
  }
  return { owner: readOwner(file) };
}

/** Waits for the lock and calls `onWait` once a second with the owner and the time waited so far. */
export async function lock(
  file: string,
  onWait: (owner: LockOwner | undefined, waitedMs: number) => void,
): Promise<AcquiredLock> {
  const started = Date.now();
  for (;;) {
    const result = tryLock(file);
    if ('release' in result) return result;
    onWait(result.owner, Date.now() - started);
    await sleep(1_000);
  }
}

// The file is written under another name and linked into place: a lock without an owner is never visible.
function createLockFile(file: string, token: string): boolean {
  const ownFile = `${file}.${token}`;
  writeFileSync(ownFile, JSON.stringify({ ...identityOf(process.pid), token }));
  try {
    linkSync(ownFile, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(ownFile, { force: true });
  }
}

function readOwner(file: string): LockOwner | undefined {
  try {
    const owner: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isIdentity(owner) && 'token' in owner && typeof owner.token === 'string'
      ? { ...owner, token: owner.token }
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Of the processes that see the same dead owner, only the one that creates the marker file removes its lock. It reads the
 * lock again under the marker, because the owner may have changed. Returns false when another process removes it.
 */
function removeDead(file: string, owner: LockOwner | undefined): boolean {
  const marker = `${file}.dead-${owner?.token ?? 'unreadable'}`;
  if (ageMs(marker) > 10_000) rmSync(marker, { force: true });
  try {
    writeFileSync(marker, String(process.pid), { flag: 'wx' });
  } catch {
    return false;
  }
  try {
    removeIf(file, owner?.token);
    return true;
  } finally {
    rmSync(marker, { force: true });
  }
}

function removeIf(file: string, token: string | undefined): void {
  if (readOwner(file)?.token === token) rmSync(file, { force: true });
}

function ageMs(file: string): number {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}
