// The package `everpost`: the compiled program with what it serves, and what `everpost start` needs.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeBundle } from '../../worker/bundle.ts';
import { writeApiTypes } from '../api-types.ts';
import { BUNDLE, compile } from '../compile.ts';
import { writeDocsSite } from '../docs-site.ts';
import type { ReportProgress } from '../report.ts';
import { root } from '../root.ts';
import { writeWebApp } from '../web-app.ts';

/** Their templates and SQL files are read at run time. */
const PARTS_OF_STACK = ['dev/mail-catcher', 'dev/stack'];
const COPIED = ['README.md', 'LICENSE', 'CHANGELOG.md', 'cli/everpost.mjs'];

type Json = Record<string, unknown>;

/** Of our package.json: what a user of the package needs. */
const MANIFEST_FIELDS = ['name', 'version', 'description', 'license', 'repository', 'type', 'engines'];

const jsonOf = (file: string): Json => JSON.parse(readFileSync(join(root, file), 'utf8'));

export async function writeEverpostPackage(folder: string, report: ReportProgress): Promise<void> {
  const dist = join(folder, 'dist');
  writeApiTypes();
  // Its sources are not part of the package.
  await compile(dist, { tsconfig: 'tsconfig.package.json', flags: ['--sourceMap', 'false'] });
  await writeBundle(join(root, 'workflows/index.ts'), join(dist, BUNDLE));
  await writeWebApp(join(dist, 'app'), report);
  await writeDocsSite(dist, join(dist, 'docs-site'), report);
  const read = PARTS_OF_STACK.flatMap((part) => readdirSync(join(root, part)).map((name) => join(part, name)));
  for (const file of [...COPIED, ...read.filter((name) => !name.endsWith('.ts'))])
    cpSync(join(root, file), join(folder, file));
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify(manifestOf(jsonOf('package.json'), jsonOf('package-lock.json')), null, 2)}\n`,
  );
}

/** Users get the versions of our dependencies that were tested. npm does not use a lockfile inside of a package. */
export const manifestOf = (own: Json, lock: Json): Json => ({
  ...Object.fromEntries(MANIFEST_FIELDS.flatMap((name) => (name in own ? [[name, own[name]]] : []))),
  bin: { everpost: 'cli/everpost.mjs' },
  files: ['dist', 'cli', 'dev', 'CHANGELOG.md'],
  dependencies: Object.fromEntries(
    Object.keys(own.dependencies as object).map((name) => [
      name,
      (lock.packages as Record<string, { version?: string }>)[`node_modules/${name}`]?.version,
    ]),
  ),
});
