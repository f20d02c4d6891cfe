import { isDatabaseUnavailable, isStatementTimeout } from '../../platform/database-errors.ts';
import { logFailure } from '../../platform/outages.ts';
import { changeSubscription, findSubscription, type Subscription } from '../../services/contacts/subscription.ts';
import { type PageToken, readPageToken } from '../../services/emails/links.ts';
import { type Answer, page } from '../http/answers.ts';
import { type HandlerContext, type Route, route, routes } from '../http/route.ts';
import { text } from '../http/schemas.ts';
import { type PageAim, presentBadLink, presentLater, presentSubscription } from '../presenters/subscription-page.ts';

// The link's token is the only authentication; the pages work in any state of the project.

interface PageCall extends HandlerContext {
  params: { token: string };
}

/** Shows the subscription of the token, or an error page. */
async function respond(
  { settings, params, request, log }: PageCall,
  aim: PageAim,
  work: (pageToken: PageToken) => Promise<Subscription | undefined>,
): Promise<Answer> {
  const language = request.headers['accept-language'];
  const pageToken = readPageToken(settings.secretKeys, params.token);
  try {
    const subscription = pageToken && (await work(pageToken));
    return subscription ? presentSubscription(subscription, params.token, aim) : presentBadLink(language);
  } catch (error) {
    if (!isDatabaseUnavailable(error) && !isStatementTimeout(error)) throw error;
    logFailure(log, { err: error, requestId: request.id }, 'statement timed out');
    return presentLater(language);
  }
}

const shared = {
  access: 'public',
  params: { token: text().description('Signed token of the contact, from a link in an email.') },
  answers: {
    200: page('The page, in the language of the contact.'),
    404: page('The token is invalid, or its contact was deleted.'),
    503: page('The database is unavailable.'),
  },
} as const;

const showRoute = (aim: 'unsubscribe' | 'subscribe' | 'manage', summary: string): Route =>
  route({
    method: 'GET',
    path: `/${aim}/:token`,
    summary,
    ...shared,
    handle: (call) => respond(call, aim, (pageToken) => findSubscription(call.db, pageToken)),
  });

const changeRoute = (aim: 'unsubscribe' | 'subscribe', summary: string): Route =>
  route({
    method: 'POST',
    path: `/${aim}/:token`,
    summary,
    ...shared,
    // Ignores the body: that of RFC 8058 adds nothing, and our form has none.
    handle: (call) =>
      respond(call, 'done', (pageToken) =>
        changeSubscription(call.db, pageToken, aim === 'subscribe', 'by the recipient'),
      ),
  });

export const pages = routes('Pages', [
  showRoute('unsubscribe', 'Show the page to confirm unsubscribing'),
  changeRoute('unsubscribe', 'Unsubscribe a contact, from the page or with one click (RFC 8058)'),
  showRoute('subscribe', 'Show the page to confirm subscribing'),
  changeRoute('subscribe', 'Subscribe a contact, from the page'),
  showRoute('manage', 'Show the page to view and change a subscription'),
]);
