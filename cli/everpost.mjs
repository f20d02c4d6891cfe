#!/usr/bin/env node
// `npx everpost`: runs the source where it exists, else the build.
import { existsSync } from 'node:fs';

const source = new URL('./main.ts', import.meta.url);
if (existsSync(source)) {
  const { register } = await import('tsx/esm/api');
  register();
  const { main } = await import(source.href);
  await main(process.argv);
} else {
  const { main } = await import(new URL('../dist/cli/main.js', import.meta.url).href);
  await main(process.argv);
}
