import joi from 'joi';
import type { User } from '../../db/models/user.ts';
import { badRequest } from '../../platform/errors.ts';
import { acceptInvitation } from '../../services/members/accept.ts';
import { endSession, findSessionUser } from '../../services/sessions/sessions.ts';
import { logIn, resetPassword } from '../../services/users/passwords.ts';
import { type RequestPurpose, requestMail } from '../../services/users/requests.ts';
import { signUp } from '../../services/users/sign-up.ts';
import { verifyEmail } from '../../services/users/verification.ts';
import { givenPassword, givenToken, newPassword, userEmail } from '../http/account-schemas.ts';
import { type Answer, answer, failure, success } from '../http/answers.ts';
import { type HandlerContext, route, routes } from '../http/route.ts';
import { email, flag, list, object, oneOf, optional, text, uuid } from '../http/schemas.ts';
import { sessionToken, sessionTokens, startSession, withoutSession } from '../http/session-cookie.ts';
import type { Typed } from '../http/typed.ts';

const wrapped = (schema: Parameters<typeof object>[0]) => object({ success: flag(), data: object(schema) });
const userAnswer = (description: string) => answer(description, wrapped({ id: uuid(), email: email() }));
const messageAnswer = answer('The request is done or queued.', wrapped({ message: text() }));
const invalidToken = failure('The token is used, expired or invalid.', 'BAD_REQUEST');

const throttled = (what: string) =>
  failure(`Too many ${what} for this address, or from this IP.`, 'RATE_LIMIT_EXCEEDED');

const messageOf = (message: string, headers?: Answer['headers']): Answer => ({
  status: 200,
  body: { success: true, data: { message } },
  ...(headers && { headers }),
});

/** Responds with the user and a new session. */
export async function signedIn({ db, settings, actor }: HandlerContext, user: User, status = 200): Promise<Answer> {
  const { headers } = await startSession(db, user, settings, actor);
  return { status, headers, body: { success: true, data: { id: user.id, email: user.email } } };
}

/** Ends every session of the request. Returns the headers that clear its cookies. */
async function logOut({ db, settings, request }: HandlerContext): Promise<Answer['headers']> {
  for (const token of sessionTokens(request.headers)) await endSession(db, token);
  return withoutSession(settings);
}

/** `password` is an alias of `newPassword`. */
const eitherPassword = () => ({
  newPassword: optional(newPassword()).when('password', { is: joi.exist(), otherwise: joi.required() }) as Typed<
    string | undefined
  >,
  password: optional(newPassword()),
});

const requestMailRoute = (path: string, purpose: RequestPurpose, summary: string) =>
  route({
    method: 'POST',
    path,
    summary,
    access: 'public',
    body: { email: optional(email()) },
    answers: { 200: messageAnswer, 429: throttled('requests') },
    handle: async ({ db, body, request }) => {
      const token = body.email === undefined ? sessionToken(request.headers) : undefined;
      const address = body.email ?? (token && (await findSessionUser(db, token))?.email);
      if (!address) throw badRequest('Say by "email" which address it is about.');
      await requestMail(db, purpose, address, request.ip);
      return messageOf('If there is an account that this is about, a mail is on its way to it.');
    },
  });

