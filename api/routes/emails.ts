import { resendEmail } from '../../services/campaigns/resend-email.ts';
import { readMailContent } from '../../services/emails/content.ts';
import { findEmailWithAttempts } from '../../services/emails/find.ts';
import { listEmails } from '../../services/emails/list.ts';
import { storePreview } from '../../services/emails/previews.ts';
import { answer, failure, missing, ok, overBillingLimit } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { rangeQuery } from '../http/range.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { cursorPage, email, flag, oneOf, optional, uuid } from '../http/schemas.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import {
  emailContentSchema,
  emailSchema,
  emailStatuses,
  emailStorySchema,
  presentEmail,
  presentEmailStory,
} from '../presenters/email.ts';

const params = { id: uuid().description('Email ID.') };
const noEmail = missing('email');

export const emails = ({ renderer }: Pick<AppParts, 'renderer'>): RouteGroup =>
  routes('Emails', [
    route({
      method: 'GET',
      path: '/emails',
      summary: 'List emails, newest first',
      access: 'secretKey',
      scope: 'send:read',
      query: {
        ...cursorPage(),
        ...rangeQuery(),
        status: optional(oneOf(...emailStatuses)).description('Only emails with this status.'),
        blocked: optional(flag()).description(
          'Only emails that a policy currently keeps from being sent, or only other emails.',
        ),
        email: optional(email()).description('Only emails to the contact with this email address.'),
        contactId: optional(uuid()).description('Only emails to this contact.'),
        campaignId: optional(uuid()).description('Only emails of this campaign.'),
        templateId: optional(uuid()).description('Only emails with this template.'),
        workflowId: optional(uuid()).description('Only emails of this workflow.'),
      },
      answers: { 200: answer('A page of emails.', cursorListSchema(emailSchema)) },
      handle: async ({ db, project, settings, query }) =>
        ok(presentCursorList(await listEmails(db, project.projectId, settings.secretKeys, query), presentEmail)),
    }),
    route({
      method: 'GET',
      path: '/emails/:id',
      summary: 'Get an email with its delivery attempts',
      access: 'secretKey',
      scope: 'send:read',
      params,
      answers: { 200: answer('The email.', emailStorySchema), 404: noEmail },
      handle: async ({ db, project, params }) =>
        ok(presentEmailStory(await findEmailWithAttempts(db, project.projectId, params.id))),
    }),
    route({
      method: 'GET',
      path: '/emails/:id/content',
      heavy: 'render',
      summary: 'Get the subject, bodies and headers of an email',
      access: 'secretKey',
      scope: 'send:read',
      params,
      answers: {
        200: answer('The content.', emailContentSchema),
        404: noEmail,
        410: failure('The content is no longer stored.', 'RESOURCE_NOT_FOUND'),
      },
      handle: async ({ db, project: { projectId }, settings, params }) => {
        const { contactId, ...content } = await readMailContent({ db, renderer, settings }, projectId, params.id);
        return ok({ ...content, previewUrl: await storePreview(db, settings, projectId, content.html, contactId) });
      },
    }),
    route({
      method: 'POST',
      path: '/emails/:id/resend',
      summary: 'Resend an email that is FAILED or UNKNOWN',
      access: 'secretKey',
      scope: 'send:write',
      params,
      answers: {
        200: answer('The email, which will be sent again.', emailSchema),
        402: overBillingLimit,
        404: noEmail,
        409: failure('The email is neither FAILED nor UNKNOWN, or its content is no longer stored.', 'CONFLICT'),
      },
      handle: async ({ db, project, params }) => ok(presentEmail(await resendEmail(db, project, params.id))),
    }),
  ]);
