// Stores mails in append-only files. A record is a line of JSON and, for a mail, its bytes after it.
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

export interface MailRecord {
  id: string;
  created: string;
  from: string;
  to: string[];
  size: number;
}

export interface MailLocation {
  segment: number;
  offset: number;
  size: number;
}

type Entry = MailRecord | { deleted: string[] };

const SEGMENT_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

export class Segments {
  #dir: string;
  #fds = new Map<number, number>();
  #bytes = 0;
  #segmentBytes: number;

  constructor(dir: string, segmentBytes = SEGMENT_BYTES) {
    this.#dir = dir;
    this.#segmentBytes = segmentBytes;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    for (const segment of this.numbers()) this.#open(segment);
    if (this.#fds.size === 0) this.#open(1);
    this.#bytes = fstatSync(this.#fd(this.#last())).size;
  }

  /** Oldest first. */
  numbers(): number[] {
    const found = readdirSync(this.#dir).flatMap((name) => /^(\d+)\.mails$/.exec(name)?.[1] ?? []);
    return found.map(Number).sort((a, b) => a - b);
  }

  /** Reads all records. Truncates a record that a crash cut off. */
  scan(
    mail: (record: MailRecord, raw: Buffer, location: MailLocation) => void,
    deleted: (ids: string[]) => void,
  ): void {
    for (const segment of this.numbers()) {
      const bytes = readFileSync(this.#file(segment));
      let at = 0;
      for (;;) {
        const end = bytes.indexOf(NEWLINE, at);
        const entry = end < 0 ? undefined : parse(bytes.toString('utf8', at, end));
        if (!entry) break;
        const offset = end + 1;
        if ('deleted' in entry) {
          deleted(entry.deleted);
          at = offset;
          continue;
        }
        if (offset + entry.size > bytes.length) break;
        mail(entry, bytes.subarray(offset, offset + entry.size), { segment, offset, size: entry.size });
        at = offset + entry.size;
      }
      if (at < bytes.length) truncateSync(this.#file(segment), at);
    }
    this.#bytes = fstatSync(this.#fd(this.#last())).size;
  }

  append(record: MailRecord, raw: Buffer): MailLocation {
    if (this.#bytes > this.#segmentBytes) this.#open(this.#last() + 1);
    const segment = this.#last();
    const head = Buffer.from(`${JSON.stringify(record)}\n`);
    const offset = this.#bytes + head.length;
    this.#write(Buffer.concat([head, raw]));
    return { segment, offset, size: raw.length };
  }

  markDeleted(ids: string[]): void {
    this.#write(Buffer.from(`${JSON.stringify({ deleted: ids })}\n`));
  }

  read({ segment, offset, size }: MailLocation): Buffer {
    const raw = Buffer.alloc(size);
    readSync(this.#fd(segment), raw, 0, size, offset);
    return raw;
  }

  /** Removes only the oldest segments: a later segment may contain deletions of an earlier one. */
  removeBefore(segment: number): void {
    for (const [old, fd] of this.#fds) {
      if (old >= segment || old === this.#last()) continue;
      closeSync(fd);
      this.#fds.delete(old);
      rmSync(this.#file(old), { force: true });
    }
  }

  removeAll(): void {
    this.#open(this.#last() + 1);
    this.removeBefore(this.#last());
  }

  close(): void {
    for (const fd of this.#fds.values()) closeSync(fd);
    this.#fds.clear();
  }

  #write(bytes: Buffer): void {
    writeSync(this.#fd(this.#last()), bytes);
    this.#bytes += bytes.length;
  }

  #open(segment: number): void {
    this.#fds.set(segment, openSync(this.#file(segment), 'a+', 0o600));
    this.#bytes = 0;
  }

  #last = (): number => Math.max(...this.#fds.keys());
  #file = (segment: number): string => join(this.#dir, `${String(segment).padStart(6, '0')}.mails`);

  #fd(segment: number): number {
    const fd = this.#fds.get(segment);
    if (fd === undefined) throw new Error(`mail segment ${segment} is gone`);
    return fd;
  }
}

function parse(line: string): Entry | undefined {
  try {
    return JSON.parse(line) as Entry;
  } catch {
    return undefined;
  }
}
