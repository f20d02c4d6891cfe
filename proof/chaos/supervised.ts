// A process of ours under a supervisor, as in production: it is started again whenever it ends.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Child, exitText, startChild } from '../../dev/child.ts';
import { compiledProgram } from '../../dev/program.ts';
import { root } from '../../dev/root.ts';
import { atEnd, runDirectory } from '../../test/support/cleanup.ts';
import { type Env, withoutSettings } from '../../test/support/processes.ts';
import { memoryOf } from '../memory.ts';

const preload = pathToFileURL(join(root, 'proof/clock-preload.mjs')).href;
const RESTART_AFTER_MS = 500;

export interface SupervisedOptions {
  name: string;
  /** The entry file in the compiled program. */
  file: string;
  port: number;
  env: Env;
}

export class Supervised {
  readonly name: string;
  /** Exits that no fault caused. */
  readonly ownExits: string[] = [];
  /** The largest resident memory seen, in bytes. */
  peakMemory = 0;
  starts = 0;
  readonly #options: SupervisedOptions;
  readonly #clockFile: string;
  #child: Child | undefined;
  #ended = false;
  /** While true, an exit is expected. */
  #disturbed = false;
  #startAfter = 0;

  constructor(options: SupervisedOptions) {
    this.name = options.name;
    this.#options = options;
    this.#clockFile = join(runDirectory(), `${options.name}.clock`);
    atEnd(() => this.end());
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get logFile(): string {
    return join(runDirectory(), `${this.name}.log`);
  }

  async start(): Promise<void> {
    const { name, file, port, env } = this.#options;
    this.stepClock(0);
    const child = await startChild({
      name,
      command: process.execPath,
      args: ['--import', preload, join(await compiledProgram(), file)],
      cwd: root,
      env: {
        ...withoutSettings(process.env),
        NODE_ENV: 'test',
        HOST: '127.0.0.1',
        PROOF_CLOCK_FILE: this.#clockFile,
        [file.startsWith('api') ? 'PORT' : 'WORKER_PORT']: String(port),
        ...env,
      },
      logFile: this.logFile,
    });
    this.#child = child;
    this.starts++;
    void child.exited.then(async (exit) => {
      if (this.#ended) return;
      if (!this.#disturbed) this.ownExits.push(`${name}: ${exitText(exit)}`);
      await sleep(Math.max(RESTART_AFTER_MS, this.#startAfter - Date.now()));
      if (!this.#ended) await this.start();
    });
  }

  /** Ends with SIGKILL; the supervisor starts it again after `downMs`. */
  kill(downMs: number): void {
    this.#disturbed = true;
    this.#startAfter = Date.now() + downMs;
    this.signal('SIGKILL');
    void this.#child?.exited.then(() => {
      this.#disturbed = false;
    });
  }

  signal(signal: NodeJS.Signals): void {
    try {
      process.kill(this.pid, signal);
    } catch {
      // Between two starts.
    }
  }

  /** Exits are expected until `calm`. */
  disturb(): void {
    this.#disturbed = true;
  }

  calm(): void {
    this.#disturbed = false;
  }

  stepClock(byMs: number): void {
    writeFileSync(this.#clockFile, String(byMs));
  }

  sampleMemory(): void {
    this.peakMemory = Math.max(this.peakMemory, memoryOf(this.pid));
  }

  async isReady(): Promise<boolean> {
    const url = `http://127.0.0.1:${this.#options.port}/ready`;
    return (await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined))?.ok ?? false;
  }

  async end(): Promise<void> {
    this.#ended = true;
    this.signal('SIGCONT');
    await this.#child?.kill();
  }
}
