import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { validationError } from '../../platform/errors.ts';

const OWN_EVENT = /^(?:topic\.[a-z0-9-]+\.(?:subscribed|unsubscribed)|form\.[a-z0-9-]+\.confirmed)$/;

const isTopicEvent = statement<{ reserved: boolean }>(
  'topic-event-reserved',
  'select is_topic_event($1, $2) or is_form_event($1, $2, false) as reserved',
);

/**
 * Rejects with 422 the name of an event that the service records for one of the project's topics or forms. Names in use before it
 * existed stay the project's own until then, so only such names cost a query.
 */
export async function requireUnreservedByTopic(db: Db, projectId: string, field: string, name: string): Promise<void> {
  if (!OWN_EVENT.test(name)) return;
  const [row] = await isTopicEvent(db, [projectId, name]);
  if (row?.reserved)
    throw validationError([
      { field, message: `"${field}" is reserved for events that Everpost records`, code: 'reserved_event' },
    ]);
}

const hasTopics = statement<{ exists: boolean }>(
  'project-has-topics',
  'select exists (select from topics where project_id = $1) as exists',
);

/** Rejects choices that come with the public key, which every visitor of a page can read. */
export async function refuseTopics(db: Db, projectId: string): Promise<void> {
  const [row] = await hasTopics(db, [projectId]);
  if (row?.exists)
    throw validationError([
      { field: 'topics', message: '"topics" needs proof of consent: use a form', code: 'custom' },
    ]);
}
