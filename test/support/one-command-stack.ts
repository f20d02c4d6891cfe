// The stack of `npm start` in a home of its own, with its backups.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../dev/root.ts';
import type { StackInfo } from '../../dev/stack/banner.ts';
import { type Client, client } from './api.ts';
import { type Env, withoutSettings } from './processes.ts';
import { eventually } from './waiting.ts';

const READY_WITHIN_MS = 180_000;

export class OneCommandStack {
  readonly folder = mkdtempSync(join(tmpdir(), 'everpost-stack-'));
  readonly home = join(this.folder, 'home');
  #npm: ChildProcess | undefined;
  #info: StackInfo | undefined;
  #output = '';
  readonly #env: Env;

  constructor(env: Env = {}) {
    // As root, Postgres runs under another account, which must be able to enter.
    chmodSync(this.folder, 0o755);
    this.#env = env;
  }

  get info(): StackInfo {
    if (!this.#info) throw new Error('The stack is not running.');
    return this.#info;
  }

  get server(): Client {
    return client(this.info.apiUrl, { authorization: `Bearer ${this.info.secretKey}` });
  }

  get browser(): Client {
    return client(this.info.apiUrl, { authorization: `Bearer ${this.info.publicKey}` });
  }

  async start(): Promise<void> {
    const npm = spawn('npm', ['start', '--', '--no-sample'], { cwd: root, env: this.#environment() });
    this.#npm = npm;
    this.#output = '';
    for (const stream of [npm.stdout, npm.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    const file = join(this.home, 'stack.json');
    await eventually(() => existsSync(file) || npm.exitCode !== null, { timeoutMs: READY_WITHIN_MS, what: file });
    if (!existsSync(file)) throw new Error(`npm start ended:\n${this.#output}`);
    this.#info = JSON.parse(readFileSync(file, 'utf8')) as StackInfo;
  }

  /** As Ctrl-C does: everything ends, and the data can be copied. */
  async stop(): Promise<void> {
    const npm = this.#npm;
    this.#npm = undefined;
    this.#info = undefined;
    if (!npm || npm.exitCode !== null) return;
    const exited = once(npm, 'exit');
    npm.kill('SIGTERM');
    await exited;
    // npm may end before the stack does.
    await eventually(() => this.#isUnlocked(), { what: 'the end of the stack' });
  }

  /** Runs the command line with the settings of the stack. */
  everpost(...args: string[]): string {
    const options = { cwd: root, env: this.#environment(), encoding: 'utf8', stdio: 'pipe' } as const;
    return execFileSync(process.execPath, ['cli/everpost.mjs', ...args], options);
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20 });
  }

  #isUnlocked(): boolean {
    return !existsSync(join(this.home, 'run', 'stack.lock'));
  }

  #environment(): Env {
    const { TEMPORAL_CLI_PATH } = process.env;
    return {
      ...withoutSettings(process.env),
      TEMPORAL_CLI_PATH,
      EVERPOST_HOME: this.home,
      PORT: '0',
      WORKER_PORT: '0',
      ...this.#env,
    };
  }
}
