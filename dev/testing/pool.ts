// Runs test files in a pool of mocha children. Files that keep a core busy run as many at once as there are cores; files
// that mostly wait have children of their own.
import { type ChildProcess, fork } from 'node:child_process';
import { exitText, type ProcessExit } from '../child.ts';
import type { PlannedFile } from './files.ts';
import type { FileResult, FromChild, Leftovers, SharedServer, ToChild } from './messages.ts';

export interface PoolOptions {
  /** The compiled program of a child. */
  entry: string;
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** How many children run files that keep a core busy, and how many run files that wait. */
  busy: number;
  waiting: number;
  grep: string | undefined;
  addressOf(server: SharedServer): Promise<string>;
  onFailure(file: string, failure: string): void;
  onResult(result: FileResult): void;
}

export interface PoolOutcome {
  results: FileResult[];
  /** What each child that ran to its end had left over. */
  leftovers: Leftovers[];
  /** Why children ended that should not have. */
  crashes: string[];
}

export class TestPool {
  private readonly options: PoolOptions;
  private readonly children = new Set<ChildProcess>();
  private readonly outcome: PoolOutcome = { results: [], leftovers: [], crashes: [] };
  private isStopped = false;

  constructor(options: PoolOptions) {
    this.options = options;
  }

  async run(files: PlannedFile[]): Promise<PoolOutcome> {
    const busy = files.filter(({ waits }) => !waits);
    const waiting = files.filter(({ waits }) => waits);
    const lanes = [
      ...Array.from({ length: this.options.busy }, () => [busy, waiting]),
      ...Array.from({ length: this.options.waiting }, () => [waiting]),
    ];
    await Promise.all(lanes.map((queues) => this.runLane(queues)));
    return this.outcome;
  }

  /** Ends all children. `run` returns when they have exited. */
  stop(signal: NodeJS.Signals): void {
    this.isStopped = true;
    for (const child of this.children) child.kill(signal);
  }

  /** Runs files in one child after another: a crashed one is replaced. */
  private async runLane(queues: PlannedFile[][]): Promise<void> {
    let child: PoolChild | undefined;
    for (;;) {
      const next = this.isStopped ? undefined : queues.find((queue) => queue.length > 0)?.shift();
      if (!next) break;
      child ??= new PoolChild(this.options, this.children);
      const result = await child.runFile(next.file);
      if (this.isStopped) break;
      if (result) this.outcome.results.push(result);
      else {
        const crash = `${next.file}: its process ended before its tests did (${exitText(await child.exited)})${child.lastWords()}`;
        this.options.onFailure(next.file, crash);
        this.outcome.crashes.push(crash);
        child = undefined;
        continue;
      }
      this.options.onResult(result);
    }
    if (!child) return;
    if (!this.isStopped) await this.endChild(child);
    await child.exited;
  }

  private async endChild(child: PoolChild): Promise<void> {
    const { leftovers, exit } = await child.end();
    if (this.isStopped) return;
    if (leftovers) this.outcome.leftovers.push(leftovers);
    if (exit.code !== 0)
      this.outcome.crashes.push(
        `a child passed its tests, but did not end well (${exitText(exit)})${child.lastWords()}`,
      );
  }
}

class PoolChild {
  readonly exited: Promise<ProcessExit>;
  private readonly process: ChildProcess;
  private readonly options: PoolOptions;
  private readonly ready: Promise<unknown>;
  private printed = '';
  private leftovers: Leftovers | undefined;
  private onResult: (result: FileResult) => void = () => {};

  constructor(options: PoolOptions, children: Set<ChildProcess>) {
    this.options = options;
    const { entry, env, cwd } = options;
    const child = fork(entry, [], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: ['--enable-source-maps'],
    });
    this.process = child;
    children.add(child);
    this.exited = new Promise((done) => {
      child.once('error', () => done({ code: 1, signal: null }));
      child.once('exit', (code, signal) => {
        children.delete(child);
        done({ code, signal });
      });
    });
    this.ready = new Promise((resolve) => child.once('message', resolve));
    child.on('message', (message) => void this.receive(message as FromChild));
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.printed = (this.printed + text).slice(-10_000);
      });
  }

  /** Resolves with undefined when the child has exited. */
  async runFile(file: string): Promise<FileResult | undefined> {
    const result = new Promise<FileResult>((resolve) => {
      this.onResult = resolve;
    });
    await Promise.race([this.ready, this.exited]);
    this.send({ kind: 'run', file, grep: this.options.grep });
    return Promise.race([result, this.exited.then(() => undefined)]);
  }

  async end(): Promise<{ leftovers: Leftovers | undefined; exit: ProcessExit }> {
    this.send({ kind: 'end' });
    const exit = await this.exited;
    return { leftovers: this.leftovers, exit };
  }

  /** What the process printed outside of its tests: the reason of a crash. */
  lastWords(): string {
    return this.printed.trim() ? `:\n${this.printed.trim()}` : '';
  }

  private send(message: ToChild): void {
    if (this.process.connected) this.process.send(message);
  }

  private async receive(message: FromChild): Promise<void> {
    if (message.kind === 'result') this.onResult(message.result);
    if (message.kind === 'failure') this.options.onFailure(message.file, message.failure);
    if (message.kind === 'leftovers') this.leftovers = message.leftovers;
    if (message.kind !== 'server') return;
    const { server } = message;
    const answer = await this.options.addressOf(server).then(
      (address) => ({ address }),
      (error: Error) => ({ error: error.message }),
    );
    this.send({ kind: 'server', server, ...answer });
  }
}
