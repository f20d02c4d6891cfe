// Results with bytes, from a child process over a separate pipe. Node's IPC channel copies each message three times
// into memory outside of the heap, and the garbage collection that follows costs more than composing a mail.
import { writeSync } from 'node:fs';

/** The file descriptor of the pipe in the child. */
export const RESULT_PIPE = 4;

const HEAD_BYTES = 8;
const MIN_BUFFER = 320 * 1024;

export interface Frame<Result> {
  results: Result[];
  /** The bytes of the results, one after the other. */
  bytes: Buffer;
}

let buffer = Buffer.allocUnsafeSlow(MIN_BUFFER);

/** Writes a frame and waits until the parent has room for it, so that results do not pile up in this process. */
export function writeFrame<Result>(results: Result[], parts: Buffer[]): void {
  const text = Buffer.from(JSON.stringify(results));
  const size = parts.reduce((sum, { length }) => sum + length, 0);
  const end = HEAD_BYTES + text.length + size;
  if (end > buffer.length) buffer = Buffer.allocUnsafeSlow(end);
  buffer.writeUInt32LE(text.length, 0);
  buffer.writeUInt32LE(size, 4);
  buffer.set(text, HEAD_BYTES);
  let at = HEAD_BYTES + text.length;
  for (const part of parts) {
    buffer.set(part, at);
    at += part.length;
  }
  for (let written = 0; written < end; ) written += writeSync(RESULT_PIPE, buffer, written, end - written);
  if (buffer.length > MIN_BUFFER * 16) buffer = Buffer.allocUnsafeSlow(MIN_BUFFER);
}

/** Puts chunks of a pipe together to frames. */
export class FrameReader<Result> {
  private chunks: Buffer[] = [];
  private length = 0;
  /** The length of the frame that is being read, once it is known. */
  private needed = HEAD_BYTES;

  /** Returns the frames that the chunk completes. */
  push(chunk: Buffer): Frame<Result>[] {
    this.chunks.push(chunk);
    this.length += chunk.length;
    const frames: Frame<Result>[] = [];
    while (this.length >= this.needed) {
      const [first] = this.chunks;
      const whole = this.chunks.length === 1 && first ? first : Buffer.concat(this.chunks, this.length);
      this.chunks = [whole];
      const textLength = whole.readUInt32LE(0);
      const size = whole.readUInt32LE(4);
      this.needed = HEAD_BYTES + textLength + size;
      if (this.length < this.needed) break;
      const text = whole.toString('utf8', HEAD_BYTES, HEAD_BYTES + textLength);
      frames.push({ results: JSON.parse(text), bytes: whole.subarray(HEAD_BYTES + textLength, this.needed) });
      this.chunks = [whole.subarray(this.needed)];
      this.length -= this.needed;
      this.needed = HEAD_BYTES;
    }
    return frames;
  }
}
