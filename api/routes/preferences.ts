import { isDatabaseUnavailable, isStatementTimeout } from '../../platform/database-errors.ts';
import { isUuid } from '../../platform/ids.ts';
import { languageOf } from '../../platform/languages.ts';
import { logFailure } from '../../platform/outages.ts';
import { findPreferencesPage, requestPreferences } from '../../services/forms/preferences-link.ts';
import { findPageLook } from '../../services/pages/look.ts';
import { type Answer, page } from '../http/answers.ts';
import { type HandlerContext, route, routes } from '../http/route.ts';
import { email, list, optional, request, text } from '../http/schemas.ts';
import { type PreferencesRequest, presentPreferencesRequest } from '../presenters/preferences-request.ts';
import { presentBadLink, presentLater } from '../presenters/subscription-page.ts';

interface PageCall extends HandlerContext {
  params: { projectId: string };
}

/** Answers with the page of the project; 404 without a sender, because no link could be mailed. */
async function respond(call: PageCall, work: () => Promise<PreferencesRequest>): Promise<Answer> {
  const { db, settings, params, request, log } = call;
  const spoken = request.headers['accept-language'];
  try {
    const found = isUuid(params.projectId) ? await findPreferencesPage(db, params.projectId) : undefined;
    if (!found) return presentBadLink(spoken);
    const tags = (spoken ?? '').split(',').map((tag) => tag.split(';')[0]);
    const result = await work();
    const brand = await findPageLook(db, params.projectId, settings);
    return presentPreferencesRequest(languageOf(...tags, found.language), brand, result);
  } catch (error) {
    if (!isDatabaseUnavailable(error) && !isStatementTimeout(error)) throw error;
    logFailure(log, { err: error, requestId: request.id }, 'statement timed out');
    return presentLater(spoken);
  }
}

const shared = {
  access: 'public',
  params: { projectId: text().description('Project ID.') },
} as const;

const answers = {
  200: page('The page, in the language of the visitor.'),
  404: page('The project does not exist, or its pages have no sender.'),
  503: page('The database is unavailable.'),
} as const;

const address = email();

export const preferences = routes('Pages', [
  route({
    method: 'GET',
    path: '/preferences/:projectId',
    summary: 'Show the page on which contacts ask for the link to their preferences',
    ...shared,
    answers,
    handle: (call) => respond(call, async () => ({ state: 'asks' })),
  }),
  route({
    method: 'POST',
    path: '/preferences/:projectId',
    summary: 'Mail the link to the preferences of a contact; the answer is the same for every address',
    ...shared,
    bodyKind: 'anyForm',
    body: request('PreferencesLinkForm', 'What the page sends.', {
      email: optional(list(text({ min: 0 }))).description('The address.'),
    }),
    answers: {
      ...answers,
      422: page('This is not an email address.'),
      429: page('Too many requests of this client.'),
    },
    handle: (call) =>
      respond(call, async () => {
        const { db, params, body, settings, request } = call;
        const { value, error } = address.validate(body.email?.at(-1));
        if (error) return { state: 'badAddress' };
        const seconds = await requestPreferences(db, { ...params, email: value, ip: request.ip }, settings);
        return seconds > 0 ? { state: 'tooMany', seconds } : { state: 'sent' };
      }),
  }),
]);
