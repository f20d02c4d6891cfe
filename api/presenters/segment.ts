import joi from 'joi';
import type { Segment } from '../../db/models/segment.ts';
import { conditionReference, nullableConditionReference } from '../http/condition-schema.ts';
import { dateTime, flag, namedType, nullable, oneOf, text, uuid, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { documented, refuse } from '../http/violations.ts';

/** Fits 200 filters of the longest kind; unknown parts of a tree are stored with it. */
const MAX_CONDITION_BYTES = 256 * 1024;

/** services/conditions validates the tree and reports the path of every error. */
const anyTree = (): Typed<unknown> =>
  joi
    .any()
    .custom((tree: unknown, helpers) =>
      Buffer.byteLength(JSON.stringify(tree) ?? '') > MAX_CONDITION_BYTES
        ? refuse(helpers, 'too_big', `is larger than ${MAX_CONDITION_BYTES / 1024} KB`)
        : tree,
    )
    .description('Condition on contacts.');

/** A condition, or null. */
export const conditionTree = (): Typed<unknown> => documented(anyTree(), nullableConditionReference);

/** A condition in a request. */
export const givenCondition = (): Typed<unknown> => documented(anyTree(), conditionReference);

export const segmentSchema = namedType('Segment', 'A group of contacts.', {
  id: uuid().description('Segment ID.'),
  name: text().description('Segment name.'),
  slug: text()
    .description('Identifier in the names of its events, such as `segment.<slug>.entry`; never changes.')
    .example('vip-customers'),
  description: nullable(text({ min: 0 })).description('Description; null if there is none.'),
  type: oneOf('DYNAMIC', 'STATIC').description(
    'DYNAMIC: contacts that match the condition. STATIC: contacts that were added by address.',
  ),
  condition: conditionTree().description('Condition that members match; null for a static segment.'),
  trackMembership: flag().description('Whether entries and exits are recorded as events.'),
  memberCount: wholeNumber({ min: 0 }).description('Number of members when last counted.'),
  countedAt: nullable(dateTime()).description('When the members were last counted; null if they never were.'),
  projectId: uuid().description('Project ID.'),
  createdAt: dateTime().description('When the segment was created.'),
  updatedAt: dateTime().description('When the segment was last updated.'),
});

export const presentSegment = (segment: Segment) => ({
  id: segment.id,
  name: segment.name,
  slug: segment.slug,
  description: segment.description,
  type: segment.type,
  condition: segment.condition,
  trackMembership: segment.trackMembership,
  memberCount: segment.memberCount,
  countedAt: segment.countedAt?.toISOString() ?? null,
  projectId: segment.projectId,
  createdAt: segment.createdAt.toISOString(),
  updatedAt: segment.updatedAt.toISOString(),
});
