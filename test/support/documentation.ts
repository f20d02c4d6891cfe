// Runs the shell blocks of a page of the documentation as a reader would: in the folder of the repository, one after the
// other in one shell, against the stack of `npm start`.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledProgram } from '../../dev/program.ts';
import { root } from '../../dev/root.ts';
import { webAppDir } from '../../dev/web-app.ts';
import { withoutSettings } from './processes.ts';
import { eventually } from './waiting.ts';

const READY_WITHIN_MS = 120_000;
const PAGE_WITHIN_MS = 120_000;

export interface CodeBlock {
  language: string;
  /** The line of its first line, from 1. */
  line: number;
  text: string;
}

/** The blocks whose fence names the language and nothing else; `noexec` marks those that are only to be read. */
export function codeBlocks(page: string, language: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: CodeBlock | undefined;
  for (const [n, line] of readFileSync(join(root, page), 'utf8').split('\n').entries()) {
    if (open && line === '```') {
      if (open.language === language) blocks.push(open);
      open = undefined;
    } else if (open) open.text += `${line}\n`;
    else if (line.startsWith('```')) open = { language: line.slice(3).trim(), line: n + 2, text: '' };
  }
  return blocks;
}

/** The README and the guides that have something to run. */
export const pagesWithShellBlocks = (): string[] =>
  ['README.md', ...readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`)]
    .filter((page) => page.endsWith('.md'))
    .sort()
    .filter((page) => codeBlocks(page, 'sh').length > 0);

export interface DocumentedStack {
  /** Runs all blocks of a page. Rejects with the page, the line of the block and the output of the shell. */
  run(page: string): Promise<void>;
  stop(): Promise<void>;
}

/** A folder that looks like the repository, with a `.everpost` of its own, and a new stack in it. */
export async function startDocumentedStack(): Promise<DocumentedStack> {
  const folder = mkdtempSync(join(tmpdir(), 'everpost-pages-'));
  chmodSync(folder, 0o755);
  const home = join(folder, '.everpost');
  mkdirSync(home);
  for (const name of readdirSync(root))
    if (!['.everpost', '.git'].includes(name)) symlinkSync(join(root, name), join(folder, name));
  // No name server answers there: pages must work without the Internet, where a lookup may find no domain at all.
  const env = {
    ...withoutSettings(process.env),
    TEMPORAL_CLI_PATH: process.env.TEMPORAL_CLI_PATH,
    DNS_SERVERS: '127.0.0.1:9',
  };
  // Not part of the time that `npm start` has to get ready.
  await compiledProgram();
  await webAppDir(() => {});
  let output = '';
  const npm = spawn('npm', ['start'], {
    cwd: root,
    env: { ...env, EVERPOST_HOME: home, PORT: '0', WORKER_PORT: '0' },
    detached: true,
  });
  for (const stream of [npm.stdout, npm.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const stop = async () => {
    await end(npm);
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  };
  try {
    const isReady = () => existsSync(join(home, 'stack.json'));
    await eventually(() => isReady() || npm.exitCode !== null, { timeoutMs: READY_WITHIN_MS, what: 'stack.json' });
    if (!isReady()) throw new Error('npm start has ended');
  } catch (error) {
    await stop();
    throw new Error(`${(error as Error).message}\n${output}`);
  }
  return { run: (page) => runPage(page, folder, env), stop };
}

async function end(npm: ChildProcess): Promise<void> {
  if (npm.exitCode !== null || npm.signalCode !== null) return;
  const ended = once(npm, 'exit');
  npm.kill('SIGTERM');
  await ended;
}

async function runPage(page: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const script = join(folder, '.everpost', 'page.sh');
  const blocks = codeBlocks(page, 'sh').map(({ line, text }) => `echo "# ${page}:${line}"\n${text}`);
  // A pipeline fails with its first command too; what a page starts in the background ends with it.
  writeFileSync(script, `set -e -o pipefail\ntrap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n${blocks.join('\n')}`);
  const shell = spawn('bash', [script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const timer = setTimeout(() => process.kill(-(shell.pid ?? 0), 'SIGKILL'), PAGE_WITHIN_MS);
  const [code, signal] = (await once(shell, 'close')) as [number | null, string | null];
  clearTimeout(timer);
  if (code !== 0) throw new Error(`${page} failed (${signal ?? `exit code ${code}`}):\n${output.slice(-4_000)}`);
}
