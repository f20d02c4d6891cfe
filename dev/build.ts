// `npm run build`: compiles the program to JavaScript, bundles the workflow code for Temporal's sandbox and builds the web
// application and the documentation.
import { join } from 'node:path';
import { writeBundle } from '../worker/bundle.ts';
import { writeApiTypes } from './api-types.ts';
import { BUNDLE, compile } from './compile.ts';
import { writeDocsSite } from './docs-site.ts';
import { root } from './root.ts';
import { writeWebApp } from './web-app.ts';

const dist = join(root, 'dist');

async function build(): Promise<void> {
  writeApiTypes();
  await compile(dist);
  await writeBundle(join(root, 'workflows', 'index.ts'), join(dist, BUNDLE));
  await writeWebApp(join(dist, 'app'), console.log);
  await writeDocsSite(dist, join(dist, 'docs-site'), console.log);
  console.log('built dist/: node dist/api/server.js, node dist/worker/main.js');
}

build().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
