// `.everpost/`: the data of a stack, and the lock that lets one stack at a time use it.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type AcquiredLock, tryLock } from '../lock.ts';

export class AlreadyRunning extends Error {
  constructor(home: string, pid: number | undefined) {
    super(
      `A stack is already running in ${home} (pid ${pid ?? 'unknown'}); its addresses are in ${join(home, 'stack.json')}. ` +
        'Stop it first, or set EVERPOST_HOME to another directory to run a second one beside it.',
    );
  }
}

/** What `--fresh` deletes. Listed by name, because EVERPOST_HOME may contain other files too. */
const CONTENT = [
  'postgres',
  'postgres.password',
  'temporal',
  'mail',
  'uploads',
  'logs',
  'credentials.json',
  'sample.json',
];

export class Home {
  readonly dir: string;

  constructor(dir: string) {
    this.dir = dir;
    // As root, Postgres runs under another account, which must be able to enter. Secret directories have their own mode.
    mkdirSync(dir, { recursive: true, mode: 0o755 });
  }

  lock(): AcquiredLock {
    const result = tryLock(join(this.directory('run'), 'stack.lock'));
    if ('release' in result) return result;
    throw new AlreadyRunning(this.dir, result.owner?.pid);
  }

  /** Returns a directory that only the current user can read. */
  directory(name: string): string {
    const dir = join(this.dir, name);
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    return dir;
  }

  file(name: string): string {
    return join(this.dir, name);
  }

  /** Starts a new log file and keeps the previous one as `.old`. */
  logFile(part: string): string {
    const file = join(this.directory('logs'), `${part}.log`);
    if (existsSync(file)) renameSync(file, `${file}.old`);
    return file;
  }

  makeFresh(): void {
    for (const name of CONTENT) rmSync(join(this.dir, name), { recursive: true, force: true });
    for (const name of readdirSync(this.dir)) {
      // Initializations of Postgres that were interrupted.
      if (name.startsWith('.postgres.init-')) rmSync(join(this.dir, name), { recursive: true, force: true });
    }
  }
}
