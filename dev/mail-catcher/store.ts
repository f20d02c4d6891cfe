import { randomBytes } from 'node:crypto';
import { describeMail, type Message, type Preview, previewOf, type Summary, summarize } from './message.ts';
import { matches, parseQuery } from './search.ts';
import { type MailLocation, type MailRecord, Segments } from './segments.ts';

export interface CaughtMail {
  record: MailRecord;
  summary: Summary;
  location: MailLocation;
  preview?: Preview;
}

export interface Envelope {
  from: string;
  to: string[];
}

/** The newest mails: headers in memory, content on disk, which survives a restart. */
export class MailStore {
  #segments: Segments;
  #limit: number;
  // A Map keeps the order of insertion: oldest first.
  #mails = new Map<string, CaughtMail>();

  constructor(dir: string, limit = 20_000, segmentBytes?: number) {
    this.#segments = new Segments(dir, segmentBytes);
    this.#limit = limit;
    this.#segments.scan(
      (record, raw, location) => this.#index({ record, summary: summarize(record, raw), location }),
      (ids) => this.#unindex(ids),
    );
    this.#trim();
  }

  get size(): number {
    return this.#mails.size;
  }

  add({ from, to }: Envelope, raw: Buffer): string {
    const id = randomBytes(16).toString('base64url').replace(/[-_]/g, 'x');
    const record = { id, created: new Date().toISOString(), from, to, size: raw.length };
    this.#index({ record, summary: summarize(record, raw), location: this.#segments.append(record, raw) });
    this.#trim();
    return id;
  }

  get(id: string): CaughtMail | undefined {
    return id === 'latest' ? this.newestFirst()[0] : this.#mails.get(id);
  }

  raw({ location }: CaughtMail): Buffer {
    return this.#segments.read(location);
  }

  describe(mail: CaughtMail): Promise<Message> {
    mail.summary.Read = true;
    return describeMail(mail.record, this.raw(mail));
  }

  async preview(mail: CaughtMail): Promise<Preview> {
    mail.preview ??= await previewOf(this.raw(mail));
    return mail.preview;
  }

  newestFirst(): CaughtMail[] {
    return [...this.#mails.values()].reverse();
  }

  async search(query: string): Promise<CaughtMail[]> {
    const terms = parseQuery(query);
    const found: CaughtMail[] = [];
    for (const mail of this.newestFirst()) {
      if (await matches(mail.summary, terms, () => this.preview(mail))) found.push(mail);
    }
    return found;
  }

  delete(ids?: string[]): void {
    if (!ids) {
      this.#mails.clear();
      this.#segments.removeAll();
      return;
    }
    const known = ids.filter((id) => this.#mails.has(id));
    if (known.length === 0) return;
    this.#segments.markDeleted(known);
    this.#unindex(known);
  }

  close(): void {
    this.#segments.close();
  }

  #index(mail: CaughtMail): void {
    this.#mails.set(mail.record.id, mail);
  }

  #unindex(ids: string[]): void {
    for (const id of ids) this.#mails.delete(id);
  }

  #trim(): void {
    if (this.#mails.size <= this.#limit) return;
    for (const id of this.#mails.keys()) {
      if (this.#mails.size <= this.#limit) break;
      this.#mails.delete(id);
    }
    const [oldest] = this.#mails.values();
    if (oldest) this.#segments.removeBefore(oldest.location.segment);
  }
}
