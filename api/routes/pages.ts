import { isDatabaseUnavailable, isStatementTimeout } from '../../platform/database-errors.ts';
import { changeSubscription, findSubscription, type Subscription } from '../../services/contacts/subscription.ts';
import { type PageToken, readPageToken } from '../../services/emails/links.ts';
import { type Answer, page } from '../http/answers.ts';
import { type Route, route, routes, type Surroundings } from '../http/route.ts';
import { text } from '../http/schemas.ts';
import { type PageAim, presentBadLink, presentLater, presentSubscription } from '../presenters/subscription-page.ts';

// For whoever has the link, and in any state of the project: nobody is asked who they are, and nothing else counts.

interface PageCall extends Surroundings {
  params: { token: string };
}

/** What is behind the token, or a page that says that there is nothing. */
async function answered(
  { settings, params, request, log }: PageCall,
  aim: PageAim,
  work: (who: PageToken) => Promise<Subscription | undefined>,
): Promise<Answer> {
  const language = request.headers['accept-language'];
  const who = readPageToken(settings.secretKeys, params.token);
  try {
    const subscription = who && (await work(who));
    return subscription ? presentSubscription(subscription, params.token, aim) : presentBadLink(language);
  } catch (error) {
    if (!isDatabaseUnavailable(error) && !isStatementTimeout(error)) throw error;
    log.error({ err: error, requestId: request.id }, 'the database cannot be reached');
    return presentLater(language);
  }
}

const shared = {
  access: 'nobody',
  params: { token: text() },
  answers: {
    200: page('The page, in the language of the contact.'),
    404: page('The token is none of ours, or its contact is gone.'),
    503: page('The database cannot be reached just now.'),
  },
} as const;

const looking = (aim: 'unsubscribe' | 'subscribe' | 'manage', summary: string): Route =>
  route({
    method: 'GET',
    path: `/${aim}/:token`,
    summary,
    ...shared,
    handle: (call) => answered(call, aim, (who) => findSubscription(call.db, who)),
  });

const deciding = (aim: 'unsubscribe' | 'subscribe', summary: string): Route =>
  route({
    method: 'POST',
    path: `/${aim}/:token`,
    summary,
    ...shared,
    // The body is not even looked at: RFC 8058 has one, a form of ours has none, and neither says any more.
    handle: (call) =>
      answered(call, 'done', (who) => changeSubscription(call.db, who, aim === 'subscribe', 'by the recipient')),
  });

export const pages = routes('Pages', [
  looking('unsubscribe', 'The page that asks whether to unsubscribe; it changes nothing'),
  deciding('unsubscribe', 'Unsubscribe: the button of the page, and the one-click of mail programs (RFC 8058)'),
  looking('subscribe', 'The page that asks whether to subscribe; it changes nothing'),
  deciding('subscribe', 'Subscribe: the button of the page'),
  looking('manage', 'The page that shows the state of a subscription, and can change it'),
]);
