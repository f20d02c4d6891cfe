import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { extname, join, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { EncodedResults, RenderBatch } from './protocol.ts';

const START_MS = 60_000;
const MAX_STDERR = 2000;

/** Why a process ended: out of memory, killed by us for its silence, or killed from outside. */
export type ExitReason = 'memory' | 'time' | 'killed';

export class ProcessDiedError extends Error {
  readonly reason: ExitReason;

  constructor(reason: ExitReason, message: string) {
    super(message);
    this.name = 'ProcessDiedError';
    this.reason = reason;
  }
}

/** No process can be started; no template is to blame. */
export class StartError extends Error {}

interface PendingBatch {
  remaining: number;
  onResults(results: EncodedResults): void;
  done(): void;
  failed(error: Error): void;
}

export interface ProcessLimits {
  /** A process that sends nothing for this long is killed. */
  silenceMs: number;
  heapMb: number;
}

/** One child process, which takes one batch at a time. */
export class RendererProcess {
  readonly exited: Promise<void>;
  private readonly child: ChildProcess;
  private readonly silenceMs: number;
  private pending: PendingBatch | undefined;
  private ready = false;
  private timer: NodeJS.Timeout | undefined;
  private timedOut = false;
  private stderr = '';

  constructor({ silenceMs, heapMb }: ProcessLimits) {
    this.silenceMs = silenceMs;
    this.child = fork(entry, [], {
      execArgv: flags(heapMb),
      // Empty, because our settings contain secrets.
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr = (this.stderr + text).slice(-MAX_STDERR);
    });
    this.child.on('message', (results: EncodedResults) => this.receive(results));
    this.exited = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => {
        this.fail(this.exitError(code, signal));
        resolve();
      });
      this.child.on('error', (error) => {
        // Sending to an ended child fails too; its exit event is enough.
        if (this.child.pid !== undefined) return;
        this.fail(new StartError(`The renderer cannot be started: ${error.message}`));
        resolve();
      });
    });
    this.keepAlive(false);
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get alive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null && this.child.connected;
  }

  /** Rejects with ProcessDiedError or StartError. Results passed to `onResults` before that stay valid. */
  run(batch: RenderBatch, onResults: (results: EncodedResults) => void): Promise<void> {
    const remaining = batch.reduce((sum, { mails }) => sum + mails.length, 0);
    return new Promise((done, failed) => {
      this.pending = { remaining, onResults, done, failed };
      this.keepAlive(true);
      this.startTimer();
      if (this.alive) this.child.send(batch, () => {});
      else this.fail(this.exitError(this.child.exitCode, this.child.signalCode));
    });
  }

  kill(): void {
    // Keeps our process alive until the exit event, which callers wait for.
    this.child.ref();
    this.child.kill('SIGKILL');
  }

  private receive(results: EncodedResults): void {
    this.ready = true;
    const pending = this.pending;
    if (!pending) return;
    pending.remaining -= results.results.length;
    if (pending.remaining > 0) this.startTimer();
    else this.becomeIdle();
    pending.onResults(results);
    if (pending.remaining === 0) pending.done();
  }

  private startTimer(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => {
        this.timedOut = true;
        this.kill();
      },
      this.ready ? this.silenceMs : START_MS,
    );
  }

  private becomeIdle(): void {
    clearTimeout(this.timer);
    this.pending = undefined;
    this.keepAlive(false);
  }

  private fail(error: Error): void {
    const pending = this.pending;
    this.becomeIdle();
    pending?.failed(error);
  }

  private exitError(code: number | null, signal: NodeJS.Signals | null): Error {
    const how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
    if (!this.ready) return new StartError(`The renderer ${how} before it was ready. ${this.stderr.trim()}`);
    if (this.timedOut) return new ProcessDiedError('time', `gave no answer for ${this.silenceMs} ms`);
    // V8 aborts when its heap is full.
    return new ProcessDiedError(signal === 'SIGABRT' || code === 134 ? 'memory' : 'killed', how);
  }

  /** An idle child must not keep our process alive. */
  private keepAlive(keep: boolean): void {
    const stderr = this.child.stderr as (Readable & { ref?(): void; unref?(): void }) | null;
    for (const handle of [this.child, this.child.channel, stderr]) {
      if (keep) handle?.ref?.();
      else handle?.unref?.();
    }
  }
}

const require = createRequire(import.meta.url);
const extension = extname(import.meta.filename);
const entry = join(import.meta.dirname, `child${extension}`);

function flags(heapMb: number): string[] {
  const common = [`--max-old-space-size=${heapMb}`, '--disallow-code-generation-from-strings', '--no-warnings'];
  // The compiled child may read its own program only. tsx needs more access.
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
