// A checkout of an earlier commit, so that a benchmark can measure it beside this one.
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, linkSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../dev/root.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';

/** Creates a worktree of the revision, with the packages and the benchmarks of this one. */
export function checkOut(revision: string): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const folder = join(runDirectory(), 'before');
  git('worktree', 'add', '--detach', '--quiet', folder, revision);
  atEnd(() => void git('worktree', 'remove', '--force', folder));
  linkTree(join(root, 'node_modules'), join(folder, 'node_modules'));
  rmSync(join(folder, 'bench'), { recursive: true, force: true });
  cpSync(join(root, 'bench'), join(folder, 'bench'), { recursive: true });
  return folder;
}

/** Uses hard links, not one symbolic link: the renderer may only read below its real folder. Caches are not shared. */
function linkTree(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.name === '.cache') continue;
    if (entry.isDirectory()) linkTree(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkOrCopy(source, target);
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    // The target is on another file system.
    copyFileSync(source, target);
  }
}
