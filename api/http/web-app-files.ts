import { join, resolve } from 'node:path';
import { readStaticFiles, type StaticFiles } from './static-files.ts';

/** Reads the built web application; undefined when it is not built. */
export const readWebApp = (dir: string | undefined): StaticFiles | undefined => readStaticFiles(candidates(dir));

/** Beside the compiled program; for a program that runs from its source, the last build. */
const candidates = (dir: string | undefined): string[] =>
  dir ? [resolve(dir)] : ['../../app', '../../dist/app'].map((path) => join(import.meta.dirname, path));
