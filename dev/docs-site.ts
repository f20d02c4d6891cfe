// The documentation site: pages from `docs/`, and the API reference from the OpenAPI document of the compiled program.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { builtDir, type CachedBuild, directoryOf, filesOf, writeBuild } from './cached-build.ts';
import { lock } from './lock.ts';
import type { ReportProgress } from './report.ts';
import { root, shipped } from './root.ts';
import { runCommand } from './run.ts';

const source = join(root, 'docs');
/** Writes the pages of the API reference. */
const reference = [join(root, 'dev/reference'), join(root, 'client/src/resources')];
/** Written before a build. VitePress would leave pages without a file out of the search. */
const referenceFolder = join(source, 'api');
/** Pages for maintainers, and what is written by a build. */
const LEFT_OUT = ['decisions', 'api', '.vitepress/.temp', '.vitepress/cache'].map((name) => join(source, name) + sep);

const docsSite = (program: string): CachedBuild => ({
  name: 'docs-site',
  title: 'Building the documentation',
  sources: () =>
    [...[source, ...reference].flatMap(filesOf), join(root, 'CHANGELOG.md')].filter(
      (file) => !LEFT_OUT.some((folder) => file.startsWith(folder)),
    ),
  alsoFrom: join(program, 'openapi.json'),
  build: (target) => buildSite(program, target),
});

async function buildSite(program: string, target: string, more: NodeJS.ProcessEnv = {}): Promise<void> {
  const vitepress = join(root, 'node_modules/vitepress/bin/vitepress.js');
  const document = join(program, 'openapi.json');
  const env = { ...process.env, NODE_ENV: 'production', OPENAPI_FILE: document, ...more };
  await writeReference(document);
  try {
    await runCommand(process.execPath, [vitepress, 'build', source, '--outDir', target], { cwd: root, env });
  } finally {
    // VitePress leaves its drafts behind when it is interrupted.
    for (const folder of [referenceFolder, join(source, '.vitepress/.temp')])
      rmSync(folder, { recursive: true, force: true });
  }
}

/** Loads the pages on demand: they read the sources of the client, which the package does not have. */
async function writeReference(document: string): Promise<void> {
  const { readDocument, referencePages } = await import('./reference/pages.ts');
  rmSync(referenceFolder, { recursive: true, force: true });
  mkdirSync(referenceFolder);
  for (const { slug, markdown } of referencePages(readDocument(document)))
    writeFileSync(join(referenceFolder, `${slug}.md`), markdown);
}

/** Returns the directory of the built site, and builds it when its source has changed since. `program` is compiled. */
export const docsSiteDir = (program: string, report: ReportProgress): Promise<string> =>
  builtDir(docsSite(program), report);

/** Returns where the site will be, for the API, which looks for it until it is there. */
export const plannedDocsSiteDir = (program: string): string => shipped('docs-site') ?? directoryOf(docsSite(program));

/** Copies the built site for `npm run build`. */
export const writeDocsSite = (program: string, target: string, report: ReportProgress): Promise<void> =>
  writeBuild(docsSite(program), target, report);

/**
 * Builds the site for a web server without an API, below `base`, such as `/everpost/`: links name files, and nothing calls an
 * installation. Not while another build runs, which would write the same pages of the reference.
 */
export async function writeStaticDocs(
  program: string,
  { target, base }: { target: string; base: string },
): Promise<void> {
  const siteLock = await lock(join(root, 'node_modules/.cache/everpost/docs-site.lock'), () => {});
  try {
    rmSync(target, { recursive: true, force: true });
    await buildSite(program, target, { DOCS_STATIC_BASE: base });
    cpSync(join(root, 'web/app/public/icon.svg'), join(target, 'icon.svg'));
  } finally {
    siteLock.release();
  }
}
