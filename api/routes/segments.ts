import joi from 'joi';
import { createFreezeJob } from '../../services/jobs/create-by-condition.ts';
import { deleteSegment } from '../../services/removal/segment.ts';
import { computeSegment } from '../../services/segments/compute.ts';
import { refreshSegment } from '../../services/segments/count.ts';
import { createSegment } from '../../services/segments/create.ts';
import { listSegmentMembers } from '../../services/segments/members.ts';
import { previewSegment } from '../../services/segments/preview.ts';
import { showSegment, showSegments } from '../../services/segments/show.ts';
import { addMembers, removeMembers } from '../../services/segments/static-members.ts';
import { updateSegment } from '../../services/segments/update.ts';
import { accepted, answer, created, failure, missing, noContent, ok, plainFailure } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import {
  email,
  flag,
  list,
  namedType,
  nullable,
  offsetPage,
  oneOf,
  optional,
  request,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { documented } from '../http/violations.ts';
import { contactSchema, presentContact } from '../presenters/contact.ts';
import { queuedJobSchema } from '../presenters/job.ts';
import { offsetListSchema, presentOffsetList } from '../presenters/offset-list.ts';
import { givenCondition, presentSegment, segmentSchema } from '../presenters/segment.ts';

const MAX_EMAILS = 500;

const name = () => text({ max: 100 });
const description = () => optional(nullable(text({ min: 0, max: 500 })));
const count = () => wholeNumber({ min: 0 });

/** An address in its original spelling, which is returned when it is not found. */
const spelled = (): Typed<string> =>
  documented(
    joi
      .string()
      .custom((value: string, helpers) => (email().validate(value).error ? helpers.error('string.email') : value))
      .required(),
    { format: 'email', maxLength: 254 },
  );
const emails = () => list(spelled(), { min: 1, max: MAX_EMAILS });

const one = answer('The segment.', segmentSchema);
const notFound = missing('segment', 'SEGMENT_NOT_FOUND');
const params = { id: uuid().description('Segment ID.') };
const invalid = failure('The condition is invalid, or takes too long to evaluate.', 'BAD_REQUEST');
const onlyStatic = failure('The segment is dynamic.', 'BAD_REQUEST');

/** A segment may have a million members, written or removed in one statement. */
const MEMBERS_MS = 60_000;

export const segments = routes('Segments', [
  route({
    method: 'GET',
    path: '/segments',
    summary: 'List segments, newest first',
    access: 'secretKey',
    scope: 'segments:read',
    answers: { 200: answer('The segments.', list(segmentSchema)) },
    handle: async ({ db, project, log }) => ok((await showSegments(db, project.projectId, log)).map(presentSegment)),
  }),
  route({
    method: 'POST',
    path: '/segments',
    summary: 'Create a segment',
    access: 'secretKey',
    scope: 'segments:write',
    body: request('CreateSegmentRequest', 'A segment to create.', {
      name: name().description('Segment name.'),
      description: description().description('Description.'),
      type: optional(oneOf('DYNAMIC', 'STATIC')).description('Segment type; DYNAMIC by default.'),
      condition: givenCondition().description(
        'Condition that members match. Required for a dynamic segment, ignored for a static one.',
      ),
      trackMembership: optional(flag()).description('Whether to record entries and exits as events; false by default.'),
    }),
    invalidBody: 400,
    answers: {
      201: one,
      400: plainFailure('The body is invalid; the message says what and where.'),
      409: failure('The project has the maximum number of segments.', 'CONFLICT'),
    },
    handle: async ({ db, project, settings, body }) =>
      created(presentSegment(await createSegment(db, project, body, settings.limits))),
  }),
  route({
    method: 'POST',
    path: '/segments/preview',
    summary: 'Preview the contacts that match a condition',
    access: 'secretKey',
    scope: 'segments:read',
    role: 'VIEWER',
    whileDisabled: true,
    body: request('PreviewSegmentRequest', 'A condition to preview.', {
      condition: (givenCondition().required() as Typed<unknown>).description('Condition that the contacts match.'),
    }),
    answers: {
      200: answer(
        'The number of contacts, and some of them.',
        namedType('SegmentPreview', 'Contacts that match a condition.', {
          count: count().description('Number of contacts that match.'),
          estimated: flag().description('Whether `count` is an estimate because counting took too long.'),
          sample: list(contactSchema, { max: 10 }).description('Up to 10 of the contacts.'),
        }),
      ),
      400: invalid,
    },
    handle: async ({ db, project, body }) => {
      const { sample, ...counted } = await previewSegment(db, project.projectId, body.condition);
      return ok({ ...counted, sample: sample.map(presentContact) });
    },
  }),
  route({
    method: 'GET',
    path: '/segments/:id',
    summary: 'Get a segment',
    access: 'secretKey',
    scope: 'segments:read',
    params,
    answers: { 200: one, 404: notFound },
    handle: async ({ db, project, params }) => ok(presentSegment(await showSegment(db, project.projectId, params.id))),
  }),
  route({
    method: 'PATCH',
    path: '/segments/:id',
    summary: 'Update a segment; its slug stays the same',
    access: 'secretKey',
    scope: 'segments:write',
    params,
    body: request('UpdateSegmentRequest', 'The changes; fields that are left out stay as they are.', {
      name: optional(name()).description('New name.'),
      description: description().description('New description; null removes it.'),
      condition: givenCondition().description('New condition; ignored for a static segment.'),
      trackMembership: optional(flag()).description('Whether to record entries and exits as events.'),
    }),
    statementTimeoutMs: MEMBERS_MS,
    answers: { 200: one, 400: invalid, 404: notFound },
    handle: async ({ db, project, params, body }) =>
      ok(presentSegment(await updateSegment(db, project, params.id, body))),
  }),
  route({
    method: 'DELETE',
    path: '/segments/:id',
    summary: 'Delete a segment',
    access: 'secretKey',
    scope: 'segments:write',
    params,
    statementTimeoutMs: MEMBERS_MS,
    answers: { 204: answer('Deleted.'), 404: notFound, 409: failure('The segment is in use.', 'CONFLICT') },
    handle: async ({ db, project, params }) => {
      await deleteSegment(db, project, params.id);
      return noContent();
    },
  }),
  route({
    method: 'GET',
    path: '/segments/:id/contacts',
    summary: 'List the members of a segment',
    access: 'secretKey',
    scope: 'segments:read',
    params,
    query: offsetPage({ maxPageSize: 100 }),
    answers: {
      200: answer('A page of members.', offsetListSchema(contactSchema)),
      400: invalid,
      404: notFound,
    },
    handle: async ({ db, project, params, query }) =>
      ok(presentOffsetList(await listSegmentMembers(db, project.projectId, params.id, query), presentContact)),
  }),
  route({
    method: 'POST',
    path: '/segments/:id/members',
    summary: 'Add contacts to a static segment by address',
    access: 'secretKey',
    scope: 'segments:write',
    params,
    body: request('AddSegmentMembersRequest', 'Contacts to add to a segment.', {
      emails: emails().description('Email addresses, at most 500.'),
      createMissing: optional(flag()).description(
        'Whether to create contacts for unknown addresses; false by default.',
      ),
      subscribed: optional(flag()).description('Subscription state of created contacts; true by default.'),
    }),
    answers: {
      200: answer(
        'The contacts were added.',
        namedType('SegmentMemberAddition', 'The result of adding contacts to a segment.', {
          added: count().description('Number of contacts added; existing members do not count.'),
          created: count().description('Number of contacts created.'),
          notFound: list(text()).description('Addresses that are not contacts, as they were sent.'),
        }),
      ),
      400: onlyStatic,
      404: notFound,
    },
    handle: async ({ db, project, params, body }) => ok(await addMembers(db, project, params.id, body)),
  }),
  route({
    method: 'DELETE',
    path: '/segments/:id/members',
    summary: 'Remove contacts from a static segment by address',
    access: 'secretKey',
    scope: 'segments:write',
    params,
    body: request('RemoveSegmentMembersRequest', 'Contacts to remove from a segment.', {
      emails: emails().description('Email addresses, at most 500.'),
    }),
    answers: {
      200: answer(
        'The contacts were removed.',
        namedType('SegmentMemberRemoval', 'The result of removing contacts from a segment.', {
          removed: count().description('Number of contacts removed.'),
        }),
      ),
      400: onlyStatic,
      404: notFound,
    },
    handle: async ({ db, project, params, body }) => ok(await removeMembers(db, project, params.id, body.emails)),
  }),
  route({
    method: 'POST',
    path: '/segments/:id/compute',
    summary: 'Recompute the members of a tracked dynamic segment',
    access: 'secretKey',
    scope: 'segments:write',
    params,
    statementTimeoutMs: MEMBERS_MS,
    answers: {
      200: answer(
        'The changes are recorded as entries and exits.',
        namedType('SegmentComputation', 'The result of recomputing a segment.', {
          added: count().description('Number of contacts that entered the segment.'),
          removed: count().description('Number of contacts that left the segment.'),
          total: count().description('Number of members now.'),
        }),
      ),
      400: failure('The segment is not both dynamic and tracked, or its condition takes too long.', 'BAD_REQUEST'),
      404: notFound,
    },
    handle: async ({ db, project, params }) => ok(await computeSegment(db, project, params.id)),
  }),
  route({
    method: 'POST',
    path: '/segments/:id/refresh',
    summary: 'Recount the members of a segment',
    access: 'secretKey',
    scope: 'segments:write',
    params,
    answers: {
      200: answer(
        'The new count.',
        namedType('SegmentMemberCount', 'The number of members of a segment.', {
          memberCount: count().description('Number of members.'),
        }),
      ),
      400: invalid,
      404: notFound,
    },
    handle: async ({ db, project, params }) => ok(await refreshSegment(db, project, params.id)),
  }),
  route({
    method: 'POST',
    path: '/segments/:id/freeze',
    summary: 'Copy the present members of a segment into a new static segment',
    access: 'secretKey',
    scope: 'segments:write',
    params,
    statementTimeoutMs: MEMBERS_MS,
    answers: {
      202: answer('The job; its `result.segmentId` is the copy.', queuedJobSchema),
      400: invalid,
      404: notFound,
      409: failure('The project has the maximum number of segments or of waiting jobs.', 'CONFLICT'),
    },
    handle: async ({ db, project, settings, params }) =>
      accepted({ jobId: await createFreezeJob(db, project, params.id, settings.limits) }),
  }),
]);
