import { findContact } from '../../services/contacts/find.ts';
import { exportContact } from '../../services/export/contact.ts';
import { listSegmentsOfContact } from '../../services/segments/of-contact.ts';
import { executionStatuses } from '../../services/workflows/executions/find.ts';
import { listProjectExecutions } from '../../services/workflows/executions/list.ts';
import { type Answer, answer, missing, ok } from '../http/answers.ts';
import { named } from '../http/json-schema.ts';
import { route, routes } from '../http/route.ts';
import { cursorPage, oneOf, optional, record, uuid } from '../http/schemas.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import { listedExecutionSchema, presentListedExecution } from '../presenters/execution.ts';
import { presentSegment, segmentSchema } from '../presenters/segment.ts';

const params = { id: uuid().description('Contact ID.') };
const noContact = missing('contact', 'CONTACT_NOT_FOUND');

/** What belongs to one contact. Its events and mails are lists of their own. */
export const contactReading = routes('Contacts', [
  route({
    method: 'GET',
    path: '/contacts/:id/executions',
    summary: 'List the executions of a contact, newest first',
    access: 'secretKey',
    scope: 'contacts:read',
    params,
    query: {
      ...cursorPage(),
      status: optional(oneOf(...executionStatuses)).description('Only executions with this status.'),
    },
    answers: { 200: answer('A page of executions.', cursorListSchema(listedExecutionSchema)), 404: noContact },
    handle: async ({ db, project: { projectId }, settings, params, query }) => {
      const { id: contactId } = await findContact(db, projectId, params.id);
      const page = await listProjectExecutions(db, projectId, settings.secretKeys, { ...query, contactId });
      return ok(presentCursorList(page, presentListedExecution));
    },
  }),
  route({
    method: 'GET',
    path: '/contacts/:id/segments',
    summary: 'List the segments a contact is in, newest first',
    access: 'secretKey',
    scope: 'contacts:read',
    params,
    query: cursorPage(),
    answers: { 200: answer('A page of segments.', cursorListSchema(segmentSchema)), 404: noContact },
    handle: async ({ db, project: { projectId }, settings, params, query }) => {
      const { id } = await findContact(db, projectId, params.id);
      const page = await listSegmentsOfContact(db, projectId, id, settings.secretKeys, query);
      return ok(presentCursorList(page, presentSegment));
    },
  }),
  route({
    method: 'GET',
    path: '/contacts/:id/export',
    summary: 'Export all data of a contact as JSON',
    access: 'secretKey',
    scope: 'contacts:read',
    role: 'MEMBER',
    projectInQuery: true,
    params,
    answers: {
      200: answer(
        '`contact`, `suppression`, `preferences`, `segments`, `consents`, `submissions`, `events`, `emails` and `executions`.',
        named('ContactExport', 'All data of a contact.', record()),
      ),
      404: noContact,
    },
    handle: async ({ db, project, settings, params }): Promise<Answer> => ({
      status: 200,
      body: await exportContact(db, project, params.id, settings.secretKeys),
      headers: {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Disposition': `attachment; filename="contact-${params.id}.json"`,
      },
    }),
  }),
]);
