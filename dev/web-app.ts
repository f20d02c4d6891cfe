import { join } from 'node:path';
import { builtDir, type CachedBuild, filesOf, writeBuild } from './cached-build.ts';
import type { ReportProgress } from './report.ts';
import { root, shipped } from './root.ts';
import { runCommand } from './run.ts';

const source = join(root, 'web/app');
/** What the preview of forms shares with the pages that the API serves. */
const shared = ['web/form-texts.ts', 'web/page.css', 'platform/page-colors.ts'].map((file) => join(root, file));

const webApp: CachedBuild = {
  name: 'web-app',
  title: 'Building the web application',
  sources: () => [...filesOf(source), ...shared],
  build: async (target) => {
    const vite = join(root, 'node_modules/vite/bin/vite.js');
    // NODE_ENV decides which build of React is used; a test run has its own.
    const env = { ...process.env, NODE_ENV: 'production' };
    const args = [vite, 'build', source, '--outDir', target, '--emptyOutDir'];
    await runCommand(process.execPath, args, { cwd: root, env });
  },
};

/** Returns the directory of the built application, and builds it when its source has changed since. */
export const webAppDir = async (report: ReportProgress): Promise<string> =>
  shipped('app') ?? (await builtDir(webApp, report));

/** Copies the built application for `npm run build`. */
export const writeWebApp = (target: string, report: ReportProgress): Promise<void> =>
  writeBuild(webApp, target, report);