export const auth = routes('Authentication', [
  route({
    method: 'POST',
    path: '/auth/signup',
    summary: 'Open an account and start a session',
    access: 'public',
    body: { email: userEmail(), password: newPassword() },
    answers: {
      201: userAnswer('The new user.'),
      401: failure('The owner of the address has secured the account meanwhile.', 'INVALID_CREDENTIALS'),
      403: failure('Signing up is turned off here.', 'FORBIDDEN'),
      409: failure('There is an account with this address.', 'CONFLICT'),
      429: failure(
        'Too many failed attempts for this address, or too many accounts opened from this IP.',
        'RATE_LIMIT_EXCEEDED',
      ),
    },
    handle: async (call) => {
      const { db, settings, body, request } = call;
      return signedIn(call, await signUp(db, settings, { ...body, ip: request.ip }), 201);
    },
  }),
  route({
    method: 'POST',
    path: '/auth/login',
    summary: 'Log in',
    access: 'public',
    body: { email: email(), password: givenPassword() },
    answers: {
      200: userAnswer('The user.'),
      401: failure('The address or the password is wrong.', 'INVALID_CREDENTIALS'),
      429: throttled('failed attempts'),
    },
    handle: async (call) => {
      const { db, body, actor } = call;
      return signedIn(call, await logIn(db, body.email, body.password, actor));
    },
  }),
  route({
    method: 'GET',
    path: '/auth/logout',
    summary: 'End the session',
    access: 'public',
    answers: { 200: messageAnswer },
    handle: async (call) => messageOf('You are logged out.', await logOut(call)),
  }),
  route({
    method: 'POST',
    path: '/auth/logout',
    summary: 'End the session, as GET does',
    access: 'public',
    answers: { 200: answer('The session has ended.', wrapped({})) },
    handle: async (call): Promise<Answer> => ({
      status: 200,
      headers: await logOut(call),
      body: { success: true, data: {} },
    }),
  }),
  route({
    method: 'GET',
    path: '/auth/oauth-config',
    summary: 'List the OAuth providers that are set up',
    access: 'public',
    answers: {
      200: answer(
        'The providers.',
        wrapped({ providers: list(oneOf('github', 'google')), github: flag(), google: flag() }),
      ),
    },
    handle: ({ settings: { oauth } }): Answer => {
      const [github, google] = [oauth.github !== undefined, oauth.google !== undefined];
      const providers = [...(github ? ['github'] : []), ...(google ? ['google'] : [])];
      return { status: 200, body: { success: true, data: { providers, github, google } } };
    },
  }),
  route({
    method: 'POST',
    path: '/auth/verify-email',
    summary:
      'Verify an address with the token from the mail; without a session or the password of the account, its password is replaced or cleared and all sessions end',
    access: 'public',
    body: { token: givenToken(), password: optional(givenPassword()), newPassword: optional(newPassword()) },
    answers: {
      200: answer(
        'The user; `passwordCleared` when the account has no password any more.',
        wrapped({ id: uuid(), email: email(), passwordCleared: optional(flag()) }),
      ),
      400: invalidToken,
      401: failure('The password is wrong; the token stays valid.', 'INVALID_CREDENTIALS'),
      429: throttled('failed attempts'),
    },
    handle: async ({ db, settings, body, request, actor }): Promise<Answer> => {
      const proof = { ...body, session: sessionToken(request.headers), actor };
      const { user, passwordCleared } = await verifyEmail(db, settings, proof);
      return success({ id: user.id, email: user.email, ...(passwordCleared && { passwordCleared }) });
    },
  }),
  requestMailRoute('/auth/request-verification', 'VERIFY_EMAIL', 'Request another verification mail'),
  requestMailRoute('/auth/request-password-reset', 'RESET_PASSWORD', 'Request a password reset mail'),
  route({
    method: 'POST',
    path: '/auth/reset-password',
    summary: 'Set a new password with the token from the mail; all sessions end',
    access: 'public',
    body: { token: givenToken(), ...eitherPassword() },
    answers: { 200: userAnswer('The user.'), 400: invalidToken },
    handle: async ({ db, settings, body, actor }): Promise<Answer> => {
      const user = await resetPassword(db, settings, body.token, body.newPassword ?? body.password ?? '', actor);
      return { status: 200, body: { success: true, data: { id: user.id, email: user.email } } };
    },
  }),
  route({
    method: 'POST',
    path: '/auth/accept-invitation',
    summary:
      'Join a project with the token from the mail; an existing account needs a session, a new one a first password',
    access: 'public',
    body: { token: givenToken(), password: optional(newPassword()) },
    answers: {
      200: answer('The user, and the project.', wrapped({ id: uuid(), email: email(), projectId: uuid() })),
      400: invalidToken,
      401: failure('The invited address has an account, and the request no session of it.', 'UNAUTHORIZED'),
    },
    handle: async (call) => {
      const { db, body, request, actor } = call;
      const { user, projectId } = await acceptInvitation(db, body, sessionToken(request.headers), actor);
      const { headers = {} } = await signedIn(call, user);
      return { status: 200, headers, body: { success: true, data: { id: user.id, email: user.email, projectId } } };
    },
  }),
]);
