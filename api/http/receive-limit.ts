import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../platform/errors.ts';

/** Each takes up to `IMPORT_MAX_BYTES` of the disk while it is received. */
const TOTAL = 8;
const PER_PROJECT = 2;
/** A project gets more than one slot only while there are as many left for others. */
const SHARED = TOTAL / 2;
/** 16 kB a second, over a time that a lost connection of a phone may take to come back. */
const WINDOW_MS = 10_000;
const BYTES_PER_MS = 16;

/** Limits the large files that this process receives at once, so that slow clients of one project do not stop all others. */
export class ReceiveLimit {
  readonly #windowMs: number;
  readonly #open = new Map<string, number>();
  #total = 0;

  constructor(windowMs = WINDOW_MS) {
    this.#windowMs = windowMs;
  }

  /** Runs `read`, or answers with 429 at once. Ends it with 408 when the body arrives too slowly. */
  async run<T>(projectId: string, req: IncomingMessage, read: () => Promise<T>): Promise<T> {
    const own = this.#open.get(projectId) ?? 0;
    if (this.#total >= TOTAL || own >= PER_PROJECT || (own > 0 && this.#total >= SHARED)) {
      req.resume();
      throw tooMany();
    }
    this.#count(projectId, 1);
    const timer = this.#watch(req);
    return read().finally(() => {
      clearInterval(timer);
      this.#count(projectId, -1);
    });
  }

  /** The parser ends with the error that the request reports. */
  #watch(req: IncomingMessage): NodeJS.Timeout {
    let received = req.socket.bytesRead;
    // Without a listener an error would end the process.
    req.on('error', () => {});
    return setInterval(() => {
      const { bytesRead } = req.socket;
      if (bytesRead - received < this.#windowMs * BYTES_PER_MS && !req.complete) req.emit('error', tooSlow());
      received = bytesRead;
    }, this.#windowMs);
  }

  #count(projectId: string, change: number): void {
    this.#total += change;
    const own = (this.#open.get(projectId) ?? 0) + change;
    if (own > 0) this.#open.set(projectId, own);
    else this.#open.delete(projectId);
  }
}

const tooMany = () =>
  new ApiError(429, 'RATE_LIMIT_EXCEEDED', 'Too many large files are being uploaded.', {
    headers: { 'Retry-After': '5' },
  });

const tooSlow = () =>
  new ApiError(408, 'BAD_REQUEST', `The upload is too slow: it must reach ${BYTES_PER_MS} kB/s.`, {
    suggestion: 'Nothing was imported. Send smaller files, or use a faster connection.',
    headers: { Connection: 'close' },
  });
