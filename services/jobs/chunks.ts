import { createReadStream } from 'node:fs';
import { TextDecoder } from 'node:util';
import type { Db } from '../../db/connect.ts';
import { JobChunk } from '../../db/models/job.ts';
import { bytesOfBuffer, notText, type ReadBytes } from './csv.ts';

/** Of each stored part of a file but the last. */
export const CHUNK_BYTES = 1024 * 1024;
/** Contacts in each part of a bulk job but the last. */
export const CHUNK_CONTACTS = 1_000;

/** An uploaded file: its bytes, or where they are. */
export type ImportFile = Buffer | { path: string };

export const bytesOfFile = (file: ImportFile): ReadBytes =>
  Buffer.isBuffer(file)
    ? bytesOfBuffer(file)
    : (from) => createReadStream(file.path, { start: from, highWaterMark: CHUNK_BYTES });

/** Stores the bytes of a file in parts. Rejects what is not text in UTF-8. Returns the size. */
export async function storeFile(trx: Db, jobId: string, read: ReadBytes): Promise<number> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let size = 0;
  let number = 0;
  for await (const content of inChunks(read(0))) {
    requireText(decoder, content, true);
    await JobChunk.query(trx).insert({ jobId, number: number++, content });
    size += content.length;
  }
  requireText(decoder, Buffer.alloc(0), false);
  return size;
}

/** With `more` a character may continue in the next part. */
function requireText(decoder: TextDecoder, content: Buffer, more: boolean): void {
  if (content.includes(0)) throw notText();
  try {
    decoder.decode(content, { stream: more });
  } catch {
    throw notText();
  }
}

/** Regroups bytes into parts of equal size, so that the part of a position is known. */
async function* inChunks(pieces: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let waiting: Buffer[] = [];
  let length = 0;
  for await (const piece of pieces) {
    waiting.push(piece);
    length += piece.length;
    if (length < CHUNK_BYTES) continue;
    const bytes = Buffer.concat(waiting);
    const whole = bytes.length - (bytes.length % CHUNK_BYTES);
    for (let at = 0; at < whole; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
    waiting = whole < bytes.length ? [bytes.subarray(whole)] : [];
    length = bytes.length - whole;
  }
  if (length > 0) yield Buffer.concat(waiting);
}

/** Reads a stored file part by part. */
export const storedBytes = (db: Db, jobId: string): ReadBytes =>
  async function* (from) {
    let skip = from % CHUNK_BYTES;
    for (let number = Math.floor(from / CHUNK_BYTES); ; number++) {
      const part = await JobChunk.query(db).findById([jobId, number]).select('content');
      if (!part?.content) return;
      yield part.content.subarray(skip);
      skip = 0;
    }
  };
