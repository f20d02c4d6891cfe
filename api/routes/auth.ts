import joi from 'joi';
import type { User } from '../../db/models/user.ts';
import { validationError } from '../../platform/errors.ts';
import { oauthProviders } from '../../platform/integrations/oauth.ts';
import { acceptInvitation } from '../../services/members/accept.ts';
import { endSession, findSessionUser } from '../../services/sessions/sessions.ts';
import { resetPassword } from '../../services/users/passwords.ts';
import { type RequestPurpose, requestMail } from '../../services/users/requests.ts';
import { confirmSession, logIn } from '../../services/users/sign-in.ts';
import { signUp } from '../../services/users/sign-up.ts';
import { verifyEmail } from '../../services/users/verification.ts';
import { givenCode, givenPassword, givenToken, newPassword, userEmail } from '../http/account-schemas.ts';
import { type Answer, answer, failure, success } from '../http/answers.ts';
import { type HandlerContext, route, routes } from '../http/route.ts';
import { dateTime, email, flag, list, object, oneOf, optional, text, uuid } from '../http/schemas.ts';
import {
  sessionCookie,
  sessionToken,
  sessionTokens,
  signInClient,
  startedSession,
  withoutSession,
} from '../http/session-cookie.ts';
import type { Typed } from '../http/typed.ts';
import { CONFIRMED_MS } from '../middleware/access.ts';

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

const signedIn = (headers: { 'Set-Cookie': string }, { id, email }: User, status = 200): Answer => ({
  status,
  headers,
  body: { success: true, data: { id, email } },
});

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

const passwordOrCode = () => ({
  password: optional(givenPassword()).when('code', { is: joi.exist(), otherwise: joi.required() }) as Typed<
    string | undefined
  >,
  code: optional(givenCode()),
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
      if (!address)
        throw validationError([{ field: 'email', message: '"email" is required without a session', code: 'required' }]);
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
      const user = await signUp(db, settings, { ...body, ip: request.ip });
      return signedIn(await startedSession(call, user), user, 201);
    },
  }),
  route({
    method: 'POST',
    path: '/auth/login',
    summary: 'Log in',
    access: 'public',
    body: { email: email(), password: givenPassword(), code: optional(givenCode()) },
    answers: {
      200: userAnswer('The user.'),
      401: failure(
        'The address, the password or the code is wrong; with `details.totpRequired`, a code is needed.',
        'INVALID_CREDENTIALS',
      ),
      429: throttled('failed attempts'),
    },
    handle: async (call) => {
      const { db, settings, body } = call;
      const { user, token } = await logIn(db, settings.secretKeys, body, signInClient(call));
      return signedIn({ 'Set-Cookie': sessionCookie(settings, token) }, user);
    },
  }),
  route({
    method: 'POST',
    path: '/auth/confirm',
    summary: 'Prove again who you are, for acts that need a proof of the last 15 minutes',
    access: 'session',
    unverified: true,
    body: passwordOrCode(),
    answers: {
      200: answer('The session is confirmed.', wrapped({ confirmedUntil: dateTime() })),
      400: failure('The account has no two-factor authentication.', 'BAD_REQUEST'),
      401: failure('There is no session, or the password or the code is wrong.', 'INVALID_CREDENTIALS'),
      429: throttled('failed attempts'),
    },
    handle: async ({ db, settings, user, session, body, actor }) => {
      await confirmSession(db, settings.secretKeys, { user, session }, { ...body, actor });
      return success({ confirmedUntil: new Date(Date.now() + CONFIRMED_MS).toISOString() });
    },
  }),
  route({
    method: 'GET',
    path: '/auth/logout',
    summary: 'End the session',
    access: 'public',
    changesState: true,
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
    worksWithoutDatabase: true,
    answers: {
      200: answer(
        'The providers.',
        wrapped({ providers: list(oneOf(...oauthProviders)), github: flag(), google: flag(), oidc: flag() }),
      ),
    },
    handle: ({ settings: { oauth } }): Answer => {
      const providers = oauthProviders.filter((name) => oauth[name] !== undefined);
      const flags = Object.fromEntries(oauthProviders.map((name) => [name, providers.includes(name)]));
      return success({ providers, ...flags });
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
      const { user, projectId, session } = await acceptInvitation(db, body, sessionToken(request.headers), actor);
      const headers = await startedSession(call, user, { session });
      return { status: 200, headers, body: { success: true, data: { id: user.id, email: user.email, projectId } } };
    },
  }),
]);
