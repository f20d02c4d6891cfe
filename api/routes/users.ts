import { deleteUser } from '../../services/removal/user.ts';
import { changePassword } from '../../services/users/passwords.ts';
import { givenPassword, newPassword } from '../http/account-schemas.ts';
import { type Answer, answer, failure, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { startSession, withoutSession } from '../http/session-cookie.ts';
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
    method: 'DELETE',
    path: '/users/@me',
    summary: 'Delete the account',
    access: 'session',
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
    handle: async ({ db, settings, user, body, actor }): Promise<Answer> => {
      const changed = await changePassword(db, settings, user, { ...body, actor });
      const { headers } = await startSession(db, changed, settings);
      return { status: 200, headers, body: presentUser(changed) };
    },
  }),
]);
