import type { Logger } from '../platform/logger.ts';

/** How a round of work ended: there is more to do, nothing to do, or the far side is in trouble. */
export type Pace = 'more' | 'idle' | 'trouble';

export interface LoopOptions {
  name: string;
  round: () => Promise<Pace>;
  /** The net under the wake-ups. */
  idleMs: number;
  /** The longest pause while there is trouble; wake-ups are not listened to then. */
  troubleMs: number;
  log: Logger;
}

/** Does rounds of work one after another: at once while there is more, when woken, and now and then. */
export class Loop {
  private readonly options: LoopOptions;
  private readonly done: Promise<void>;
  private stopped = false;
  private woken = false;
  private troubles = 0;
  private endPause: (() => void) | undefined;

  constructor(options: LoopOptions) {
    this.options = options;
    this.done = this.run();
  }

  wake(): void {
    this.woken = true;
    if (this.troubles === 0) this.endPause?.();
  }

  /** The round that is under way is finished. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.endPause?.();
    await this.done;
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      this.woken = false;
      const pace = await this.round();
      this.troubles = pace === 'trouble' ? this.troubles + 1 : 0;
      if (pace !== 'more') await this.pause();
    }
  }

  private async round(): Promise<Pace> {
    try {
      return await this.options.round();
    } catch (err) {
      this.options.log.warn({ err, loop: this.options.name }, 'a round failed; trying again');
      return 'trouble';
    }
  }

  private async pause(): Promise<void> {
    const { idleMs, troubleMs } = this.options;
    if (this.stopped || (this.woken && this.troubles === 0)) return;
    const ms = this.troubles === 0 ? idleMs : Math.min(idleMs * 2 ** (this.troubles - 1), troubleMs);
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
