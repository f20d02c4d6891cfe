// The documentation site that VitePress builds from `docs/`, in memory.
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { readStaticFiles, type StaticFile, type StaticFiles } from './static-files.ts';

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

/** The highlighting of code needs inline styles, the icons of the site need `data:`. */
const POLICY = [
  "connect-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

export class DocsSite {
  #directories: string[];
  #files: StaticFiles | undefined;

  /** Without `dir`: beside the compiled program; for a program that runs from its source, the last build. */
  constructor(dir: string | undefined) {
    this.#directories = dir
      ? [resolve(dir)]
      : ['../../docs-site', '../../dist/docs-site'].map((path) => join(import.meta.dirname, path));
    this.files();
  }

  /** Returns undefined while the site is not built: `npm start` builds it while the API is running. */
  files(): StaticFiles | undefined {
    this.#files ??= readStaticFiles(this.#directories);
    return this.#files;
  }
}

/** Allows the scripts of our origin, and the page's own inline scripts by their hashes. */
export function policyOf({ content }: Pick<StaticFile, 'content'>): string {
  const scripts = [...content.toString('utf8').matchAll(INLINE_SCRIPT)].map(([, text = '']) => text);
  const hashes = [...new Set(scripts)].map(
    (script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return `default-src 'none'; script-src ${["'self'", ...hashes].join(' ')}; ${POLICY}`;
}
