import { ApiError } from '../../platform/errors.ts';
import { oauthProviders } from '../../platform/integrations/oauth.ts';
import { roleInText } from '../../platform/names.ts';
import { findLook } from '../../services/mail-documents/brand-kit.ts';
import { acceptInvitation, findInvitation, type OpenInvitation } from '../../services/members/accept.ts';
import { resetPassword } from '../../services/users/passwords.ts';
import { logIn } from '../../services/users/sign-in.ts';
import { findToken } from '../../services/users/tokens.ts';
import { findVerification, verifyEmail } from '../../services/users/verification.ts';
import type { AccountForm } from '../../web/pages.ts';
import { newPassword } from '../http/account-schemas.ts';
import { type Answer, failure, page } from '../http/answers.ts';
import { type HandlerContext, route, routes } from '../http/route.ts';
import { optional, request, text } from '../http/schemas.ts';
import { sessionCookie, sessionToken, signInClient, startedSession } from '../http/session-cookie.ts';
import { presentNotice, presentPageForm, presentUselessLink } from '../presenters/account-page.ts';

// The pages behind links in system mail. GET changes nothing, since mail scanners follow every link.

interface PageCall extends HandlerContext {
  params: { token: string };
  body?: { password?: string | undefined; newPassword?: string | undefined; code?: string | undefined } | undefined;
}

/** Why the form is shown again. */
interface FormError {
  text: string;
  status: number;
  headers?: Record<string, string>;
}

interface LinkPage {
  path: string;
  /** Whether its form may ask for the password of the account. */
  logsIn: boolean;
  show(call: PageCall, formError?: FormError): Promise<Answer>;
  act(call: PageCall): Promise<Answer>;
}

const TOO_SHORT: FormError = { text: 'The password must have at least 8 characters.', status: 422 };
const NEW_PASSWORD = 'Choose a password, at least 8 characters';

const form = (page: Omit<Parameters<typeof presentPageForm>[0], 'formError'>, formError?: FormError): Answer => {
  if (!formError) return presentPageForm(page);
  const answer = presentPageForm({ ...page, formError: formError.text }, formError.status);
  return { ...answer, headers: { ...answer.headers, ...formError.headers } };
};

const verification: LinkPage = {
  path: '/verify-email/:token',
  logsIn: true,
  async show({ db, params, request }, formError) {
    const { email, ownSession } = await findVerification(db, params.token, sessionToken(request.headers));
    if (ownSession)
      return form(
        { title: 'Verify your address', text: `This verifies ${email}.`, forms: [{ button: 'Verify' }] },
        formError,
      );
    return form(
      {
        title: 'Verify your address',
        text: `To verify ${email}, enter the password of the account. If you do not know it, or did not sign up yourself, choose a new one. This ends all sessions.`,
        forms: [
          { button: 'Verify', fields: [{ name: 'password', label: 'Password', isNew: false }] },
          { button: 'Verify with a new password', fields: [{ name: 'newPassword', label: NEW_PASSWORD, isNew: true }] },
        ],
      },
      formError,
    );
  },
  async act(call) {
    const { db, settings, params, body, request } = call;
    const { password, newPassword: chosen } = body ?? {};
    await findVerification(db, params.token, undefined);
    if (chosen !== undefined && !isGood(chosen)) return verification.show(call, TOO_SHORT);
    const proof = { token: params.token, password, newPassword: chosen, actor: call.actor };
    const session = sessionToken(request.headers);
    const { user, passwordCleared } = await verifyEmail(db, settings, { ...proof, session });
    const next = passwordCleared
      ? ' The account no longer has a password. Request a password reset to set one.'
      : chosen === undefined
        ? ''
        : ' You can log in with the new password now.';
    return presentNotice('Thank you', `The address ${user.email} is verified.${next}`);
  },
};

const reset: LinkPage = {
  path: '/reset-password/:token',
  logsIn: false,
  async show({ db, params }, formError) {
    await findToken(db, 'RESET_PASSWORD', params.token);
    return form(
      {
        title: 'Choose a new password',
        text: 'This ends all sessions.',
        forms: [
          {
            button: 'Set the password',
            fields: [{ name: 'password', label: 'New password, at least 8 characters', isNew: true }],
          },
        ],
      },
      formError,
    );
  },
  async act(call) {
    const { db, settings, params, body } = call;
    await findToken(db, 'RESET_PASSWORD', params.token);
    if (!isGood(body?.password)) return reset.show(call, TOO_SHORT);
    await resetPassword(db, settings, params.token, body?.password ?? '', call.actor);
    return presentNotice('Your password is set', 'You can log in with it now.');
  },
};

