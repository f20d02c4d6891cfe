import joi from 'joi';
import type { Segment } from '../../db/models/segment.ts';
import { conditionReference, nullableConditionReference } from '../http/condition-schema.ts';
import { dateTime, flag, nullable, object, oneOf, text, uuid, wholeNumber } from '../http/schemas.ts';
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

export const segmentSchema = object({
  id: uuid(),
  name: text(),
  slug: text(),
  description: nullable(text({ min: 0 })),
  type: oneOf('DYNAMIC', 'STATIC'),
  condition: conditionTree(),
  trackMembership: flag(),
  memberCount: wholeNumber({ min: 0 }),
  projectId: uuid(),
  createdAt: dateTime(),
  updatedAt: dateTime(),
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
  projectId: segment.projectId,
  createdAt: segment.createdAt.toISOString(),
  updatedAt: segment.updatedAt.toISOString(),
});
