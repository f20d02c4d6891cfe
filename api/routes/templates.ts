import type { Settings } from '../../platform/settings.ts';
import { sendTemplateTestMail } from '../../services/campaigns/test-mail.ts';
import { deleteTemplate } from '../../services/removal/template.ts';
import { findTemplate } from '../../services/templates/find.ts';
import { listTemplates } from '../../services/templates/list.ts';
import { restoreVersion } from '../../services/templates/restore.ts';
import { createTemplate, duplicateTemplate, templateTypes, updateTemplate } from '../../services/templates/save.ts';
import { findVersion, listVersions } from '../../services/templates/versions.ts';
import { templateUsage } from '../../services/usage/template.ts';
import { asAddress, senderAddress } from '../http/addresses.ts';
import { answer, created, failure, missing, missingPart, noContent, ok, overBillingLimit } from '../http/answers.ts';
import { changedContent, givenContent } from '../http/given-content.ts';
import { route, routes } from '../http/route.ts';
import {
  choice,
  cursorPage,
  email,
  line,
  nullable,
  offsetPage,
  oneOf,
  optional,
  request,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import { subject } from '../http/subject.ts';
import { testEmailRequest, testEmailResponse } from '../http/test-email.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import { offsetListSchema, presentOffsetList } from '../presenters/offset-list.ts';
import {
  presentListedTemplate,
  presentTemplate,
  presentVersion,
  presentWholeVersion,
  templateSchema,
  templateUsageSchema,
  versionSchema,
  wholeVersionSchema,
} from '../presenters/template.ts';

const MAX_NAME = 255;
const MAX_DESCRIPTION = 2_000;
const MAX_SEARCH = 1_000;

export const templateParams = { id: uuid().description('Template ID.') };
const ofVersion = {
  ...templateParams,
  version: wholeNumber({ min: 1, max: 2_147_483_647 }).description('Version number.'),
};
export const one = answer('The template.', templateSchema);
export const revision = () => wholeNumber({ min: 0 });
export const outdated = failure(
  'The draft or the template has changed since. `details` has the current draft.',
  'CONFLICT',
);
export const noTemplate = missing('template', 'TEMPLATE_NOT_FOUND');
const noVersion = missingPart('template version', noTemplate, 'TEMPLATE_NOT_FOUND');
export const unreadable = failure(
  'The subject or the body is not a valid template. The error has line and column.',
  'BAD_REQUEST',
);
const unverified = failure(
  'The domain of `from` is not verified, or the project is disabled.',
  'INTERNAL_SERVER_ERROR',
);

const tooMany = failure('The project has the maximum number of templates.', 'CONFLICT');
const largePage = failure('The templates on the page are too large together; request fewer.', 'PAYLOAD_TOO_LARGE');
export const bodyLimit = ({ contentBodyMaxBytes }: Settings) => contentBodyMaxBytes;

const TYPE =
  'TRANSACTIONAL is sent to all contacts, MARKETING and HEADLESS only to subscribed ones. ' +
  'MARKETING adds an unsubscribe footer.';

const name = () => text({ max: MAX_NAME }).description('Template name.');
export const subjectTemplate = () => subject().description('Subject, with variables.');

const extras = {
  description: optional(nullable(text({ min: 0, max: MAX_DESCRIPTION }))).description('Internal description.'),
  from: optional(nullable(senderAddress())).description(
    'Sender, on a verified domain: an address, with or without a name.',
  ),
  fromName: optional(nullable(line({ min: 0, max: 255 }))).description(
    'Name of the sender; takes precedence over the name in `from`.',
  ),
  replyTo: optional(nullable(email())).description('Reply-To address.'),
  topicId: optional(nullable(uuid())).description(
    'Topic of the email: of kind NOTIFICATION for TRANSACTIONAL templates, of kind MARKETING for others.',
  ),
};

type GivenAddress = Parameters<typeof asAddress>[0];

const withSender = <B extends { from?: GivenAddress | null | undefined }>({ from, ...rest }: B) => ({
  ...rest,
  from: from === undefined || from === null ? from : asAddress(from),
});

export const templates = routes('Templates', [
  route({
    method: 'GET',
    path: '/templates',
    summary: 'List templates',
    access: 'secretKey',
    scope: 'templates:read',
    query: {
      ...offsetPage(),
      type: optional(oneOf(...templateTypes)).description('Only templates of this type.'),
      search: optional(text({ min: 0, max: MAX_SEARCH })).description(
        'Part of the name, the description or the subject; case-insensitive.',
      ),
      sort: choice('createdAt', 'updatedAt', 'name').description('Sort field.'),
      dir: choice('desc', 'asc').description('Sort direction.'),
    },
    answers: { 200: answer('A page of templates.', offsetListSchema(templateSchema)), 413: largePage },
    handle: async ({ db, project, query }) =>
      ok(presentOffsetList(await listTemplates(db, project.projectId, query), presentListedTemplate)),
  }),
  route({
    method: 'POST',
    path: '/templates',
    summary: 'Create a template',
    access: 'secretKey',
    scope: 'templates:write',
    body: request('CreateTemplateRequest', 'A template to create.', {
      name: name(),
      subject: subjectTemplate(),
      ...givenContent(),
      type: oneOf('TRANSACTIONAL', 'MARKETING').description(
        'TRANSACTIONAL is sent to all contacts, MARKETING only to subscribed ones, with an unsubscribe footer.',
      ),
      ...extras,
    }),
    bodyLimit,
    answers: { 201: one, 400: unreadable, 403: unverified, 409: tooMany },
    handle: async ({ db, project, settings, body }) =>
      created(presentTemplate(await createTemplate(db, project, withSender(body), settings.limits))),
  }),
  route({
    method: 'GET',
    path: '/templates/:id',
    summary: 'Get a template',
    access: 'secretKey',
    scope: 'templates:read',
    params: templateParams,
    answers: { 200: one, 404: noTemplate },
    handle: async ({ db, project, params }) =>
      ok(presentTemplate(await findTemplate(db, project.projectId, params.id))),
  }),
  route({
    method: 'PATCH',
    path: '/templates/:id',
    summary: 'Update a template',
    access: 'secretKey',
    scope: 'templates:write',
    params: templateParams,
    body: request(
      'UpdateTemplateRequest',
      'The changes; fields that are left out stay as they are, null clears optional ones.',
      {
        name: optional(name()),
        subject: optional(subjectTemplate()),
        ...changedContent(),
        type: optional(oneOf(...templateTypes)).description(TYPE),
        ...extras,
      },
    ),
    bodyLimit,
    answers: {
      200: one,
      400: unreadable,
      403: unverified,
      404: noTemplate,
      409: failure('A form or topic has no other sender for its confirmation emails.', 'CONFLICT'),
    },
    handle: async ({ db, project, params, body }) =>
      ok(presentTemplate(await updateTemplate(db, project, params.id, withSender(body)))),
  }),
  route({
    method: 'DELETE',
    path: '/templates/:id',
    summary: 'Delete a template, keeping the emails sent with it',
    access: 'secretKey',
    scope: 'templates:write',
    params: templateParams,
    answers: {
      204: answer('Deleted.'),
      404: noTemplate,
      409: failure('A workflow step, a form or a topic uses the template.', 'CONFLICT'),
    },
    handle: async ({ db, project, params }) => {
      await deleteTemplate(db, project, params.id);
      return noContent();
    },
  }),
  route({
    method: 'POST',
    path: '/templates/:id/duplicate',
    summary: 'Duplicate a template',
    access: 'secretKey',
    scope: 'templates:write',
    params: templateParams,
    answers: { 201: answer('The copy.', templateSchema), 404: noTemplate, 409: tooMany },
    handle: async ({ db, project, settings, params }) =>
      created(presentTemplate(await duplicateTemplate(db, project, params.id, settings.limits))),
  }),
  route({
    method: 'GET',
    path: '/templates/:id/usage',
    summary: 'List the campaigns and workflow steps that use a template',
    access: 'secretKey',
    scope: 'templates:read',
    params: templateParams,
    answers: { 200: answer('The campaigns and workflow steps.', templateUsageSchema), 404: noTemplate },
    handle: async ({ db, project, params }) => ok(await templateUsage(db, project.projectId, params.id)),
  }),
  route({
    method: 'POST',
    path: '/templates/:id/test',
    summary: 'Send a test email of a template, without tracking',
    access: 'secretKey',
    scope: 'templates:write',
    alsoScope: { scope: 'send:write' },
    params: templateParams,
    body: testEmailRequest,
    answers: {
      200: answer('The test email was accepted and will be sent. Its subject starts with [TEST].', testEmailResponse),
      400: failure('The template has no sender, and the project has no verified domain.', 'BAD_REQUEST'),
      402: overBillingLimit,
      403: unverified,
      404: noTemplate,
    },
    handle: async ({ db, project, params, body }) => {
      await sendTemplateTestMail(db, project, params.id, body);
      return ok({ success: true });
    },
  }),
  route({
    method: 'GET',
    path: '/templates/:id/versions',
    summary: 'List the last 50 saved versions of a template, newest first',
    access: 'secretKey',
    scope: 'templates:read',
    params: templateParams,
    query: cursorPage(),
    answers: { 200: answer('A page of versions.', cursorListSchema(versionSchema)), 404: noTemplate },
    handle: async ({ db, project, settings, params, query }) =>
      ok(
        presentCursorList(
          await listVersions(db, project.projectId, params.id, settings.secretKeys, query),
          presentVersion,
        ),
      ),
  }),
  route({
    method: 'GET',
    path: '/templates/:id/versions/:version',
    summary: 'Get a saved version of a template',
    access: 'secretKey',
    scope: 'templates:read',
    params: ofVersion,
    answers: { 200: answer('The version.', wholeVersionSchema), 404: noVersion },
    handle: async ({ db, project, params }) =>
      ok(presentWholeVersion(await findVersion(db, project.projectId, params.id, params.version))),
  }),
  route({
    method: 'POST',
    path: '/templates/:id/versions/:version/restore',
    summary: 'Restore a saved version of a template as a new version',
    access: 'secretKey',
    scope: 'templates:write',
    params: ofVersion,
    body: request('RestoreTemplateVersionRequest', 'What the version replaces.', {
      expectedRevision: optional(revision()).description(
        'Revision of the template or its draft that you have read; 409 if it is outdated, or if you leave it out while someone else has a draft.',
      ),
    }),
    answers: { 200: one, 403: unverified, 404: noVersion, 409: outdated },
    handle: async ({ db, project, params, body }) =>
      ok(presentTemplate(await restoreVersion(db, project, params.id, params.version, body.expectedRevision))),
  }),
]);
