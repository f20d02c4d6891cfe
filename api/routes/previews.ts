import { findPreview, PREVIEW_POLICY, storePreview } from '../../services/emails/previews.ts';
import { renderPreview } from '../../services/templates/render.ts';
import { templateTypes } from '../../services/templates/save.ts';
import { type Answer, answer, missing, ok } from '../http/answers.ts';
import { contactData } from '../http/contact-data.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { list, object, oneOf, optional, text, uuid, wholeNumber } from '../http/schemas.ts';
import { subject } from '../http/subject.ts';

/** The address must not leak to sites that images are loaded from, and browsers must not keep the page. */
const inert = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': PREVIEW_POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
  'Cache-Control': 'no-store',
};

export const previews = ({ renderer }: Pick<AppParts, 'renderer'>): RouteGroup =>
  routes('Templates', [
    route({
      method: 'POST',
      path: '/render',
      heavy: 'render',
      summary: 'Render a mail as a contact or with given values; nothing is sent',
      access: 'secretKey',
      scope: 'templates:read',
      alsoScope: {
        scope: 'contacts:read',
        for: { description: 'a stored contact', body: ({ contactId }) => contactId !== undefined },
      },
      role: 'VIEWER',
      whileDisabled: true,
      body: {
        subject: optional(subject().allow('') as ReturnType<typeof subject>),
        body: text({ min: 0 }),
        text: optional(text({ min: 0 })),
        type: optional(oneOf(...templateTypes)),
        contactId: optional(uuid()),
        data: optional(contactData()),
        locale: optional(text({ max: 35 })),
      },
      bodyLimit: ({ contentBodyMaxBytes }) => contentBodyMaxBytes,
      answers: {
        200: answer(
          'The mail. `faults` are errors in the template, `warnings` what else may go wrong.',
          object({
            subject: text({ min: 0 }),
            html: text({ min: 0 }),
            text: text({ min: 0 }),
            size: wholeNumber({ min: 0 }),
            faults: list(
              object({
                part: oneOf('subject', 'body', 'text'),
                line: wholeNumber({ min: 1 }),
                column: wholeNumber({ min: 1 }),
                message: text(),
              }),
            ),
            warnings: list(object({ code: text(), message: text() })),
            previewUrl: text(),
          }),
        ),
        404: missing('contact', 'CONTACT_NOT_FOUND'),
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
      summary: 'Show rendered HTML in a sandbox, for an hour',
      access: 'secretKey',
      scope: ['templates:read', 'send:read'],
      projectInQuery: true,
      params: { id: uuid() },
      answers: { 200: { description: 'The HTML.', contentType: 'text/html' }, 404: missing('preview') },
      handle: async ({ db, project, params }): Promise<Answer> => ({
        status: 200,
        body: await findPreview(db, project.projectId, params.id),
        headers: inert,
      }),
    }),
  ]);
