import { ApiError } from '../../platform/errors.ts';
import { acceptInvitation, findInvitation } from '../../services/members/accept.ts';
import { resetPassword } from '../../services/users/passwords.ts';
import { verifyEmail } from '../../services/users/sign-up.ts';
import { findToken } from '../../services/users/tokens.ts';
import { newPassword } from '../http/account-schemas.ts';
import { type Answer, page } from '../http/answers.ts';
import { route, routes, type Surroundings } from '../http/route.ts';
import { optional, text } from '../http/schemas.ts';
import { sessionToken, startSession } from '../http/session-cookie.ts';
import { presentForm, presentNotice, presentUselessLink } from '../presenters/account-page.ts';

// Where the links in our own mails lead. Looking changes nothing: programs that look after mail follow every link.

interface PageCall extends Surroundings {
  params: { token: string };
  body?: { password?: string | undefined } | undefined;
}

interface LinkPage {
  path: string;
  show(call: PageCall): Promise<Answer>;
  act(call: PageCall): Promise<Answer>;
}

const TOO_SHORT = 'A password has at least 8 characters.';

const verification: LinkPage = {
  path: '/verify-email/:token',
  async show({ db, params }) {
    await findToken(db, 'VERIFY_EMAIL', params.token);
    return presentForm({ title: 'Verify your address', text: 'One click, and it is verified.', button: 'Verify' });
  },
  async act({ db, params }) {
    const { email } = await verifyEmail(db, params.token);
    return presentNotice('Thank you', `The address ${email} is verified.`);
  },
};

const resetForm = (fault?: string): Answer =>
  presentForm(
    {
      title: 'Choose a new password',
      text: 'All sessions end with it.',
      button: 'Set the password',
      password: 'New password, at least 8 characters',
      ...(fault && { fault }),
    },
    fault ? 422 : 200,
  );

const reset: LinkPage = {
  path: '/reset-password/:token',
  async show({ db, params }) {
    await findToken(db, 'RESET_PASSWORD', params.token);
    return resetForm();
  },
  async act({ db, settings, params, body }) {
    await findToken(db, 'RESET_PASSWORD', params.token);
    if (!isGood(body?.password)) return resetForm(TOO_SHORT);
    await resetPassword(db, settings, params.token, body?.password ?? '');
    return presentNotice('Your password is set', 'You can log in with it now.');
  },
};

const invitation: LinkPage = {
  path: '/invitations/:token',
  show: (call) => invitationForm(call),
  async act(call) {
    const { db, settings, params, body, request } = call;
    const { asksPassword, projectName } = await findInvitation(db, params.token);
    if (asksPassword && !isGood(body?.password)) return invitationForm(call, TOO_SHORT);
    const password = asksPassword ? body?.password : undefined;
    const { user } = await acceptInvitation(db, { token: params.token, password }, sessionToken(request.headers));
    const answer = presentNotice('Welcome', `You are a member of the project ${projectName} now.`);
    const session = await startSession(db, user, settings);
    return { ...answer, headers: { ...answer.headers, ...session } };
  },
};

async function invitationForm({ db, params }: PageCall, fault?: string): Promise<Answer> {
  const { projectName, email, role, asksPassword } = await findInvitation(db, params.token);
  return presentForm(
    {
      title: `Join the project ${projectName}?`,
      text: `The invitation is for ${email}, with the role ${role}.`,
      button: 'Accept the invitation',
      ...(asksPassword && { password: 'Choose a password, at least 8 characters' }),
      ...(fault && { fault }),
    },
    fault ? 422 : 200,
  );
}

const isGood = (password: string | undefined): boolean => newPassword().validate(password).error === undefined;

/** A token that is good for nothing leads to a page that says so. */
const caught =
  (work: (call: PageCall) => Promise<Answer>) =>
  async (call: PageCall): Promise<Answer> => {
    try {
      return await work(call);
    } catch (error) {
      if (error instanceof ApiError && error.status === 400) return presentUselessLink();
      throw error;
    }
  };

const answers = {
  200: page('The page.'),
  400: page('The token is used up, has expired, or never was one.'),
};

const linkRoutes = ({ path, show, act }: LinkPage, [looking, acting]: [string, string]) => [
  route({
    method: 'GET',
    path,
    summary: looking,
    access: 'nobody',
    params: { token: text() },
    answers,
    handle: caught(show),
  }),
  route({
    method: 'POST',
    path,
    summary: acting,
    access: 'nobody',
    params: { token: text() },
    bodyKind: 'form',
    body: { password: optional(text({ min: 0, max: 1_000 })) },
    answers: { ...answers, 422: page('The password is too short; the page says so.') },
    handle: caught(act),
  }),
];

export const accountPages = routes('Pages', [
  ...linkRoutes(verification, ['The page that a verification mail leads to', 'Verify the address']),
  ...linkRoutes(reset, ['The page that a reset mail leads to', 'Set the new password']),
  ...linkRoutes(invitation, ['The page that an invitation leads to', 'Accept the invitation']),
]);
