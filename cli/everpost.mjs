#!/usr/bin/env node
// `npx everpost`: runs the source where it can be run, else the build. After `npm ci --omit=dev` tsx is missing.
import { existsSync } from 'node:fs';

const source = new URL('./main.ts', import.meta.url);
const build = new URL('../dist/cli/main.js', import.meta.url);
const tsx = existsSync(source) && (await import('tsx/esm/api').catch(() => undefined));
if (tsx) tsx.register();
if (tsx || existsSync(build)) {
  const { main } = await import((tsx ? source : build).href);
  await main(process.argv);
} else {
  console.error('Everpost is not built here. Run "npm ci" and "npm run build" first.');
  process.exitCode = 1;
}
