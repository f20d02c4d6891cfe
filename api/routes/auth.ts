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
import {
  accountRequest,
  givenCode,
  givenPassword,
  givenToken,
  newPassword,
  userEmail,
} from '../http/account-schemas.ts';
import { type Answer, answer, failure, success } from '../http/answers.ts';
import { type HandlerContext, route, routes } from '../http/route.ts';
import {
  dateTime,
  email,
  flag,
  list,
  namedType,
  object,
  oneOf,
  optional,
  request,
  text,
  uuid,
} from '../http/schemas.ts';
import {
  sessionCookie,
  sessionToken,
  sessionTokens,
  signInClient,
  startedSession,
  withoutSession,
} from '../http/session-cookie.ts';
import type { Shape, Typed } from '../http/typed.ts';
import { CONFIRMED_MS } from '../middleware/access.ts';

/** A response in the envelope. */
const response = (name: string, description: string, data: Shape, dataDescription = description) =>
  namedType(name, description, {
    success: flag().description('Always true.'),
    data: object(data).description(dataDescription),
  });

const userFields = {
  id: uuid().description('User ID.'),
  email: email().description('Email address of the user.'),
};
const userResponse = response('UserResponse', 'The user.', userFields);
const messageAnswer = answer(
  'The request was accepted.',
  response('MessageResponse', 'What the request did.', {
    message: text().description('Text to show to the user.').example('You are logged out.'),
  }),
);
const invalidToken = failure('The token was used before, has expired or is invalid.', 'BAD_REQUEST');

const throttled = (what: string) =>
  failure(`Too many ${what} for this address or from this IP address.`, 'RATE_LIMIT_EXCEEDED');

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

const eitherPassword = () => ({
  newPassword: (
    optional(newPassword()).when('password', { is: joi.exist(), otherwise: joi.required() }) as Typed<
      string | undefined
    >
  ).description('New password, at least 8 characters.'),
  password: optional(newPassword()).description('Alias of `newPassword`.'),
});

const passwordOrCode = () => ({
  password: (
    optional(givenPassword()).when('code', { is: joi.exist(), otherwise: joi.required() }) as Typed<string | undefined>
  ).description('Password of the account. Required without `code`, and takes precedence over it.'),
  code: optional(givenCode()).description(
    'Code of the authenticator app, or a recovery code. Accounts with two-factor authentication only.',
  ),
});

const requestMailRoute = (path: string, purpose: RequestPurpose, summary: string) =>
  route({
    method: 'POST',
    path,
    summary,
    access: 'public',
    body: accountRequest,
    answers: { 200: messageAnswer, 429: throttled('requests') },
    handle: async ({ db, body, request }) => {
      const token = body.email === undefined ? sessionToken(request.headers) : undefined;
      const address = body.email ?? (token && (await findSessionUser(db, token))?.email);
      if (!address)
        throw validationError([{ field: 'email', message: '"email" is required without a session', code: 'required' }]);
      await requestMail(db, purpose, address, request.ip);
      return messageOf('If the account exists, an email is on its way.');
    },
  });

