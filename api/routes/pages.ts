import { isDatabaseUnavailable, isStatementTimeout } from '../../platform/database-errors.ts';
import { isUuid } from '../../platform/ids.ts';
import { logFailure } from '../../platform/outages.ts';
import { type PageToken, readPageToken } from '../../services/emails/links.ts';
import { classifyRequest } from '../../services/emails/machines.ts';
import { changeByPage, type PageChange, undoPageChange, type Visitor } from '../../services/pages/change.ts';
import { findPageLook } from '../../services/pages/look.ts';
import { type PageVisit, readPage } from '../../services/pages/visit.ts';
import { type Answer, page } from '../http/answers.ts';
import { type HandlerContext, type Route, route, routes } from '../http/route.ts';
import { choice, list, optional, request, text } from '../http/schemas.ts';
import { readPreferences, type SentForm } from '../presenters/preferences-form.ts';
import {
  type Aim,
  type PageResult,
  type PageSubject,
  presentBadLink,
  presentLater,
  presentPreferences,
  presentSubscription,
  resultText,
  subscriptionButton,
  textsOf,
} from '../presenters/subscription-page.ts';

// The link's token is the only authentication; the pages work in any state of the project.

interface PageCall extends HandlerContext {
  params: { token: string };
  query?: { all?: string };
  body?: SentForm;
}

/** What a page shows; undefined where the contact is deleted. */
type Shown = { visit: PageVisit; result?: PageResult } | undefined;

/** Answers with the page of the token, or with an error page. */
async function respond(
  call: PageCall,
  work: (token: PageToken) => Promise<Shown>,
  present: (subject: PageSubject, result: PageResult | undefined) => Answer,
): Promise<Answer> {
  const { db, settings, params, request, log } = call;
  const language = request.headers['accept-language'];
  const pageToken = readPageToken(settings.secretKeys, params.token);
  try {
    const shown = pageToken && (await work(pageToken));
    if (!shown) return presentBadLink(language);
    const brand = await findPageLook(db, shown.visit.projectId, settings);
    const subject = { visit: shown.visit, token: params.token, brand, isAboutAll: isAboutAll(call) };
    return present(subject, shown.result);
  } catch (error) {
    if (!isDatabaseUnavailable(error) && !isStatementTimeout(error)) throw error;
    logFailure(log, { err: error, requestId: request.id }, 'statement timed out');
    return presentLater(language);
  }
}

/** Whether the request is about all email, although the email may have a topic. */
const isAboutAll = ({ query, body }: PageCall): boolean => query?.all === '1' || body?.all?.includes('1') === true;

const MAX_USER_AGENT = 500;

function visitorOf(call: PageCall, name: Aim | 'manage', method: Visitor['method'] = 'PAGE'): Visitor {
  const { ip, id, headers } = call.request;
  return {
    method,
    ip,
    userAgent: headers['user-agent']?.slice(0, MAX_USER_AGENT),
    userAgentClass: classifyRequest(headers),
    // The address itself has the token, which must not be kept.
    ...(method === 'PAGE' && { pageUrl: `${call.settings.baseUrl}/${name}` }),
    requestId: id,
  };
}

/** Forms of ours say that they are a page; a browser asks for one; a mail program that unsubscribes does neither. */
const methodOf = ({ request: { headers }, body = {} }: PageCall): Visitor['method'] =>
  body.page || (headers.accept?.includes('text/html') && !body['List-Unsubscribe']) ? 'PAGE' : 'ONE_CLICK';

const shared = {
  access: 'public',
  params: { token: text().description('Signed token of the contact, from a link in an email.') },
  answers: {
    200: page('The page, in the language of the contact.'),
    404: page('The token is invalid, or its contact was deleted.'),
    503: page('The database is unavailable.'),
  },
} as const;

const query = {
  all: choice('0', '1').description('`1`: all email, although the email of the link has a topic.'),
};

const field = (description: string) => optional(list(text({ min: 0 }))).description(description);

const subscriptionForm = request('SubscriptionForm', 'What a page or a mail program sends.', {
  all: field('`1`: all email, although the email of the link has a topic.'),
  page: field('`1`: sent by a page.'),
  version: field('Names the texts that the page showed.'),
  'List-Unsubscribe': field('`One-Click`: sent by a mail program (RFC 8058).'),
});

const preferencesForm = request('PreferencesForm', 'What the page of preferences sends.', {
  shown: field('What the page showed of each topic: key, state and texts. Other topics stay as they are.'),
  topic: field('Keys of the topics that are checked.'),
  snooze: field('`2w`, `1m`, `3m`, `6m`, `end` or `keep`.'),
  frequency: field('`DAY`, `WEEK`, `MONTH`, `none` or `keep`.'),
  undo: field('The change to undo.'),
});

