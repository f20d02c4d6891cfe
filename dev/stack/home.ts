// `.everpost/`: everything that a stack keeps, and the lock that lets one stack at a time use it.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type HeldLock, tryLock } from '../lock.ts';

export class AlreadyRunning extends Error {
  constructor(home: string, pid: number | undefined) {
    super(
      `A stack is already running in ${home} (pid ${pid ?? 'unknown'}); its addresses are in ${join(home, 'stack.json')}. ` +
        'Stop it first, or set EVERPOST_HOME to another directory to run a second one beside it.',
    );
  }
}

/** All that `--fresh` removes. By name: EVERPOST_HOME may be a directory that holds other things too. */
const CONTENT = ['postgres', 'postgres.password', 'temporal', 'mail', 'uploads', 'logs', 'credentials.json'];

export class Home {
  readonly dir: string;

  constructor(dir: string) {
    this.dir = dir;
    // As root, Postgres runs under another account, which must be able to pass; what is secret is closed by itself.
    mkdirSync(dir, { recursive: true, mode: 0o755 });
  }

  lock(): HeldLock {
    const held = tryLock(join(this.room('run'), 'stack.lock'));
    if ('release' in held) return held;
    throw new AlreadyRunning(this.dir, held.heldBy?.pid);
  }

  /** A directory for our eyes only. */
  room(name: string): string {
    const dir = join(this.dir, name);
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    return dir;
  }

  file(name: string): string {
    return join(this.dir, name);
  }

  /** A log begins anew with each start; that of the start before is kept beside it. */
  logFile(part: string): string {
    const file = join(this.room('logs'), `${part}.log`);
    if (existsSync(file)) renameSync(file, `${file}.old`);
    return file;
  }

  makeFresh(): void {
    for (const name of CONTENT) rmSync(join(this.dir, name), { recursive: true, force: true });
    for (const name of readdirSync(this.dir)) {
      // Set-ups of Postgres that died half way.
      if (name.startsWith('.postgres.init-')) rmSync(join(this.dir, name), { recursive: true, force: true });
    }
  }
}
