// Postgres refuses to run as root. As root, it is run under an unprivileged account, or, where that account cannot read
// the files (a checkout under /root), in a user namespace that maps root to another uid.
import { execFileSync } from 'node:child_process';
import { lchownSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Account {
  /** Goes in front of the command. */
  prefix: string[];
  uid?: number;
  gid?: number;
  /** The uid and gid that must own the data directory, seen from outside the namespace. Unset: the current user. */
  owner?: { uid: number; gid: number };
}

const NAMESPACE = ['unshare', '--user', '--map-user=1000', '--map-group=1000'];

/** Returns an account that can run `program` and enter `dir`. */
export function postgresAccount(program: string, dir: string): Account {
  if (process.getuid?.() !== 0) return { prefix: [] };
  for (const name of ['postgres', 'nobody']) {
    const ids = idsOf(name);
    if (ids && canRun(program, dir, ids)) return { prefix: [], ...ids, owner: ids };
  }
  if (namespacesWork(program)) return { prefix: NAMESPACE, owner: { uid: 0, gid: 0 } };
  throw new Error(
    `Postgres does not run as root, and neither the user "postgres" nor "nobody" can access ${program} and ${dir}, ` +
      'nor does this machine allow user namespaces. Run this as another user, move the checkout (or EVERPOST_HOME) ' +
      'to a directory that all users may enter, or point DATABASE_URL at a Postgres of yours.',
  );
}

/** Changes the owner of a directory and its content to the account that Postgres runs under. */
export function changeOwner(account: Account, dir: string): void {
  const { owner } = account;
  if (!owner || lstatSync(dir).uid === owner.uid) return;
  // The directory itself comes last: when this is interrupted, the next start sees its old owner and repeats the work.
  for (const entry of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(dir, entry), owner.uid, owner.gid);
  }
  lchownSync(dir, owner.uid, owner.gid);
}

function idsOf(name: string): { uid: number; gid: number } | undefined {
  try {
    const readId = (what: string) => Number(execFileSync('id', [what, name], { encoding: 'utf8', stdio: 'pipe' }));
    return { uid: readId('-u'), gid: readId('-g') };
  } catch {
    return undefined;
  }
}

function canRun(program: string, dir: string, ids: { uid: number; gid: number }): boolean {
  try {
    // `--version` loads the program's libraries too; `cd` needs access to every parent directory.
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
