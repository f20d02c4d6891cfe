import type { PreparedMail } from './delivery-content.ts';

/** A mail to be sent, with the size of its body in bytes. */
export interface PendingMail {
  id: string;
  size: number;
}

type Prepare = (ids: string[], ready: (mail: PreparedMail) => void) => Promise<void>;

/** Mails are prepared in groups of so many, ahead of the connections that will send them. */
const GROUP = 25;
/** So much may lie in memory, but always one group, and in it always one mail. */
const AHEAD_BYTES = 8 * 1024 * 1024;

/** Prepares mails slightly ahead of the senders, and returns them in the order in which they are ready. */
export class PreparedMails {
  private readonly prepare: Prepare;
  private readonly rest: PendingMail[];
  private readonly sizes: Map<string, number>;
  private readonly ready: PreparedMail[] = [];
  private readonly waiting: { give: (mail: PreparedMail | undefined) => void; fail: (error: unknown) => void }[] = [];
  private preparing = 0;
  private bytes = 0;
  private failure: { error: unknown } | undefined;
  private closed = false;

  constructor(mails: PendingMail[], prepare: Prepare) {
    this.rest = [...mails].reverse();
    this.sizes = new Map(mails.map(({ id, size }) => [id, size]));
    this.prepare = prepare;
  }

  /** Returns undefined when there are no more. */
  next(): Promise<PreparedMail | undefined> {
    if (this.failure) return Promise.reject(this.failure.error);
    if (this.closed) return Promise.resolve(undefined);
    const mail = this.ready.shift();
    this.bytes -= this.sizes.get(mail?.id ?? '') ?? 0;
    this.fill();
    if (mail || this.preparing === 0) return Promise.resolve(mail);
    return new Promise((give, fail) => this.waiting.push({ give, fail }));
  }

  /** Unblocks waiting callers. */
  close(): void {
    this.closed = true;
    this.rest.length = 0;
    for (const { give } of this.waiting.splice(0)) give(undefined);
  }

  private fill(): void {
    while (this.rest.length > 0 && !this.failure && this.hasRoom()) void this.start(this.takeGroup());
  }

  private hasRoom(): boolean {
    const ahead = this.ready.length + this.preparing;
    return ahead === 0 || (ahead < GROUP && this.bytes < AHEAD_BYTES);
  }

  private takeGroup(): string[] {
    const group: string[] = [];
    while (group.length < GROUP && (group.length === 0 || this.bytes < AHEAD_BYTES)) {
      const mail = this.rest.pop();
      if (!mail) break;
      group.push(mail.id);
      this.bytes += mail.size;
    }
    return group;
  }

  private async start(ids: string[]): Promise<void> {
    this.preparing += ids.length;
    try {
      await this.prepare(ids, (mail) => this.offer(mail));
    } catch (error) {
      this.failure ??= { error };
      for (const { fail } of this.waiting.splice(0)) fail(error);
    }
  }

  private offer(mail: PreparedMail): void {
    this.preparing--;
    const waiter = this.waiting.shift();
    if (waiter) {
      this.bytes -= this.sizes.get(mail.id) ?? 0;
      waiter.give(mail);
      this.fill();
    } else this.ready.push(mail);
    if (this.preparing === 0 && this.rest.length === 0) for (const { give } of this.waiting.splice(0)) give(undefined);
  }
}
