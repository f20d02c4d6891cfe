import { accountLanguages } from '../../platform/languages.ts';
import { deleteUser } from '../../services/removal/user.ts';
import { listSessions, revokeSession } from '../../services/sessions/sessions.ts';
import { changeLanguage } from '../../services/users/language.ts';
import { changePassword } from '../../services/users/passwords.ts';
import { givenPassword, newPassword } from '../http/account-schemas.ts';
import { type Answer, answer, failure, missing, noContent, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { list, nullable, oneOf, optional, uuid } from '../http/schemas.ts';
import { startedSession, withoutSession } from '../http/session-cookie.ts';
import { presentSession, sessionSchema } from '../presenters/session.ts';
import { presentUser, userSchema } from '../presenters/user.ts';

export const users = routes('Users', [
  route({
    method: 'GET',
    path: '/users/@me',
    summary: 'Get the user of the session',
    access: 'session',
    unverified: true,
    answers: { 200: answer('The user.', userSchema) },
    handle: ({ user }) => ok(presentUser(user)),
  }),
  route({
    method: 'PATCH',
    path: '/users/@me',
    summary: 'Choose the language of the web application and of mail about it; null for that of the browser',
    access: 'session',
    unverified: true,
    body: { language: optional(nullable(oneOf(...accountLanguages))) },
    answers: { 200: answer('The user.', userSchema) },
    handle: async ({ db, user, body: { language } }) =>
      ok(presentUser(language === undefined ? user : await changeLanguage(db, user.id, language))),
  }),
  route({
    method: 'DELETE',
    path: '/users/@me',
    summary: 'Delete the account',
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
    summary: 'List the sessions of the user, the last used first',
    access: 'session',
    unverified: true,
    answers: { 200: answer('The sessions.', list(sessionSchema)) },
    handle: async ({ db, user, session }) =>
      ok((await listSessions(db, user.id)).map((one) => presentSession(one, session.id))),
  }),
  route({
    method: 'DELETE',
    path: '/users/@me/sessions/:id',
    summary: 'End a session of the user',
    access: 'session',
    unverified: true,
    params: { id: uuid() },
    answers: { 204: answer('The session has ended.'), 404: missing('session') },
    handle: async ({ db, user, params, actor }) => {
      await revokeSession(db, user.id, params.id, actor);
      return noContent();
    },
  }),
  route({
    method: 'POST',
    path: '/users/@me/password',
    summary: 'Change the password, end all sessions and start a new one',
    access: 'session',
    unverified: true,
    body: { currentPassword: givenPassword(), newPassword: newPassword() },
    answers: {
      200: answer('The user.', userSchema),
      400: failure('The account has no password.', 'BAD_REQUEST'),
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
