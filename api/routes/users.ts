import { accountLanguages } from '../../platform/languages.ts';
import { deleteUser } from '../../services/removal/user.ts';
import { listSessions, revokeSession } from '../../services/sessions/sessions.ts';
import { changeLanguage } from '../../services/users/language.ts';
import { changePassword } from '../../services/users/passwords.ts';
import { givenPassword, newPassword } from '../http/account-schemas.ts';
import { type Answer, answer, failure, missing, noContent, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { list, nullable, oneOf, optional, request, uuid } from '../http/schemas.ts';
import { startedSession, withoutSession } from '../http/session-cookie.ts';
import { presentSession, sessionSchema } from '../presenters/session.ts';
import { presentUser, userSchema } from '../presenters/user.ts';

export const users = routes('Users', [
  route({
    method: 'GET',
    path: '/users/@me',
    summary: 'Get the current user',
    access: 'session',
    unverified: true,
    answers: { 200: answer('The user.', userSchema) },
    handle: ({ user }) => ok(presentUser(user)),
  }),
  route({
    method: 'PATCH',
    path: '/users/@me',
    summary: 'Update the current user',
    access: 'session',
    unverified: true,
    body: request('UpdateUserRequest', 'The changes; fields that are left out stay as they are.', {
      language: optional(nullable(oneOf(...accountLanguages))).description(
        'Language of the dashboard and of emails to the user. With null, the dashboard follows the browser and emails are in English.',
      ),
    }),
    answers: { 200: answer('The user.', userSchema) },
    handle: async ({ db, user, body: { language } }) =>
      ok(presentUser(language === undefined ? user : await changeLanguage(db, user.id, language))),
  }),
  route({
    method: 'DELETE',
    path: '/users/@me',
    summary: 'Delete the current user',
    access: 'session',
    confirmed: true,
    unverified: true,
    answers: {
      204: answer('Deleted.'),
      409: failure('The user is the last OWNER of a project.', 'CONFLICT'),
    },
    handle: async ({ db, settings, user, actor }): Promise<Answer> => {
      await deleteUser(db, user, actor);
      return { status: 204, headers: withoutSession(settings) };
    },
  }),
  route({
    method: 'GET',
    path: '/users/@me/sessions',
    summary: 'List your sessions, last used first',
    access: 'session',
    unverified: true,
    answers: { 200: answer('The sessions.', list(sessionSchema)) },
    handle: async ({ db, user, session }) =>
      ok((await listSessions(db, user.id)).map((one) => presentSession(one, session.id))),
  }),
  route({
    method: 'DELETE',
    path: '/users/@me/sessions/:id',
    summary: 'End one of your sessions',
    access: 'session',
    unverified: true,
    params: { id: uuid().description('Session ID.') },
    answers: { 204: answer('The session has ended.'), 404: missing('session') },
    handle: async ({ db, user, params, actor }) => {
      await revokeSession(db, user.id, params.id, actor);
      return noContent();
    },
  }),
  route({
    method: 'POST',
    path: '/users/@me/password',
    summary: 'Change your password, end all sessions and start a new one',
    access: 'session',
    unverified: true,
    body: request('ChangePasswordRequest', 'The current and the new password.', {
      currentPassword: givenPassword().description('Current password.').example('correct horse battery'),
      newPassword: newPassword().description('New password, at least 8 characters.').example('staple battery horse'),
    }),
    answers: {
      200: answer('The user.', userSchema),
      400: failure('The account does not have a password.', 'BAD_REQUEST'),
      401: failure('There is no session, or the current password is wrong.', 'INVALID_CREDENTIALS'),
      429: failure('Too many failed attempts.', 'RATE_LIMIT_EXCEEDED'),
    },
    handle: async (call): Promise<Answer> => {
      const { db, settings, user, session, body, actor } = call;
      const changed = await changePassword(db, settings, user, { ...body, actor });
      const headers = await startedSession(call, changed, { session: { ...session, provenAt: new Date() } });
      return { status: 200, headers, body: presentUser(changed) };
    },
  }),
]);