export const auth = routes('Authentication', [
  route({
    method: 'POST',
    path: '/auth/signup',
    summary: 'Create an account and start a session',
    access: 'public',
    body: request('SignUpRequest', 'The account to create.', {
      email: userEmail().description('Email address.'),
      password: newPassword().description('Password, at least 8 characters.'),
    }),
    answers: {
      201: answer('The new user.', userResponse),
      401: failure('The owner of the address has since secured the account.', 'INVALID_CREDENTIALS'),
      403: failure('Sign-up is turned off.', 'FORBIDDEN'),
      409: failure('An account with this address exists.', 'CONFLICT'),
      429: failure(
        'Too many failed attempts for this address, or too many accounts created from this IP address.',
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
    body: request('LogInRequest', 'Credentials of the user.', {
      email: email().description('Email address.'),
      password: givenPassword().description('Password.'),
      code: optional(givenCode()).description(
        'Code of the authenticator app, or a recovery code. Required if two-factor authentication is on.',
      ),
    }),
    answers: {
      200: answer('The user.', userResponse),
      401: failure(
        'The address, password or code is wrong. If `details.totpRequired` is set, a code is required.',
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
    summary: 'Confirm your identity for 15 minutes, as sensitive actions require',
    access: 'session',
    unverified: true,
    body: request('ConfirmSessionRequest', 'A password or a code.', passwordOrCode()),
    answers: {
      200: answer(
        'The session is confirmed.',
        response('ConfirmSessionResponse', 'The confirmation.', {
          confirmedUntil: dateTime().description('When the confirmation expires, 15 minutes from now.'),
        }),
      ),
      400: failure('The account does not have two-factor authentication.', 'BAD_REQUEST'),
      401: failure('There is no session, or the password or code is wrong.', 'INVALID_CREDENTIALS'),
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
    summary: 'Log out',
    access: 'public',
    changesState: true,
    answers: { 200: messageAnswer },
    handle: async (call) => messageOf('You are logged out.', await logOut(call)),
  }),
  route({
    method: 'POST',
    path: '/auth/logout',
    summary: 'Log out, as GET does',
    access: 'public',
    answers: {
      200: answer(
        'The session has ended.',
        response('LogOutResponse', 'Confirms that the session has ended.', {}, 'Always empty.'),
      ),
    },
    handle: async (call): Promise<Answer> => ({
      status: 200,
      headers: await logOut(call),
      body: { success: true, data: {} },
    }),
  }),
  route({
    method: 'GET',
    path: '/auth/oauth-config',
    summary: 'List the configured OAuth providers',
    access: 'public',
    worksWithoutDatabase: true,
    answers: {
      200: answer(
        'The providers.',
        response('OAuthConfigResponse', 'OAuth providers that users can sign in with.', {
          providers: list(oneOf(...oauthProviders)).description('Configured providers.'),
          github: flag().description('Whether users can sign in with GitHub.'),
          google: flag().description('Whether users can sign in with Google.'),
          oidc: flag().description('Whether users can sign in with an OpenID Connect provider.'),
        }),
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
    summary: 'Verify an email address with an emailed token',
    access: 'public',
    body: request('VerifyAccountEmailRequest', 'A verification token, and proof that the account is yours.', {
      token: givenToken().description('Token from the verification email, valid for 72 hours.'),
      password: optional(givenPassword()).description('Current password; not needed with a session of the account.'),
      newPassword: optional(newPassword()).description(
        'New password, at least 8 characters; ends all sessions. Without a session of the account, `password` or `newPassword`, the current password is cleared and all sessions end.',
      ),
    }),
    answers: {
      200: answer(
        'The verified user.',
        response('VerifyAccountEmailResponse', 'The verified user.', {
          ...userFields,
          passwordCleared: optional(flag()).description('Set if the account no longer has a password.'),
        }),
      ),
      400: invalidToken,
      401: failure('The password is wrong. The token stays valid.', 'INVALID_CREDENTIALS'),
      429: throttled('failed attempts'),
    },
    handle: async ({ db, settings, body, request, actor }): Promise<Answer> => {
      const proof = { ...body, session: sessionToken(request.headers), actor };
      const { user, passwordCleared } = await verifyEmail(db, settings, proof);
      return success({ id: user.id, email: user.email, ...(passwordCleared && { passwordCleared }) });
    },
  }),
  requestMailRoute('/auth/request-verification', 'VERIFY_EMAIL', 'Request another verification email'),
  requestMailRoute('/auth/request-password-reset', 'RESET_PASSWORD', 'Request a password reset email'),
  route({
    method: 'POST',
    path: '/auth/reset-password',
    summary: 'Set a new password with an emailed token, and end all sessions',
    access: 'public',
    body: request('ResetPasswordRequest', 'A reset token and the new password.', {
      token: givenToken().description('Token from the password reset email, valid for 1 hour.'),
      ...eitherPassword(),
    }),
    answers: { 200: answer('The user.', userResponse), 400: invalidToken },
    handle: async ({ db, settings, body, actor }): Promise<Answer> => {
      const user = await resetPassword(db, settings, body.token, body.newPassword ?? body.password ?? '', actor);
      return { status: 200, body: { success: true, data: { id: user.id, email: user.email } } };
    },
  }),
  route({
    method: 'POST',
    path: '/auth/accept-invitation',
    summary: 'Accept an invitation to a project',
    access: 'public',
    body: request('AcceptInvitationRequest', 'An invitation token, and a password for a new account.', {
      token: givenToken().description('Token from the invitation email, valid for 7 days.'),
      password: optional(newPassword()).description(
        'Password of the new account, at least 8 characters. Required if the user cannot sign in yet, ignored otherwise.',
      ),
    }),
    answers: {
      200: answer(
        'The user and the project.',
        response('AcceptInvitationResponse', 'The user and the project.', {
          ...userFields,
          projectId: uuid().description('ID of the project that the user joined.'),
        }),
      ),
      400: invalidToken,
      401: failure('The invited address has an account, but the request has no session of it.', 'UNAUTHORIZED'),
    },
    handle: async (call) => {
      const { db, body, request, actor } = call;
      const { user, projectId, session } = await acceptInvitation(db, body, sessionToken(request.headers), actor);
      const headers = await startedSession(call, user, { session });
      return { status: 200, headers, body: { success: true, data: { id: user.id, email: user.email, projectId } } };
    },
  }),
]);
