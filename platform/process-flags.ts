import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
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
  const readable = [...folders.map((path) => `${path}/*`), ...nodeModules()];
  return [...common, permission, ...readable.map((path) => `--allow-fs-read=${path}`)];
}

/** The folder of our packages and, where it is a symbolic link (releases may share one), the link as well. */
function nodeModules(): string[] {
  const isInstalledIn = (folder: string) => existsSync(join(folder, 'nunjucks'));
  const path = require.resolve.paths('nunjucks')?.find(isInstalledIn);
  if (!path) throw new Error('The packages are not installed. Run npm ci.');
  const folder = realpathSync(path);
  return folder === path ? [`${path}/*`] : [`${path}*`, `${folder}/*`];
}
