import { isDatabaseUnavailable, isStatementTimeout } from '../../platform/database-errors.ts';
import { ApiError } from '../../platform/errors.ts';
import { logFailure } from '../../platform/outages.ts';
import { type ConfirmationToken, MailLinks, readConfirmationToken } from '../../services/emails/links.ts';
import { type Confirmation, confirm, decline, findConfirmation, sendAgain } from '../../services/forms/confirm.ts';
import { isSubmissionCookie } from '../../services/forms/known-browser.ts';
import { findPageLook } from '../../services/pages/look.ts';
import { type Answer, answer, page } from '../http/answers.ts';
import { type HandlerContext, route, routes } from '../http/route.ts';
import { list, optional, request, text } from '../http/schemas.ts';
import { type ConfirmationView, presentConfirmation, presentDecline } from '../presenters/confirmation-page.ts';
import { presentBadLink, presentLater } from '../presenters/subscription-page.ts';

// The link's token is the only authentication; the pages work in any state of form and project.

interface PageCall extends HandlerContext {
  params: { token: string };
}

const MAX_USER_AGENT = 500;

const visitorOf = ({ request }: PageCall) => ({
  ip: request.ip,
  userAgent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT),
});

async function respond(
  call: PageCall,
  work: (token: ConfirmationToken) => Promise<Confirmation | undefined>,
  present: (view: ConfirmationView) => Answer,
): Promise<Answer> {
  const { db, settings, params, request, log } = call;
  const language = request.headers['accept-language'];
  const token = readConfirmationToken(settings.secretKeys, params.token);
  try {
    const confirmation = token && (await work(token));
    if (!confirmation) return presentBadLink(language);
    const { id, projectId, contactId, status } = confirmation;
    const isSettled = status === 'CONFIRMED' || status === 'ALREADY';
    return present({
      confirmation,
      token: params.token,
      brand: await findPageLook(db, projectId, settings),
      manageUrl:
        contactId && isSettled
          ? new MailLinks(settings).contactLinks({ contactId, emailId: token.emailId }).manageUrl
          : undefined,
      isKnown: isSubmissionCookie(settings.secretKeys, request.headers.cookie, id),
    });
  } catch (error) {
    if (!isDatabaseUnavailable(error) && !isStatementTimeout(error)) throw error;
    logFailure(log, { err: error, requestId: request.id }, 'statement timed out');
    return presentLater(language);
  }
}

const shared = {
  access: 'public',
  params: { token: text().description('Signed token of the submission, from a link in an email.') },
} as const;

const pages = {
  200: page('The page, in the language of the visitor.'),
  303: answer('Leads to the page of the form for this state.'),
  404: page('The token is invalid.'),
  503: page('The database is unavailable.'),
} as const;
const expired = { 410: page('The confirmation has expired or was declined.') };

/** A billing limit of the project is none of the visitor's business. */
function unlessOverBilling(error: unknown): void {
  if (!(error instanceof ApiError) || error.code !== 'BILLING_LIMIT_EXCEEDED') throw error;
}

const field = (description: string) => optional(list(text({ min: 0 }))).description(description);

const confirmForm = request('ConfirmForm', 'What the page sends.', {
  topic: field('IDs of the topics that are checked.'),
  boxes: field('`1`: the page shows a box per topic.'),
  again: field('`1`: send the confirmation again.'),
});

export const confirmations = routes('Pages', [
  route({
    method: 'GET',
    path: '/confirm/:token',
    summary: 'Show the page to confirm a subscription',
    ...shared,
    answers: { ...pages, ...expired },
    handle: (call) =>
      respond(
        call,
        (token) => findConfirmation(call.db, token),
        (view) => presentConfirmation(view),
      ),
  }),
  route({
    method: 'POST',
    path: '/confirm/:token',
    summary: 'Confirm a subscription, from the page',
    ...shared,
    bodyKind: 'anyForm',
    body: confirmForm,
    answers: { ...pages, ...expired },
    handle: async (call) => {
      const { db, settings, body } = call;
      if (body.again)
        return respond(
          call,
          async (token) => {
            const confirmation = await findConfirmation(db, token);
            if (confirmation?.status === 'EXPIRED')
              await sendAgain(db, confirmation, ['EXPIRED'], settings).catch(unlessOverBilling);
            return confirmation;
          },
          // The same answer whether a limit allows it or not.
          (view) => presentConfirmation(view, view.confirmation.status === 'EXPIRED' ? 'sentAgain' : undefined),
        );
      const chosen = body.boxes ? (body.topic ?? []) : undefined;
      if (chosen?.length === 0)
        return respond(
          call,
          (token) => findConfirmation(db, token),
          (view) => presentConfirmation(view, 'chooseOne'),
        );
      return respond(
        call,
        async (token) => {
          const known = chosen && (await findConfirmation(db, token))?.topics.map(({ id }) => id);
          const topicIds = chosen?.filter((id) => known?.includes(id));
          return confirm(db, token, topicIds, visitorOf(call));
        },
        (view) => presentConfirmation(view),
      );
    },
  }),
  route({
    method: 'GET',
    path: '/decline/:token',
    summary: 'Show the page to decline a subscription',
    ...shared,
    answers: pages,
    handle: (call) =>
      respond(
        call,
        (token) => findConfirmation(call.db, token),
        (view) => presentDecline(view),
      ),
  }),
  route({
    method: 'POST',
    path: '/decline/:token',
    summary: 'Decline a subscription, from the page',
    ...shared,
    bodyKind: 'anyForm',
    answers: pages,
    handle: (call) => respond(call, (token) => decline(call.db, token, visitorOf(call)), presentDecline),
  }),
]);
