import { commandLineOf, identityOf, parentOf } from '../process-identity.ts';

const LOOK_EVERY_MS = 500;

/**
 * Resolves when the npm that runs us is gone. `npm start` is npm, a shell, and we: a signal to npm ends npm and the
 * shell, but the shell does not pass it on, and we would go on running with nobody to end us.
 */
export function launcherGone(): Promise<undefined> {
  // Started in any other way (a service, `nohup node …`) we may well outlive whoever started us.
  if (!process.env.npm_lifecycle_event) return new Promise(() => {});
  const parent = process.ppid;
  const isShell = commandLineOf(parent).includes('dev/bootstrap.mjs');
  const npm = isShell ? parentOf(parent) : parent;
  return new Promise((resolve) => {
    const look = setInterval(() => {
      if (process.ppid === parent && (npm === undefined || isThere(npm))) return;
      clearInterval(look);
      resolve(undefined);
    }, LOOK_EVERY_MS);
    look.unref();
  });
}

// A dead npm that nobody has buried yet still has its number; only Linux tells the two apart cheaply.
function isThere(pid: number): boolean {
  if (process.platform === 'linux') return identityOf(pid) !== undefined;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
