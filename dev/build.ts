// `npm run build`: the program as plain JavaScript, and the workflow code bundled for Temporal's sandbox beside it.
import { cpSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeBundle } from '../worker/bundle.ts';
import { run } from './run.ts';

const root = resolve(import.meta.dirname, '..');
const dist = join(root, 'dist');

async function build(): Promise<void> {
  rmSync(dist, { recursive: true, force: true });
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
    cwd: root,
  });
  cpSync(join(root, 'web'), join(dist, 'web'), { recursive: true, filter: (file) => !file.endsWith('.ts') });
  await writeBundle(join(root, 'workflows', 'index.ts'), join(dist, 'workflow-bundle.js'));
  console.log('built dist/: node dist/api/server.js, node dist/worker/main.js');
}

build().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
