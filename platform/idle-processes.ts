interface IdleProcess {
  kill(): void;
}

/** Holds processes without work. One that gets none for `keepMs` ends. */
export class IdleProcesses<Process extends IdleProcess> {
  private readonly keepMs: number;
  /** The oldest first. */
  private readonly idle: { process: Process; since: number }[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(keepMs: number) {
    this.keepMs = keepMs;
  }

  put(process: Process): void {
    this.idle.push({ process, since: performance.now() });
    if (!this.timer) this.endLater(this.keepMs);
  }

  /** Takes the one that worked last: the others end where fewer are enough. */
  take(): Process | undefined {
    return this.idle.pop()?.process;
  }

  remove(process: Process): void {
    const index = this.idle.findIndex((one) => one.process === process);
    if (index !== -1) this.idle.splice(index, 1);
  }

  private endLater(ms: number): void {
    this.timer = setTimeout(() => this.endOld(), ms).unref();
  }

  private endOld(): void {
    this.timer = undefined;
    const now = performance.now();
    while (this.idle[0] && now - this.idle[0].since >= this.keepMs) this.idle.shift()?.process.kill();
    const [oldest] = this.idle;
    if (oldest) this.endLater(Math.max(1, this.keepMs - (now - oldest.since)));
  }
}
