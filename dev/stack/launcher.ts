import { commandLineOf, identityOf, parentOf } from '../process-identity.ts';

const POLL_INTERVAL_MS = 500;

/**
 * Resolves when the npm (or npx) that runs this process has exited. It runs a shell and this process: a signal to npm
 * ends npm and the shell, but the shell does not pass it on.
 */
export function launcherGone(): Promise<undefined> {
  // Started in another way (a service, `nohup node …`), this process may outlive its parent.
  if (!process.env.npm_lifecycle_event) return new Promise(() => {});
  const parent = process.ppid;
  const isShell = /(^|\/)\w*sh -c /.test(commandLineOf(parent));
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
