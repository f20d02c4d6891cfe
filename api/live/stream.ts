import { Readable } from 'node:stream';
import type { HeldMessage } from './messages.ts';

export interface Follower {
  projectId: string;
  channels: string[];
  /** Rejects once the caller may no longer read. */
  recheck(): Promise<unknown>;
}

const SLICE_BYTES = 64 * 1024;
const HEARTBEAT = ': heartbeat\n\n';

/**
 * The answer to one client. Holds one message at a time and asks for the next one when the client has read it, so that its
 * memory does not depend on how many channels it follows.
 */
export class LiveStream extends Readable {
  readonly follower: Follower;
  readonly id: string;
  /** Channels whose state is to be sent, longest waiting first. */
  readonly waiting: Set<string>;
  /** The digest of the last message of each channel. */
  readonly sent = new Map<string, string>();
  /** True while the next message is being read for it. */
  isFed = false;
  private readonly onIdle: (stream: LiveStream) => void;
  private idle = false;
  private readAt = performance.now();
  private current: HeldMessage | undefined;
  private offset = 0;

  constructor(id: string, follower: Follower, onIdle: (stream: LiveStream) => void) {
    super();
    this.id = id;
    this.follower = follower;
    this.waiting = new Set(follower.channels);
    this.onIdle = onIdle;
  }

  /** Whether the client has read everything, so that another message can be sent. */
  get isIdle(): boolean {
    return this.idle && !this.destroyed && !this.readableEnded;
  }

  /** How long the client has not read what is there for it; 0 when there is nothing. */
  stalledMs(): number {
    return this.idle ? 0 : performance.now() - this.readAt;
  }

  send(message: HeldMessage): void {
    this.current = message;
    this.offset = 0;
    this.pushSlice(message);
  }

  /** Bytes on their way keep the connection alive as well. */
  beat(): void {
    if (!this.isIdle) return;
    this.idle = false;
    this.push(HEARTBEAT);
  }

  /** Ends the answer; clients ignore a message without its end. */
  finish(): void {
    this.release();
    this.idle = false;
    if (!this.destroyed && !this.readableEnded) this.push(null);
  }

  override _read(): void {
    this.readAt = performance.now();
    if (this.current && this.offset < this.current.content.length) {
      this.pushSlice(this.current);
      return;
    }
    this.release();
    this.idle = true;
    this.onIdle(this);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.release();
    done(error);
  }

  /** Copies, because a slice in the buffers of the connection would keep the whole message in memory. */
  private pushSlice({ content }: HeldMessage): void {
    this.idle = false;
    const slice = Buffer.from(content.subarray(this.offset, this.offset + SLICE_BYTES));
    this.offset += slice.length;
    this.push(slice);
  }

  private release(): void {
    this.current?.release();
    this.current = undefined;
  }
}
