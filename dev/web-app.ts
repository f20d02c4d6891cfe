import { join } from 'node:path';
import { builtDir, type CachedBuild, filesOf, writeBuild } from './cached-build.ts';
import type { ReportProgress } from './report.ts';
import { root } from './root.ts';
import { runCommand } from './run.ts';

const source = join(root, 'web/app');

const webApp: CachedBuild = {
  name: 'web-app',
  title: 'Building the web application',
  sources: () => filesOf(source),
  build: async (target) => {
    const vite = join(root, 'node_modules/vite/bin/vite.js');
    // NODE_ENV decides which build of React is used; a test run has its own.
    const env = { ...process.env, NODE_ENV: 'production' };
    const args = [vite, 'build', source, '--outDir', target, '--emptyOutDir'];
    await runCommand(process.execPath, args, { cwd: root, env });
  },
};

/** Returns the directory of the built application, and builds it when its source has changed since. */
export const webAppDir = (report: ReportProgress): Promise<string> => builtDir(webApp, report);

/** Copies the built application for `npm run build`. */
export const writeWebApp = (target: string, report: ReportProgress): Promise<void> =>
  writeBuild(webApp, target, report);
