import joi from 'joi';
import { deleteSegment } from '../../services/removal/segment.ts';
import { computeSegment } from '../../services/segments/compute.ts';
import { refreshSegment } from '../../services/segments/count.ts';
import { createSegment } from '../../services/segments/create.ts';
import { findSegment, listSegments } from '../../services/segments/find.ts';
import { listSegmentMembers } from '../../services/segments/members.ts';
import { previewSegment } from '../../services/segments/preview.ts';
import { addMembers, removeMembers } from '../../services/segments/static-members.ts';
import { updateSegment } from '../../services/segments/update.ts';
import { answer, created, failure, missing, noContent, ok, plainFailure } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import {
  email,
  flag,
  list,
  nullable,
  object,
  offsetPage,
  oneOf,
  optional,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { documented } from '../http/violations.ts';
import { contactSchema, presentContact } from '../presenters/contact.ts';
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
const params = { id: uuid() };
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
    handle: async ({ db, project }) => ok((await listSegments(db, project.projectId)).map(presentSegment)),
  }),
  route({
    method: 'POST',
    path: '/segments',
    summary: 'Create a segment',
    access: 'secretKey',
    scope: 'segments:write',
    body: {
      name: name(),
      description: description(),
      type: optional(oneOf('DYNAMIC', 'STATIC')),
      condition: givenCondition(),
      trackMembership: optional(flag()),
    },
    invalidBody: 400,
    answers: {
      201: one,
      400: plainFailure('The body is invalid; the text says what and where.'),
      409: failure('The project has the maximum number of segments.', 'CONFLICT'),
    },
    handle: async ({ db, project, settings, body }) =>
      created(presentSegment(await createSegment(db, project, body, settings.limits))),
  }),
  route({
    method: 'POST',
    path: '/segments/preview',
    summary: 'Count the contacts that match a condition, and show some of them',
    access: 'secretKey',
    scope: 'segments:read',
    role: 'VIEWER',
    whileDisabled: true,
    body: { condition: givenCondition().required() as Typed<unknown> },
    answers: {
      200: answer(
        'The contacts. `estimated` when counting took longer than two seconds.',
        object({ count: count(), estimated: flag(), sample: list(contactSchema, { max: 10 }) }),
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
    summary: 'Get a segment with its cached member count',
    access: 'secretKey',
    scope: 'segments:read',
    params,
    answers: { 200: one, 404: notFound },
    handle: async ({ db, project, params }) => ok(presentSegment(await findSegment(db, project.projectId, params.id))),
  }),
  route({
    method: 'PATCH',
    path: '/segments/:id',
    summary: 'Change a segment; its slug stays',
    access: 'secretKey',
    scope: 'segments:write',
    params,
    body: {
      name: optional(name()),
      description: description(),
      condition: givenCondition(),
      trackMembership: optional(flag()),
    },
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
    summary: 'List the current members of a segment',
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
    summary: 'Add members to a static segment by their addresses',
    access: 'secretKey',
    scope: 'segments:write',
    params,
    body: { emails: emails(), createMissing: optional(flag()), subscribed: optional(flag()) },
    answers: {
      200: answer(
        'How many were added, how many of them created, and which addresses were not found.',
        object({ added: count(), created: count(), notFound: list(text()) }),
      ),
      400: onlyStatic,
      404: notFound,
    },
    handle: async ({ db, project, params, body }) => ok(await addMembers(db, project, params.id, body)),
  }),
  route({
    method: 'DELETE',
    path: '/segments/:id/members',
    summary: 'Remove members from a static segment by their addresses',
    access: 'secretKey',
    scope: 'segments:write',
    params,
    body: { emails: emails() },
    answers: { 200: answer('How many were removed.', object({ removed: count() })), 400: onlyStatic, 404: notFound },
    handle: async ({ db, project, params, body }) => ok(await removeMembers(db, project, params.id, body.emails)),
  }),
  route({
    method: 'POST',
    path: '/segments/:id/compute',
    summary: 'Recompute the members of a tracked dynamic segment and record entries and exits',
    access: 'secretKey',
    scope: 'segments:write',
    params,
    statementTimeoutMs: MEMBERS_MS,
    answers: {
      200: answer(
        'How many came and went, and how many there are.',
        object({ added: count(), removed: count(), total: count() }),
      ),
      400: failure('The segment is not both dynamic and tracked, or its condition takes too long.', 'BAD_REQUEST'),
      404: notFound,
    },
    handle: async ({ db, project, params }) => ok(await computeSegment(db, project, params.id)),
  }),
  route({
    method: 'POST',
    path: '/segments/:id/refresh',
    summary: 'Recount the members',
    access: 'secretKey',
    scope: 'segments:write',
    params,
    answers: { 200: answer('The count.', object({ memberCount: count() })), 400: invalid, 404: notFound },
    handle: async ({ db, project, params }) => ok(await refreshSegment(db, project, params.id)),
  }),
]);
