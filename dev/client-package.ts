// Builds the client package: `npm pack ./client` runs it before it packs.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeApiTypes } from './api-types.ts';
import { root } from './root.ts';
import { runCommand } from './run.ts';

const source = join(root, 'client');
const viteCli = join(root, 'node_modules/vite/bin/vite.js');

/** Writes modules with their types, and `track.min.js` for a script element, which defines `everpost.createTracker`. */
export async function buildClientPackage(target: string): Promise<void> {
  rmSync(target, { recursive: true, force: true });
  writeApiTypes();
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  await runCommand(process.execPath, [tsc, '-p', source, '--outDir', target], { cwd: root });
  const files = readdirSync(target, { recursive: true, encoding: 'utf8' });
  for (const name of files.filter((file) => file.endsWith('.d.ts'))) {
    const file = join(target, name);
    // tsc rewrites the names of imported files in JavaScript only.
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replaceAll(/((?:from |import\()['"]\.{1,2}\/[\w/-]+)\.ts(?=['"])/g, '$1.js'),
    );
  }
  await runCommand(process.execPath, [viteCli, 'build', source, '--outDir', target], { cwd: root });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  buildClientPackage(join(source, 'dist')).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
