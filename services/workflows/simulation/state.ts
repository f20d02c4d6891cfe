import type { ContactRecord } from '../../../db/models/contact.ts';
import type { TopicState } from '../../../db/models/topic.ts';
import { type Data, readData } from '../../contacts/data.ts';
import { isReservedEvent } from '../../events/reserved.ts';
import { chooseTopic, type SimulatedTopics } from './topics.ts';

/** An event of the script, and when it happens. */
export interface ScriptedEvent {
  name: string;
  data?: Data | undefined;
  at: Date;
}

/** An event that has happened. Its index in the list is its position. */
interface RecordedEvent {
  name: string;
  data: Data;
  createdAt: Date;
}

/** The simulated contact, its events and the simulated clock. */
export class SimulationState {
  now: Date;
  contact: ContactRecord;
  context: Data;
  readonly recorded: RecordedEvent[] = [];
  /** Only events from this position on can end a wait. */
  firstPosition = 0;
  /** Static segments that a step has changed, and whether the contact is a member now. */
  readonly segmentChanges = new Map<string, boolean>();
  readonly startedWorkflows = new Set<string>();
  readonly topics: SimulatedTopics;
  private readonly script: ScriptedEvent[];

  constructor({
    now,
    contact,
    context,
    script,
    topics,
  }: { now: Date; contact: ContactRecord; context: Data; script: ScriptedEvent[]; topics: SimulatedTopics }) {
    this.now = now;
    this.contact = contact;
    this.context = context;
    this.topics = topics;
    this.script = script.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  }

  /** Moves the clock, and applies the events until then. */
  passTo(time: Date): void {
    const next = this.script.findIndex((event) => event.at > time);
    for (const event of this.script.splice(0, next < 0 ? this.script.length : next)) this.apply(event);
    this.now = time;
  }

  /** Applies all remaining events. */
  passToEnd(): void {
    const last = this.script.at(-1);
    if (last) this.passTo(last.at);
  }

  /** Returns when the next event with this name happens, if it does before `until`. */
  nextOf(name: string, until: Date | undefined): Date | undefined {
    const event = this.script.find((candidate) => candidate.name === name);
    return event && (!until || event.at <= until) ? event.at : undefined;
  }

  /** Returns the first event with this name that can end a wait, and uses it up. */
  take(name: string): RecordedEvent | undefined {
    const index = this.recorded.findIndex((event, position) => position >= this.firstPosition && event.name === name);
    const event = this.recorded[index];
    if (event) this.firstPosition = index + 1;
    return event;
  }

  /** Excludes all events so far, as the end of a sleep does. */
  excludePastEvents(): void {
    this.firstPosition = this.recorded.length;
  }

  record(name: string, data: Data, createdAt: Date): void {
    this.recorded.push({ name, data, createdAt });
  }

  /** Changes topics of the contact. Each change but PENDING is recorded as an event. */
  choose(choices: Record<string, TopicState>, at: Date): void {
    for (const [name, wanted] of Object.entries(choices)) {
      const topic = this.topics.get(name.toLowerCase());
      if (!topic || !chooseTopic(topic, wanted, at) || topic.state === 'PENDING') continue;
      const data = { topicId: topic.id, key: topic.key, method: 'WORKFLOW' };
      this.record(`topic.${topic.key}.${topic.state.toLowerCase()}`, data, at);
    }
  }

  /** Updates the contact. A change of the subscription is recorded as an event. */
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

  /** The data of tracked events is also stored on the contact; that of reserved events is not. */
  private apply({ name, data = {}, at }: ScriptedEvent): void {
    if (name === 'contact.subscribed' || name === 'contact.unsubscribed')
      this.contact = { ...this.contact, subscribed: name === 'contact.subscribed', updatedAt: at };
    const isReserved = isReservedEvent(name) || this.applyTopicEvent(name, at);
    if (!isReserved && Object.keys(data).length > 0) this.change({ data }, at);
    this.record(name, isReserved ? data : readData(data).seen, at);
  }

  /** Returns whether the event is that of a topic of the project. */
  private applyTopicEvent(name: string, at: Date): boolean {
    const [, key = '', change] = /^topic\.([a-z0-9-]+)\.(subscribed|unsubscribed)$/.exec(name) ?? [];
    const topic = this.topics.get(key);
    if (!topic) return false;
    topic.state = change === 'subscribed' ? 'SUBSCRIBED' : 'UNSUBSCRIBED';
    topic.changedAt = at;
    return true;
  }
}
