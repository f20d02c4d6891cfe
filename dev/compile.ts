// Compiles the program to JavaScript and writes its OpenAPI document. The caller adds the workflow code, bundled for
// Temporal's sandbox.
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.ts';
import { runCommand } from './run.ts';

export const BUNDLE = 'workflow-bundle.js';

const webApp = join(root, 'web/app');
/** The web application is built by Vite. */
const isReadAtRunTime = (file: string): boolean => !file.endsWith('.ts') && !file.startsWith(webApp);

/** Does not check the types: `npm run typecheck` does, which CI runs before any build. `flags` are passed on to tsc. */
export async function compile(
  target: string,
  { tsconfig = 'tsconfig.build.json', flags = [] }: { tsconfig?: string; flags?: string[] } = {},
): Promise<void> {
  rmSync(target, { recursive: true, force: true });
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  await runCommand(process.execPath, [tsc, '-p', tsconfig, '--outDir', target, '--noCheck', ...flags], { cwd: root });
  // Templates and SQL files are read at run time.
  for (const folder of ['web', 'db'])
    cpSync(join(root, folder), join(target, folder), { recursive: true, filter: isReadAtRunTime });
  // Inside node_modules no package.json declares ES modules.
  writeFileSync(join(target, 'package.json'), '{ "type": "module" }');
  await runCommand(process.execPath, [join(target, 'api/write-openapi.js')], { cwd: root });
}
