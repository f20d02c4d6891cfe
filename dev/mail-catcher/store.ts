import { randomBytes } from 'node:crypto';
import { describeMail, type Glimpse, glimpse, type Message, type Summary, summarize } from './message.ts';
import { matches, parseQuery } from './search.ts';
import { type MailRecord, type Place, Segments } from './segments.ts';

export interface Caught {
  record: MailRecord;
  summary: Summary;
  place: Place;
  glimpse?: Glimpse;
}

export interface Envelope {
  from: string;
  to: string[];
}

/** The newest mails: their heads in memory, their bytes on disk, where they outlive a restart. */
export class MailStore {
  #segments: Segments;
  #limit: number;
  // A Map keeps the order of arrival: oldest first.
  #mails = new Map<string, Caught>();

  constructor(dir: string, limit = 20_000, segmentBytes?: number) {
    this.#segments = new Segments(dir, segmentBytes);
    this.#limit = limit;
    this.#segments.scan(
      (record, raw, place) => this.#keep({ record, summary: summarize(record, raw), place }),
      (ids) => this.#forget(ids),
    );
    this.#trim();
  }

  get size(): number {
    return this.#mails.size;
  }

  add({ from, to }: Envelope, raw: Buffer): string {
    const id = randomBytes(16).toString('base64url').replace(/[-_]/g, 'x');
    const record = { id, created: new Date().toISOString(), from, to, size: raw.length };
    this.#keep({ record, summary: summarize(record, raw), place: this.#segments.append(record, raw) });
    this.#trim();
    return id;
  }

  get(id: string): Caught | undefined {
    return id === 'latest' ? this.newestFirst()[0] : this.#mails.get(id);
  }

  raw({ place }: Caught): Buffer {
    return this.#segments.read(place);
  }

  describe(mail: Caught): Promise<Message> {
    mail.summary.Read = true;
    return describeMail(mail.record, this.raw(mail));
  }

  async glimpse(mail: Caught): Promise<Glimpse> {
    mail.glimpse ??= await glimpse(this.raw(mail));
    return mail.glimpse;
  }

  newestFirst(): Caught[] {
    return [...this.#mails.values()].reverse();
  }

  async search(query: string): Promise<Caught[]> {
    const terms = parseQuery(query);
    const found: Caught[] = [];
    for (const mail of this.newestFirst()) {
      if (await matches(mail.summary, terms, () => this.glimpse(mail))) found.push(mail);
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
    this.#forget(known);
  }

  close(): void {
    this.#segments.close();
  }

  #keep(mail: Caught): void {
    this.#mails.set(mail.record.id, mail);
  }

  #forget(ids: string[]): void {
    for (const id of ids) this.#mails.delete(id);
  }

  #trim(): void {
    if (this.#mails.size <= this.#limit) return;
    for (const id of this.#mails.keys()) {
      if (this.#mails.size <= this.#limit) break;
      this.#mails.delete(id);
    }
    const [oldest] = this.#mails.values();
    if (oldest) this.#segments.removeBefore(oldest.place.segment);
  }
}
