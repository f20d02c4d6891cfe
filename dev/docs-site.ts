import { rmSync } from 'node:fs';
import { join, sep } from 'node:path';
import { builtDir, type CachedBuild, directoryOf, filesOf, writeBuild } from './cached-build.ts';
import type { ReportProgress } from './report.ts';
import { root } from './root.ts';
import { runCommand } from './run.ts';

const source = join(root, 'docs');
/** Pages for maintainers, and what VitePress writes while it builds. */
const LEFT_OUT = ['decisions', '.vitepress/.temp', '.vitepress/cache'].map((name) => join(source, name) + sep);

const docsSite: CachedBuild = {
  name: 'docs-site',
  title: 'Building the documentation',
  sources: () => filesOf(source).filter((file) => !LEFT_OUT.some((folder) => file.startsWith(folder))),
  build: async (target) => {
    const vitepress = join(root, 'node_modules/vitepress/bin/vitepress.js');
    const env = { ...process.env, NODE_ENV: 'production' };
    await runCommand(process.execPath, [vitepress, 'build', source, '--outDir', target], { cwd: root, env });
    // VitePress leaves its drafts behind when it is interrupted.
    rmSync(join(source, '.vitepress/.temp'), { recursive: true, force: true });
  },
};

/** Returns the directory of the built site, and builds it when `docs/` has changed since. */
export const docsSiteDir = (report: ReportProgress): Promise<string> => builtDir(docsSite, report);

/** Returns where the site will be, for the API, which looks for it until it is there. */
export const plannedDocsSiteDir = (): string => directoryOf(docsSite);

/** Copies the built site for `npm run build`. */
export const writeDocsSite = (target: string, report: ReportProgress): Promise<void> =>
  writeBuild(docsSite, target, report);
