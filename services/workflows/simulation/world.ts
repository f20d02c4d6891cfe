import type { ContactRecord } from '../../../db/models/contact.ts';
import { type Data, readData } from '../../contacts/data.ts';
import { isReservedEvent } from '../../events/reserved.ts';

/** An event that somebody thinks up, and when it comes. */
export interface ScriptedEvent {
  name: string;
  data?: Data | undefined;
  at: Date;
}

/** One that has come. Its place in the list is its position. */
interface RecordedEvent {
  name: string;
  data: Data;
  createdAt: Date;
}

/** A contact, what happens to it, and a clock, none of which exist. */
export class World {
  now: Date;
  contact: ContactRecord;
  context: Data;
  readonly recorded: RecordedEvent[] = [];
  /** Only events behind this position count for a wait. */
  cut = 0;
  private readonly script: ScriptedEvent[];

  constructor({
    now,
    contact,
    context,
    script,
  }: { now: Date; contact: ContactRecord; context: Data; script: ScriptedEvent[] }) {
    this.now = now;
    this.contact = contact;
    this.context = context;
    this.script = script.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  }

  /** Lets time pass, with all that happens meanwhile. */
  passTo(time: Date): void {
    for (let [event] = this.script; event && event.at <= time; [event] = this.script) {
      this.script.shift();
      this.happen(event);
    }
    this.now = time;
  }

  /** Lets all that is still to come happen. */
  passToEnd(): void {
    const last = this.script.at(-1);
    if (last) this.passTo(last.at);
  }

  /** When the next event of a name comes, if it does in time. */
  nextOf(name: string, until: Date | undefined): Date | undefined {
    const event = this.script.find((candidate) => candidate.name === name);
    return event && (!until || event.at <= until) ? event.at : undefined;
  }

  /** The first event of a name that counts; it counts for no other wait. */
  take(name: string): RecordedEvent | undefined {
    const place = this.recorded.findIndex((event, position) => position >= this.cut && event.name === name);
    const event = this.recorded[place];
    if (event) this.cut = place + 1;
    return event;
  }

  /** After a sleep nothing counts that came before its end. */
  cutHere(): void {
    this.cut = this.recorded.length;
  }

  record(name: string, data: Data, createdAt: Date): void {
    this.recorded.push({ name, data, createdAt });
  }

  /** As the contact is changed by a step or along with an event; whether it is subscribed is an event of its own. */
  change({ data, subscribed }: { data: Data; subscribed?: boolean | undefined }, at: Date): void {
    const { patch, deletes } = readData(data);
    const kept = Object.entries({ ...this.contact.data, ...patch }).filter(([key]) => !deletes.includes(key));
    const before = this.contact.subscribed;
    this.contact = {
      ...this.contact,
      data: Object.fromEntries(kept),
      subscribed: subscribed ?? before,
      updatedAt: at,
    };
    if (this.contact.subscribed !== before)
      this.record(before ? 'contact.unsubscribed' : 'contact.subscribed', { reason: 'workflow' }, at);
  }

  /** What is tracked is kept on the contact as well; what only the service records is not. */
  private happen({ name, data = {}, at }: ScriptedEvent): void {
    if (name === 'contact.subscribed' || name === 'contact.unsubscribed')
      this.contact = { ...this.contact, subscribed: name === 'contact.subscribed', updatedAt: at };
    else if (!isReservedEvent(name) && Object.keys(data).length > 0) this.change({ data }, at);
    this.record(name, isReservedEvent(name) ? data : readData(data).seen, at);
  }
}
