import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Forms of well-known credentials. */
const FORMS: Record<string, RegExp> = {
  'private key': /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s+[A-Za-z0-9+/=\s]{100,}/,
  'AWS access key': /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  'Stripe live key': /\b[sr]k_live_[0-9A-Za-z]{16,}/,
  'GitHub token': /\bgh[pousr]_[0-9A-Za-z]{36}\b/,
  'npm token': /\bnpm_[0-9A-Za-z]{36}\b/,
  'Slack token': /\bxox[abprs]-[0-9A-Za-z-]{20,}/,
  'Google key': /\bAIza[0-9A-Za-z_-]{35}\b/,
  'JSON web token': /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/,
  'key of this product': /\b[sp]k_[0-9A-Za-z]{40,}\b/,
};

export interface FoundSecret {
  file: string;
  line: number;
  form: string;
}

/** Returns what looks like a credential in a text. */
export function secretsIn(text: string): Omit<FoundSecret, 'file'>[] {
  return Object.entries(FORMS).flatMap(([form, pattern]) => {
    const found = pattern.exec(text);
    return found ? [{ form, line: text.slice(0, found.index).split('\n').length }] : [];
  });
}

const MAX_BYTES = 2 * 1024 * 1024;

/** Lists every file that git tracks, or, in a copy without a repository, every file that belongs to the sources. */
export const sourceFiles = (root: string): string[] => trackedFiles(root) ?? filesBelow(root);

export function scanForSecrets(root: string): { files: number; found: FoundSecret[] } {
  const files = sourceFiles(root);
  const found = files.flatMap((file) => {
    const content = contentOf(join(root, file));
    return content === undefined ? [] : secretsIn(content).map((secret) => ({ file, ...secret }));
  });
  return { files: files.length, found };
}

/** Undefined where `root` is not a repository. */
function trackedFiles(root: string): string[] | undefined {
  try {
    return execFileSync('git', ['ls-files', '-z'], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .split('\0')
      .filter(Boolean);
  } catch {
    return undefined;
  }
}

/** What .gitignore names. */
const NOT_SOURCES = /^(?:node_modules|dist|\.everpost|\.git|\.env|\.temp|cache|.*\.log)$/;

function filesBelow(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (NOT_SOURCES.test(entry.name)) return [];
    if (entry.isDirectory()) return filesBelow(root, path);
    return entry.isFile() ? [path] : [];
  });
}

/** Undefined for binary and very large files, and for one that is deleted in the working tree. */
function contentOf(path: string): string | undefined {
  try {
    const bytes = readFileSync(path);
    return bytes.length > MAX_BYTES || bytes.includes(0) ? undefined : bytes.toString('utf8');
  } catch {
    return undefined;
  }
}
