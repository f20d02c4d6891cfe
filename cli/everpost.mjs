#!/usr/bin/env node
// `npx everpost`: the program from its source where that is, else from the build.
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
