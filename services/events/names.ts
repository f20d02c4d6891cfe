import type { Db } from '../../db/connect.ts';
import { readEventNames } from '../../db/models/event-counts.ts';
import { Form } from '../../db/models/form.ts';
import { Segment } from '../../db/models/segment.ts';
import { Topic } from '../../db/models/topic.ts';
import { aggregateEventBacklog } from './counts.ts';
import { isReservedEvent } from './reserved.ts';
import { systemEvents } from './types.ts';

export interface NamedEvents {
  name: string;
  count: number;
  /** Only the service may record it. */
  reserved: boolean;
}

/** More names than a user can choose from. The most frequent ones are listed. */
const MAX_NAMES = 5_000;
export const ALL_NAMES = 1_000_000_000;

/** Returns the names in use, the most frequent first, then the unused names of the service's events. */
export async function listEventNames(db: Db, projectId: string): Promise<NamedEvents[]> {
  const { names, pending } = await readEventNames(db, projectId, { limit: MAX_NAMES });
  await aggregateEventBacklog(db, projectId, pending);
  const topics = [...(await topicEvents(db, projectId)), ...(await formEvents(db, projectId))];
  const used = new Set(names.map(({ name }) => name));
  const unused = [...systemEvents, ...(await segmentEvents(db, projectId)), ...topics].filter(
    (name) => !used.has(name),
  );
  return [...names, ...unused.map((name) => ({ name, count: 0 }))].map(({ name, count }) => ({
    name,
    count,
    reserved: isReservedEvent(name) || topics.includes(name),
  }));
}

async function topicEvents(db: Db, projectId: string): Promise<string[]> {
  const topics = await Topic.query(db).where({ projectId, archived: false }).select('key').orderBy('position');
  return topics.flatMap(({ key }) => [`topic.${key}.subscribed`, `topic.${key}.unsubscribed`]);
}

async function formEvents(db: Db, projectId: string): Promise<string[]> {
  const forms = await Form.query(db).where({ projectId }).whereNull('deletedAt').select('key').orderBy('key');
  return forms.map(({ key }) => `form.${key}.confirmed`);
}

async function segmentEvents(db: Db, projectId: string): Promise<string[]> {
  const segments = await Segment.query(db).where({ projectId, trackMembership: true }).select('slug').orderBy('slug');
  return segments.flatMap(({ slug }) => [`segment.${slug}.entry`, `segment.${slug}.exit`]);
}