const showRoute = (aim: Aim, summary: string): Route =>
  route({
    method: 'GET',
    path: `/${aim}/:token`,
    summary,
    ...shared,
    query,
    handle: (call) =>
      respond(
        call,
        (token) => show(call, token),
        (subject) => presentSubscription(aim, subject),
      ),
  });

const show = async ({ db }: PageCall, token: PageToken): Promise<Shown> => {
  const visit = await readPage(db, token);
  return visit && { visit };
};

const changeRoute = (aim: Aim, summary: string): Route =>
  route({
    method: 'POST',
    path: `/${aim}/:token`,
    summary,
    ...shared,
    query,
    bodyKind: 'anyForm',
    body: subscriptionForm,
    handle: (call) =>
      respond(
        call,
        (token) => joinOrLeave(call, aim, token),
        (subject, result) =>
          presentSubscription(aim, subject, result && { ...result, text: result.text || resultText(subject) }),
      ),
  });

async function joinOrLeave(call: PageCall, aim: Aim, token: PageToken): Promise<Shown> {
  // Joining takes a page: mail programs only leave with one click.
  const method = aim === 'subscribe' ? 'PAGE' : methodOf(call);
  let notice = '';
  const decide = (visit: PageVisit): PageChange | undefined => {
    const topic = isAboutAll(call) ? undefined : visit.topic;
    const wording = method === 'PAGE' ? subscriptionButton(aim, visit, topic) : undefined;
    if (!topic) return { subscribed: aim === 'subscribe', ...(wording !== undefined && { text: wording }) };
    if (aim === 'subscribe') {
      if (topic.archived) return undefined;
      const version = call.body?.version?.at(-1);
      if (version !== undefined && version !== topic.version) notice = textsOf(visit).changedMeanwhile;
      if (notice) return undefined;
    }
    const state = aim === 'subscribe' ? 'SUBSCRIBED' : 'UNSUBSCRIBED';
    return { topics: { [topic.id]: state }, ...(wording !== undefined && { texts: { [topic.id]: wording } }) };
  };
  const changed = await changeByPage(call.db, token, visitorOf(call, aim, method), decide);
  return changed && { visit: changed.visit, result: { text: notice, undoId: changed.undoId } };
}

const manageRoute = route({
  method: 'GET',
  path: '/manage/:token',
  summary: 'Show the page on which a contact chooses what it receives',
  ...shared,
  handle: (call) => respond(call, (token) => show(call, token), presentPreferences),
});

const savePreferencesRoute = route({
  method: 'POST',
  path: '/manage/:token',
  summary: 'Save what a contact chose on its page, or undo a change of the last 24 hours',
  ...shared,
  bodyKind: 'anyForm',
  body: preferencesForm,
  handle: (call) =>
    respond(call, (token) => (call.body.undo ? undo(call, token) : save(call, token)), presentPreferences),
});

async function save(call: PageCall, token: PageToken): Promise<Shown> {
  let isOutdated = false;
  const changed = await changeByPage(call.db, token, visitorOf(call, 'manage'), (visit) => {
    const read = readPreferences(visit, call.body ?? {}, textsOf(visit));
    isOutdated = read.isOutdated;
    return isOutdated ? undefined : read.change;
  });
  if (!changed) return undefined;
  const { visit, undoId } = changed;
  const texts = textsOf(visit);
  const notice = isOutdated ? texts.changedMeanwhile : undoId ? texts.saved : texts.unchanged;
  return { visit, result: { text: notice, undoId } };
}

async function undo(call: PageCall, token: PageToken): Promise<Shown> {
  const id = call.body?.undo?.at(-1) ?? '';
  if (!isUuid(id)) {
    const visit = await readPage(call.db, token);
    return visit && { visit, result: { text: textsOf(visit).undoTooLate } };
  }
  const undone = await undoPageChange(call.db, token, visitorOf(call, 'manage'), id, (visit) => textsOf(visit).undo);
  if (!undone) return undefined;
  const { visit, isUndone } = undone;
  const texts = textsOf(visit);
  return { visit, result: { text: isUndone ? texts.undone : texts.undoTooLate } };
}

export const pages = routes('Pages', [
  showRoute('unsubscribe', 'Show the page to confirm unsubscribing'),
  changeRoute(
    'unsubscribe',
    'Unsubscribe from the topic of the email or from all email, from the page or with one click (RFC 8058)',
  ),
  showRoute('subscribe', 'Show the page to confirm subscribing'),
  changeRoute('subscribe', 'Subscribe to the topic of the email or to all email, from the page'),
  manageRoute,
  savePreferencesRoute,
]);
