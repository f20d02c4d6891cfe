import { findPreview, previewPolicy, storePreview } from '../../services/emails/previews.ts';
import { renderPreview } from '../../services/templates/render.ts';
import { templateTypes } from '../../services/templates/save.ts';
import { type Answer, answer, missing, ok } from '../http/answers.ts';
import { saveBrandKitRequest } from '../http/brand-kit-schema.ts';
import { contactData } from '../http/contact-data.ts';
import type { AppParts } from '../http/context.ts';
import { givenContent } from '../http/given-content.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import {
  list,
  namedType,
  nullable,
  object,
  oneOf,
  optional,
  request,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import { subject } from '../http/subject.ts';
import { emailWarningSchema } from '../presenters/email-warning.ts';

/** The address must not leak to sites that images are loaded from, and browsers must not keep the page. */
const inert = {
  'Content-Type': 'text/html; charset=utf-8',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
  'Cache-Control': 'no-store',
};

const faultSchema = object({
  part: oneOf('subject', 'body', 'text').description('Part of the email.'),
  line: wholeNumber({ min: 1 }).description('Line, from 1.'),
  column: wholeNumber({ min: 1 }).description('Column, from 1.'),
  message: text().description('What is wrong.'),
});

const renderedEmailSchema = namedType('RenderedEmail', 'An email that was rendered but not sent.', {
  subject: text({ min: 0 }).description('Rendered subject.'),
  html: text({ min: 0 }).description('Rendered HTML body.'),
  text: text({ min: 0 }).description('Rendered plain text body.'),
  size: wholeNumber({ min: 0 }).description('Size of the HTML in bytes.'),
  faults: list(faultSchema).description('Errors in the templates, at most 50.'),
  warnings: list(emailWarningSchema).description('Other problems, such as insecure images.'),
  previewUrl: text().description('URL of a page that shows the HTML in a sandbox; valid for an hour.'),
});

export const previews = ({ renderer }: Pick<AppParts, 'renderer'>): RouteGroup =>
  routes('Templates', [
    route({
      method: 'POST',
      path: '/render',
      heavy: 'render',
      summary: 'Render an email for a contact or with given values, without sending it',
      access: 'secretKey',
      scope: 'templates:read',
      alsoScope: {
        scope: 'contacts:read',
        for: { description: 'a stored contact', body: ({ contactId }) => contactId !== undefined },
      },
      role: 'VIEWER',
      whileDisabled: true,
      body: request('RenderEmailRequest', 'Templates to render, and the values of their variables.', {
        subject: optional(subject().allow('') as ReturnType<typeof subject>).description('Subject, with variables.'),
        ...givenContent({ min: 0 }),
        brandKit: optional(saveBrandKitRequest).description(
          'Brand kit to render `document` with; that of the project by default.',
        ),
        text: optional(text({ min: 0 })).description(
          'Plain text body, with variables; generated from `body` by default.',
        ),
        type: optional(oneOf(...templateTypes)).description(
          'Type of the email; TRANSACTIONAL by default. MARKETING adds an unsubscribe footer.',
        ),
        topicId: optional(nullable(uuid())).description(
          'Topic of the email, which the footer names; NOTIFICATION topics go with TRANSACTIONAL email.',
        ),
        contactId: optional(uuid()).description(
          'ID of the contact to render the email for; a sample contact by default.',
        ),
        data: optional(contactData())
          .description('Values of variables; they take precedence over the custom fields of the contact.')
          .example({ name: 'Ann' }),
        locale: optional(text({ max: 35 }))
          .description('Locale; takes precedence over that of the contact. The language of the project by default.')
          .example('de'),
      }),
      bodyLimit: ({ contentBodyMaxBytes }) => contentBodyMaxBytes,
      answers: {
        200: answer('The rendered email.', renderedEmailSchema),
        404: missing('contact or topic', 'CONTACT_NOT_FOUND'),
      },
      handle: async ({ db, settings, project: { projectId }, body }) => {
        const rendered = await renderPreview({ db, renderer, settings }, projectId, body);
        const previewUrl = await storePreview(db, settings, projectId, rendered.html, body.contactId);
        return ok({ ...rendered, previewUrl });
      },
    }),
    route({
      method: 'GET',
      path: '/previews/:id',
      summary: 'Show a preview in a sandbox',
      access: 'secretKey',
      scope: ['templates:read', 'send:read', 'campaigns:read'],
      projectInQuery: true,
      params: { id: uuid().description('Preview ID.') },
      answers: {
        200: { description: 'The HTML, for an hour after it was rendered.', contentType: 'text/html' },
        404: missing('preview'),
      },
      handle: async ({ db, settings, project, params }): Promise<Answer> => {
        const html = await findPreview(db, project.projectId, params.id);
        const policy = previewPolicy(html, settings.baseUrl);
        return { status: 200, body: html, headers: { ...inert, 'Content-Security-Policy': policy } };
      },
    }),
  ]);
