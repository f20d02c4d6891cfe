// The program as it was before the newest migration, compiled: it has to work on the new schema while a release is rolled
// out (docs/decisions/migrations.md).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { migrations } from '../../db/migrations/index.ts';
import { root } from '../../dev/root.ts';
import { runDirectory } from './cleanup.ts';

const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** Returns the last commit of this branch that does not have the newest migration. */
export function previousCommit(): string {
  if (git('rev-parse', '--is-shallow-repository') === 'true' && !deepened()) return git('rev-parse', 'HEAD');
  const newest = Object.keys(migrations).sort().at(-1) ?? '';
  const path = `db/migrations/${newest}`;
  const additions = git('log', '--first-parent', '--diff-filter=A', '--format=%H', 'HEAD', '--', path);
  // The oldest: a migration may get further files until it is released.
  const added = additions.split('\n').at(-1) ?? '';
  // A migration that is not committed yet.
  if (added === '') return git('rev-parse', 'HEAD');
  return git('rev-parse', `${added}^1`);
}

/** Fetches the history of a shallow clone. Without it only the present version can be run. */
function deepened(): boolean {
  try {
    git('fetch', '--unshallow');
    return true;
  } catch {
    console.warn('The clone has no history and its remote cannot be reached: the previous version is not tested.');
    return false;
  }
}

/**
 * Returns the directory of the program, compiled by its own build. Later runs find it in the cache of compiled programs. Its
 * source is not taken from `git worktree add`, which leaves an entry in the repository when the tests are killed.
 */
export function compilePrevious(commit: string): string {
  const source = mkdtempSync(join(runDirectory(), 'previous-version-'));
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 1 << 30 });
  execFileSync('tar', ['-x', '-C', source], { input: archive });
  symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'));
  const print = "process.stdout.write(await (await import('./dev/program.ts')).compiledProgram())";
  const args = ['--import', 'tsx', '--input-type=module', '--eval', print];
  return realpathSync(execFileSync(process.execPath, args, { cwd: source, encoding: 'utf8' }));
}
