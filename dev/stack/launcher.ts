import { commandLineOf, identityOf, parentOf } from '../process-identity.ts';

const POLL_INTERVAL_MS = 500;

/**
 * Resolves when the npm that runs this process has exited. `npm start` runs npm, a shell and this process: a signal to npm
 * ends npm and the shell, but the shell does not pass it on.
 */
export function launcherGone(): Promise<undefined> {
  // Started in another way (a service, `nohup node …`), this process may outlive its parent.
  if (!process.env.npm_lifecycle_event) return new Promise(() => {});
  const parent = process.ppid;
  const isShell = commandLineOf(parent).includes('dev/bootstrap.mjs');
  const npm = isShell ? parentOf(parent) : parent;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (process.ppid === parent && (npm === undefined || isAlive(npm))) return;
      clearInterval(timer);
      resolve(undefined);
    }, POLL_INTERVAL_MS);
    timer.unref();
  });
}

// A zombie npm still has its pid; only Linux can tell cheaply.
function isAlive(pid: number): boolean {
  if (process.platform === 'linux') return identityOf(pid) !== undefined;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
