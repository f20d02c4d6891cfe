import { createRequire } from 'node:module';
import { extname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);

/** The extension of our files: `.ts` when run from source, `.js` when compiled. */
export const sourceExtension = extname(import.meta.filename);

/** Returns the flags of a child process that runs no code from strings and, when compiled, reads its own program only. */
export function restrictedProcessFlags(folders: string[]): string[] {
  const common = ['--disallow-code-generation-from-strings', '--no-warnings'];
  // tsx needs more access.
  if (sourceExtension === '.ts') return ['--import', pathToFileURL(require.resolve('tsx')).href, ...common];
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  return [...common, permission, ...[...folders, nodeModules()].map((path) => `--allow-fs-read=${path}/*`)];
}

function nodeModules(): string {
  const path = require.resolve('nunjucks');
  const name = join(sep, 'node_modules', sep);
  return path.slice(0, path.lastIndexOf(name) + name.length - 1);
}
