// `npm run build`: compiles the program to JavaScript and bundles the workflow code for Temporal's sandbox.
import { join, resolve } from 'node:path';
import { writeBundle } from '../worker/bundle.ts';
import { BUNDLE, compile } from './compile.ts';

const root = resolve(import.meta.dirname, '..');
const dist = join(root, 'dist');

async function build(): Promise<void> {
  await compile(dist);
  await writeBundle(join(root, 'workflows', 'index.ts'), join(dist, BUNDLE));
  console.log('built dist/: node dist/api/server.js, node dist/worker/main.js');
}

build().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
