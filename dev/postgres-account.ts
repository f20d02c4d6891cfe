// Postgres refuses to run as root. As root we run it under an unprivileged account; where that one cannot reach the
// files (a checkout under /root), in a user namespace in which root bears another number.
import { execFileSync } from 'node:child_process';
import { lchownSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Account {
  /** Words to put before the command. */
  prefix: string[];
  uid?: number;
  gid?: number;
  /** Who must own the data directory, as seen from outside; unset: whoever we are. */
  owner?: { uid: number; gid: number };
}

const NAMESPACE = ['unshare', '--user', '--map-user=1000', '--map-group=1000'];

/** The account that can run `program` and reach `dir`. */
export function postgresAccount(program: string, dir: string): Account {
  if (process.getuid?.() !== 0) return { prefix: [] };
  for (const name of ['postgres', 'nobody']) {
    const ids = idsOf(name);
    if (ids && canWork(program, dir, ids)) return { prefix: [], ...ids, owner: ids };
  }
  if (namespacesWork(program)) return { prefix: NAMESPACE, owner: { uid: 0, gid: 0 } };
  throw new Error(
    `Postgres does not run as root, and neither the user "postgres" nor "nobody" can reach ${program} and ${dir}, ` +
      'nor does this machine allow user namespaces. Run this as another user, move the checkout (or EVERPOST_HOME) ' +
      'to a place that all users may enter, or point DATABASE_URL at a Postgres of yours.',
  );
}

/** Hands a directory and all that is in it to the account that Postgres will run under. */
export function giveTo(account: Account, dir: string): void {
  const { owner } = account;
  if (!owner || lstatSync(dir).uid === owner.uid) return;
  // The top comes last: where this is cut short, the next start sees by it that there is more to do.
  for (const entry of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(dir, entry), owner.uid, owner.gid);
  }
  lchownSync(dir, owner.uid, owner.gid);
}

function idsOf(name: string): { uid: number; gid: number } | undefined {
  try {
    const ask = (what: string) => Number(execFileSync('id', [what, name], { encoding: 'utf8', stdio: 'pipe' }));
    return { uid: ask('-u'), gid: ask('-g') };
  } catch {
    return undefined;
  }
}

function canWork(program: string, dir: string, ids: { uid: number; gid: number }): boolean {
  try {
    // Loading the program takes its libraries as well; entering the directory takes every one above it.
    const script = 'cd "$1" && "$0" --version';
    execFileSync('/bin/sh', ['-c', script, program, dir], { ...ids, cwd: '/', stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function namespacesWork(program: string): boolean {
  try {
    const [command = '', ...rest] = NAMESPACE;
    execFileSync(command, [...rest, program, '--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
