import { findEmail, listEmails } from '../../services/emails/find.ts';
import { resendEmail } from '../../services/emails/resend.ts';
import { answer, failure, missing, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { cursorPage, uuid } from '../http/schemas.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import { emailSchema, presentEmail } from '../presenters/email.ts';

const noEmail = missing('e-mail');

export const emails = routes('Emails', [
  route({
    method: 'GET',
    path: '/emails',
    summary: 'List e-mails, the newest first',
    access: 'secretKey',
    query: cursorPage(),
    answers: { 200: answer('A page of e-mails.', cursorListSchema(emailSchema)) },
    handle: async ({ db, project, settings, query }) =>
      ok(presentCursorList(await listEmails(db, project.projectId, settings.secretKeys, query), presentEmail)),
  }),
  route({
    method: 'GET',
    path: '/emails/:id',
    summary: 'What became of an e-mail',
    access: 'secretKey',
    params: { id: uuid() },
    answers: { 200: answer('The e-mail.', emailSchema), 404: noEmail },
    handle: async ({ db, project, params }) => ok(presentEmail(await findEmail(db, project.projectId, params.id))),
  }),
  route({
    method: 'POST',
    path: '/emails/:id/resend',
    summary: 'Send an e-mail once more that has FAILED, or whose outcome is UNKNOWN',
    access: 'secretKey',
    params: { id: uuid() },
    answers: {
      200: answer('It will be sent again.', emailSchema),
      404: noEmail,
      409: failure('It has neither failed nor an unknown outcome, or its content is gone.', 'CONFLICT'),
    },
    handle: async ({ db, project, params }) => ok(presentEmail(await resendEmail(db, project, params.id))),
  }),
]);
