import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { extname, join, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { Batch, Results } from './protocol.ts';

const START_MS = 60_000;
const STDERR_KEPT = 2000;

/** Why a process is no more: it ran out of memory, we ended it for its silence, or somebody else did. */
export type DeathCause = 'memory' | 'time' | 'killed';

export class ProcessDied extends Error {
  readonly of: DeathCause;

  constructor(of: DeathCause, message: string) {
    super(message);
    this.name = 'ProcessDied';
    this.of = of;
  }
}

/** There is nothing to render with: no fault of any template. */
export class CannotStart extends Error {}

interface Running {
  left: number;
  onResults(results: Results): void;
  done(): void;
  failed(error: Error): void;
}

export interface ProcessLimits {
  /** Without a sign of life for so long it is ended. */
  silenceMs: number;
  heapMb: number;
}

/** One child process. It takes one batch at a time. */
export class RendererProcess {
  readonly exited: Promise<void>;
  private readonly child: ChildProcess;
  private readonly silenceMs: number;
  private running: Running | undefined;
  private ready = false;
  private timer: NodeJS.Timeout | undefined;
  private silenced = false;
  private stderr = '';

  constructor({ silenceMs, heapMb }: ProcessLimits) {
    this.silenceMs = silenceMs;
    this.child = fork(entry, [], {
      execArgv: flags(heapMb),
      // Nothing of ours: settings are secrets.
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr = (this.stderr + text).slice(-STDERR_KEPT);
    });
    this.child.on('message', (results: Results) => this.receive(results));
    this.exited = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => {
        this.fail(this.deathOf(code, signal));
        resolve();
      });
      this.child.on('error', (error) => {
        // Sending to a child that is gone fails as well; its exit tells all there is to tell.
        if (this.child.pid !== undefined) return;
        this.fail(new CannotStart(`The renderer cannot be started: ${error.message}`));
        resolve();
      });
    });
    this.holdLoop(false);
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get alive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null && this.child.connected;
  }

  /** Fails with ProcessDied or CannotStart; what was given to `onResults` until then stays valid. */
  run(batch: Batch, onResults: (results: Results) => void): Promise<void> {
    const left = batch.reduce((sum, { orders }) => sum + orders.length, 0);
    return new Promise((done, failed) => {
      this.running = { left, onResults, done, failed };
      this.holdLoop(true);
      this.watch();
      if (this.alive) this.child.send(batch, () => {});
      else this.fail(this.deathOf(this.child.exitCode, this.child.signalCode));
    });
  }

  kill(): void {
    // Whoever waits for its end must not end before.
    this.child.ref();
    this.child.kill('SIGKILL');
  }

  private receive(results: Results): void {
    this.ready = true;
    const running = this.running;
    if (!running) return;
    running.left -= results.results.length;
    if (running.left > 0) this.watch();
    else this.rest();
    running.onResults(results);
    if (running.left === 0) running.done();
  }

  private watch(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => {
        this.silenced = true;
        this.kill();
      },
      this.ready ? this.silenceMs : START_MS,
    );
  }

  private rest(): void {
    clearTimeout(this.timer);
    this.running = undefined;
    this.holdLoop(false);
  }

  private fail(error: Error): void {
    const running = this.running;
    this.rest();
    running?.failed(error);
  }

  private deathOf(code: number | null, signal: NodeJS.Signals | null): Error {
    const how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
    if (!this.ready) return new CannotStart(`The renderer ${how} before it was ready. ${this.stderr.trim()}`);
    if (this.silenced) return new ProcessDied('time', `gave no answer for ${this.silenceMs} ms`);
    // V8 aborts when its heap is full.
    return new ProcessDied(signal === 'SIGABRT' || code === 134 ? 'memory' : 'killed', how);
  }

  /** A child without work does not keep us from ending. */
  private holdLoop(hold: boolean): void {
    const stderr = this.child.stderr as (Readable & { ref?(): void; unref?(): void }) | null;
    for (const handle of [this.child, this.child.channel, stderr]) {
      if (hold) handle?.ref?.();
      else handle?.unref?.();
    }
  }
}

const require = createRequire(import.meta.url);
const extension = extname(import.meta.filename);
const entry = join(import.meta.dirname, `child${extension}`);

function flags(heapMb: number): string[] {
  const common = [`--max-old-space-size=${heapMb}`, '--disallow-code-generation-from-strings', '--no-warnings'];
  // Compiled, it may read its own program and nothing else. tsx needs more than that.
  if (extension === '.ts') return ['--import', pathToFileURL(require.resolve('tsx')).href, ...common];
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  return [...common, permission, ...[import.meta.dirname, nodeModules()].map((path) => `--allow-fs-read=${path}/*`)];
}

function nodeModules(): string {
  const path = require.resolve('nunjucks');
  const name = join(sep, 'node_modules', sep);
  return path.slice(0, path.lastIndexOf(name) + name.length - 1);
}
