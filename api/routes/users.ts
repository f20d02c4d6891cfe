import { answer, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { presentUser, userSchema } from '../presenters/user.ts';

export const users = routes('Users', [
  route({
    method: 'GET',
    path: '/users/@me',
    summary: 'The user of the session',
    access: 'session',
    answers: { 200: answer('The user.', userSchema) },
    handle: ({ user }) => ok(presentUser(user)),
  }),
]);
