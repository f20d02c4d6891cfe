import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { FrameReader, RESULT_PIPE } from './result-frames.ts';

const START_MS = 60_000;
const MAX_STDERR = 2000;
/** How often the memory of a busy process is read. */
const MEMORY_CHECK_MS = 250;
const PAGE_BYTES = 4096;

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

/** No process can be started; no work is to blame. */
export class StartError extends Error {}

export interface ProcessLimits {
  /** A process that sends nothing for this long is killed. */
  silenceMs: number;
  /** The heap of V8. */
  heapMb: number;
  /** All memory, with buffers outside of the heap. Checked where /proc exists. */
  totalMb?: number;
}

export interface LimitedProcessOptions {
  /** What it is, for error messages: `renderer`. */
  name: string;
  entry: string;
  execArgv: string[];
  limits: ProcessLimits;
  /** Sent to the process before everything else. */
  settings?: object;
  /** Whether results come as frames over a pipe (see result-frames.ts) instead of as messages. */
  hasResultPipe?: boolean;
}

/** The messages of a child: results in batch order, streamed. The first, empty one says that it is ready. */
export interface BatchResults {
  results: unknown[];
}

interface PendingBatch<Results> {
  remaining: number;
  onResults(results: Results): void;
  done(): void;
  failed(error: Error): void;
}

/** A child process with limits of time and memory, which takes one batch of work at a time. */
export class LimitedProcess<Batch extends object, Results extends BatchResults> {
  readonly exited: Promise<void>;
  private readonly options: LimitedProcessOptions;
  private readonly child: ChildProcess;
  private pending: PendingBatch<Results> | undefined;
  private ready = false;
  private timer: NodeJS.Timeout | undefined;
  private memoryTimer: NodeJS.Timeout | undefined;
  private killedFor: 'time' | 'memory' | undefined;
  private received = 0;
  private stderr = '';

  constructor(options: LimitedProcessOptions) {
    this.options = options;
    this.child = fork(options.entry, [], {
      execArgv: [`--max-old-space-size=${options.limits.heapMb}`, ...options.execArgv],
      // Empty, because our settings contain secrets.
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', ...(options.hasResultPipe ? (['pipe'] as const) : [])],
    });
    if (options.hasResultPipe) this.readFrames();
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr = (this.stderr + text).slice(-MAX_STDERR);
    });
    this.child.on('message', (results: Results) => this.receive(results));
    this.exited = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => {
        this.fail(this.exitError(code, signal));
        resolve();
      });
      this.child.on('error', (error) => {
        // Sending to an ended child fails too; its exit event is enough.
        if (this.child.pid !== undefined) return;
        this.fail(new StartError(`The ${options.name} cannot be started: ${error.message}`));
        resolve();
      });
    });
    if (options.settings) this.child.send(options.settings, () => {});
    this.keepAlive(false);
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get alive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null && this.child.connected;
  }

  /** Whether the process has ever been ready. */
  get started(): boolean {
    return this.ready;
  }

  /** Rejects with ProcessDiedError or StartError. Results passed to `onResults` before that stay valid. */
  run(batch: Batch, count: number, onResults: (results: Results) => void): Promise<void> {
    return new Promise((done, failed) => {
      this.pending = { remaining: count, onResults, done, failed };
      this.keepAlive(true);
      this.startTimer();
      this.watchMemory();
      if (this.alive) this.child.send(batch, () => {});
      else this.fail(this.exitError(this.child.exitCode, this.child.signalCode));
    });
  }

  kill(): void {
    // Keeps our process alive until the exit event, which callers wait for.
    this.child.ref();
    this.child.kill('SIGKILL');
  }

  private readFrames(): void {
    const reader = new FrameReader();
    this.resultPipe?.on('data', (chunk: Buffer) => {
      this.received++;
      for (const frame of reader.push(chunk)) this.receive(frame as unknown as Results);
    });
  }

  private get resultPipe(): Readable | null {
    return (this.child.stdio[RESULT_PIPE] ?? null) as Readable | null;
  }

  private receive(results: Results): void {
    this.ready = true;
    this.received++;
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
    const received = this.received;
    this.timer = setTimeout(
      () => {
        // A message may have arrived while our own thread was busy: it is read before the immediate runs.
        setImmediate(() => {
          if (this.pending && received === this.received) this.killFor('time');
        });
      },
      this.ready ? this.options.limits.silenceMs : START_MS,
    );
  }

  private watchMemory(): void {
    const { totalMb } = this.options.limits;
    if (totalMb === undefined) return;
    clearInterval(this.memoryTimer);
    this.memoryTimer = setInterval(() => {
      if (residentBytes(this.child.pid) > totalMb * 1024 * 1024) this.killFor('memory');
    }, MEMORY_CHECK_MS);
  }

  private killFor(reason: 'time' | 'memory'): void {
    this.killedFor ??= reason;
    this.kill();
  }

  private becomeIdle(): void {
    clearTimeout(this.timer);
    clearInterval(this.memoryTimer);
    this.pending = undefined;
    this.keepAlive(false);
  }

  private fail(error: Error): void {
    const pending = this.pending;
    this.becomeIdle();
    pending?.failed(error);
  }

  private exitError(code: number | null, signal: NodeJS.Signals | null): Error {
    const { name, limits } = this.options;
    const how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
    if (!this.ready) return new StartError(`The ${name} ${how} before it was ready. ${this.stderr.trim()}`);
    if (this.killedFor === 'time') return new ProcessDiedError('time', `gave no answer for ${limits.silenceMs} ms`);
    if (this.killedFor === 'memory') return new ProcessDiedError('memory', `took more than ${limits.totalMb} MB`);
    // V8 aborts when its heap is full.
    return new ProcessDiedError(signal === 'SIGABRT' || code === 134 ? 'memory' : 'killed', how);
  }

  /** An idle child must not keep our process alive. */
  private keepAlive(keep: boolean): void {
    const pipes = [this.child.stderr, this.resultPipe] as (null | { ref?(): void; unref?(): void })[];
    for (const handle of [this.child, this.child.channel, ...pipes]) {
      if (keep) handle?.ref?.();
      else handle?.unref?.();
    }
  }
}

/** Returns 0 where it is not known. */
function residentBytes(pid: number | undefined): number {
  try {
    const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ');
    return Number(pages) * PAGE_BYTES;
  } catch {
    return 0;
  }
}
