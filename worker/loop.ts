import type { Logger } from '../platform/logger.ts';
import { logFailure } from '../platform/outages.ts';
import { IDLE_FACTOR, type IdleMode } from './idle-mode.ts';

/** The end of a round: there is more to do, nothing to do, or a failure to back off from. */
export type RoundResult = 'more' | 'idle' | 'trouble';

export interface LoopOptions {
  name: string;
  round: () => Promise<RoundResult>;
  /** Pause after an idle round; bounds the delay when a wake-up is lost. */
  idleMs: number;
  /** The longest pause of the back-off, which ignores wake-ups. */
  troubleMs: number;
  /** Makes pauses longer while nothing happens. */
  idleMode?: IdleMode | undefined;
  log: Logger;
}

/** Runs rounds of work: at once while there is more, on wake-ups, and periodically. */
export class Loop {
  private readonly options: LoopOptions;
  private readonly done: Promise<void>;
  private stopped = false;
  private woken = false;
  private failures = 0;
  private endPause: (() => void) | undefined;

  constructor(options: LoopOptions) {
    this.options = options;
    options.idleMode?.onEnd(() => this.wake());
    this.done = this.run();
  }

  wake(): void {
    this.woken = true;
    if (this.failures === 0) this.endPause?.();
  }

  /** Finishes the current round. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.endPause?.();
    await this.done;
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      this.woken = false;
      const result = await this.round();
      this.failures = result === 'trouble' ? this.failures + 1 : 0;
      if (result === 'more') this.options.idleMode?.end();
      else await this.pause();
    }
  }

  private async round(): Promise<RoundResult> {
    try {
      return await this.options.round();
    } catch (err) {
      logFailure(this.options.log, { err, loop: this.options.name }, 'loop round failed; retrying');
      return 'trouble';
    }
  }

  private async pause(): Promise<void> {
    const { idleMs, troubleMs, idleMode } = this.options;
    if (this.stopped || (this.woken && this.failures === 0)) return;
    const pauseMs = idleMode?.isOn() ? idleMs * IDLE_FACTOR : idleMs;
    const ms = this.failures === 0 ? pauseMs : Math.min(idleMs * 2 ** (this.failures - 1), troubleMs);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.endPause = undefined;
  }
}