const invitation: LinkPage = {
  path: '/invitations/:token',
  logsIn: true,
  async show({ db, settings, params, request }, formError) {
    const found = await findInvitation(db, params.token, sessionToken(request.headers));
    const { projectId, projectName, email, role, needs } = found;
    const loginNote = ` This address has an account: log in as ${email} to accept.`;
    return form(
      {
        title: `Join the project ${projectName}?`,
        text: `The invitation is for ${email}, with the role ${roleInText(role)}.${needs === 'session' ? loginNote : ''}`,
        ...waysToAccept(found, settings),
        brand: await findLook(db, projectId),
      },
      formError,
    );
  },
  async act(call) {
    const { db, settings, params, body, request } = call;
    const { needs, projectName, email, hasPassword } = await findInvitation(
      db,
      params.token,
      sessionToken(request.headers),
    );
    if (needs === 'password' && !isGood(body?.password)) return invitation.show(call, TOO_SHORT);
    const client = signInClient(call);
    const started =
      needs === 'session' && hasPassword && body?.password
        ? await logIn(db, settings.secretKeys, { email, password: body.password, code: body.code || undefined }, client)
        : undefined;
    const token = started ? `${client.boundTo ?? ''}${started.token}` : sessionToken(request.headers);
    const given = { token: params.token, password: body?.password };
    const { user, session } = await acceptInvitation(db, given, token, call.actor);
    const answer = presentNotice('Welcome', `You are now a member of the project ${projectName}.`);
    const cookie = started
      ? { 'Set-Cookie': sessionCookie(settings, started.token) }
      : await startedSession(call, user, { session });
    return { ...answer, headers: { ...answer.headers, ...cookie } };
  },
};

function waysToAccept(
  { needs, hasPassword, hasTwoFactor, providers }: OpenInvitation,
  { oauth, baseUrl }: PageCall['settings'],
): Pick<Parameters<typeof presentPageForm>[0], 'forms' | 'links'> {
  const button = 'Accept the invitation';
  if (needs === 'nothing') return { forms: [{ button }] };
  if (needs === 'password')
    return { forms: [{ button, fields: [{ name: 'password', label: NEW_PASSWORD, isNew: true }] }] };
  const login: AccountForm = {
    button: 'Log in and accept',
    fields: [
      { name: 'password', label: 'Password', isNew: false },
      ...(hasTwoFactor ? [{ name: 'code' as const, label: 'Code from your authenticator app or recovery code' }] : []),
    ],
  };
  const available = oauthProviders.filter((name) => oauth[name] && providers.includes(name));
  return {
    forms: hasPassword ? [login] : [],
    links: available.map((name) => ({
      href: `${baseUrl}/auth/oauth/${name}`,
      text: `Log in with ${{ github: 'GitHub', google: 'Google', oidc: 'single sign-on' }[name]}, then open the link in the email again`,
    })),
  };
}

const isGood = (password: string | undefined): boolean => newPassword().validate(password).error === undefined;

/** Shows a page for invalid tokens, and the form again when a login is required or throttled. */
const withErrorPage =
  (work: (call: PageCall) => Promise<Answer>, show?: LinkPage['show']) =>
  async (call: PageCall): Promise<Answer> => {
    try {
      return await work(call);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 400) return presentUselessLink();
      if (!show || ![401, 429].includes(error.status)) throw error;
      const formError = { text: error.message, status: error.status, headers: error.extras.headers ?? {} };
      return withErrorPage((again) => show(again, formError))(call);
    }
  };

const answers = {
  200: page('The page.'),
  400: page('The token was used before, has expired or is invalid.'),
};

const formAnswers = {
  ...answers,
  403: failure('The form was sent from another site.', 'FORBIDDEN'),
  422: page('The password is too short. The page says so.'),
};

const loginAnswers = {
  401: page('The password is wrong, or there is no session of the account. The page says so.'),
  429: page('Too many failed attempts.'),
};

/** These forms may start a session: another site must not log the browser in to an account of its choice. */
function refuseForeignForm({ settings, request: { headers } }: PageCall): void {
  if (headers.origin !== undefined && !settings.corsOrigins.includes(headers.origin))
    throw new ApiError(403, 'FORBIDDEN', 'This form may not be sent from another site.', {
      suggestion: 'Open the link in the email, and use the form on its page.',
    });
}

/** The field as typed, possibly empty. */
const typed = () => text({ min: 0, max: 1_000 });

const params = { token: text().description('Token from the email.') };

const submittedForm = request('SubmitAccountFormRequest', 'The form of a page behind a link in an account email.', {
  password: optional(typed()).description(
    'Password of the account. On the reset page, and for invited users without an account, the password to set.',
  ),
  newPassword: optional(typed()).description('New password, at least 8 characters. Verification page only.'),
  code: optional(text({ min: 0, max: 50 })).description(
    'Code of the authenticator app, or a recovery code. Invitation page only.',
  ),
});

const linkRoutes = ({ path, logsIn, show, act }: LinkPage, [showSummary, actSummary]: [string, string]) => [
  route({
    method: 'GET',
    path,
    summary: showSummary,
    access: 'public',
    params,
    answers,
    handle: withErrorPage((call) => show(call)),
  }),
  route({
    method: 'POST',
    path,
    summary: actSummary,
    access: 'public',
    params,
    bodyKind: 'form',
    body: submittedForm,
    answers: logsIn ? { ...formAnswers, ...loginAnswers } : formAnswers,
    handle: (call) => {
      refuseForeignForm(call);
      return withErrorPage(act, show)(call);
    },
  }),
];

export const accountPages = routes('Pages', [
  ...linkRoutes(verification, ['Show the page of a verification link', 'Verify the email address']),
  ...linkRoutes(reset, ['Show the page of a password reset link', 'Set a new password']),
  ...linkRoutes(invitation, ['Show the page of an invitation link', 'Accept the invitation']),
]);
