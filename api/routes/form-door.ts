// The public door of forms. Answers are the same for every address: lookups happen after them.
import joi from 'joi';
import type { Form } from '../../db/models/form.ts';
import { createChallenge } from '../../services/forms/challenges.ts';
import { type Evidence, type Names, type Outcome, receive, receiveContinued } from '../../services/forms/door.ts';
import { submissionCookie } from '../../services/forms/known-browser.ts';
import { findPublicForm, honeypotOf, type PublicForm, wordingOf } from '../../services/forms/public.ts';
import { difficultyOf, type GivenSubmission, shownTopics } from '../../services/forms/receive.ts';
import { countView } from '../../services/forms/stats.ts';
import { formUrls } from '../../services/forms/urls.ts';
import { findPageLook } from '../../services/pages/look.ts';
import { type Answer, accepted, answer, failure, missing, page } from '../http/answers.ts';
import { named } from '../http/json-schema.ts';
import { type HandlerContext, route, routes } from '../http/route.ts';
import { dateTime, namedType, oneOf, optional, text, uuid, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { documented } from '../http/violations.ts';
import {
  type FormView,
  presentContinue,
  presentFormPage,
  presentSubmitted,
  scriptOf,
} from '../presenters/form-page.ts';

const params = { formId: uuid().description('Form ID.') };
const noForm = missing('form');
const lang = { lang: optional(text({ max: 35 })).description('Language of the texts, a BCP 47 tag.') };
const MAX_LANGUAGE = 35;
const MAX_USER_AGENT = 500;

export const receivedSchema = namedType(
  'SubmissionReceived',
  'What becomes of a submission, the same for every address.',
  {
    status: oneOf('RECEIVED', 'CONTINUE').description('CONTINUE: a button must be pressed on one more page.'),
    url: optional(text()).description('That page.'),
  },
);

const challengeSchema = namedType('FormChallenge', 'A token for the proof of work of one submission.', {
  token: text().description('The token; valid for ten minutes, used once.'),
  difficulty: wholeNumber({ min: 1 }).description('Zero bits at the beginning of the hash.'),
  expiresAt: dateTime().description('When the token expires.'),
});

/** Names of the form's fields are free. */
const formPost = named(
  'FormPost',
  'What a form sends: `email`, the keys of its fields, `topic` (keys), `consent` (`on`), `lang`, `_token`, `_nonce`, `_page`, `_timezone` and `_boxes` (a page with a box per topic: none checked is 422).',
  joi
    .object({
      email: joi.any().description('Email address.'),
      topic: joi.any().description('Key of a topic, or an array of them; all topics of the form by default.'),
    })
    .unknown(),
) as Typed<Record<string, unknown>>;

const names: Names = { data: '', topics: 'topic', token: '_token' };

const languageOf = ({ request: { headers } }: HandlerContext): string | undefined =>
  headers['accept-language']?.split(',')[0]?.split(';')[0]?.trim().slice(0, MAX_LANGUAGE) || undefined;

const originOf = ({ request }: HandlerContext) => ({
  ip: request.ip,
  userAgent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null,
});

export async function viewOf(
  { db, settings }: Pick<HandlerContext, 'db' | 'settings'>,
  found: PublicForm,
  ...languages: (string | undefined)[]
): Promise<FormView> {
  const wording = wordingOf(found, ...languages);
  const topics = await shownTopics(db, found.form, wording.locale);
  return { form: found.form, wording, topics, baseUrl: settings.baseUrl, keys: settings.secretKeys };
}

const asText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

function givenOf(form: Form, body: Record<string, unknown>, referer: string | undefined): GivenSubmission {
  const { email, topic, consent, lang } = body;
  const topics = (Array.isArray(topic) ? topic : [topic]).flatMap((key) => asText(key) ?? []);
  return {
    email,
    fields: Object.fromEntries(form.fields.map(({ key }) => [key, Object.hasOwn(body, key) ? body[key] : undefined])),
    topics,
    ...(asText(body._boxes) !== null && { hasBoxes: true }),
    consent: consent === 'on' || consent === true || consent === 'true',
    lang: asText(lang),
    timezone: asText(body._timezone),
    pageUrl: asText(body._page) ?? referer ?? null,
  };
}

const isFormPost = ({ request: { headers } }: HandlerContext): boolean =>
  headers['content-type']?.toLowerCase().startsWith('application/x-www-form-urlencoded') === true;

const received = {
  202: answer('Received.', receivedSchema),
  200: page('The page after a form was sent, or one more page with a button.'),
  303: answer('Leads to the page of the form for this moment.'),
  404: noForm,
  413: failure('The body is larger than 64 kB.', 'PAYLOAD_TOO_LARGE'),
  429: failure('Too many submissions of this form or from this address.', 'RATE_LIMIT_EXCEEDED'),
} as const;

export const formDoor = routes('Forms', [
  route({
    method: 'GET',
    path: '/f/:formId.js',
    summary: 'Get the script that shows a form in your page',
    access: 'public',
    params,
    query: lang,
    answers: { 200: { description: 'The script.', contentType: 'text/javascript' }, 404: noForm },
    handle: async (call) => {
      const found = await findPublicForm(call.db, call.params.formId);
      const view = await viewOf(call, found, call.query.lang, languageOf(call));
      const headers = {
        'Content-Type': 'text/javascript; charset=utf-8',
        'Cache-Control': 'public, max-age=60',
        'Cross-Origin-Resource-Policy': 'cross-origin',
        Vary: 'Accept-Language',
      };
      return { status: 200, body: scriptOf(view), headers };
    },
  }),
  route({
    method: 'GET',
    path: '/f/:formId/challenge',
    summary: 'Get a token for the proof of work of a submission',
    access: 'public',
    params,
    answers: { 200: answer('The token.', challengeSchema), 404: noForm },
    handle: async ({ db, settings, params }) => {
      const { form } = await findPublicForm(db, params.formId);
      const challenge = createChallenge(settings.secretKeys, form.id, await difficultyOf(db, form));
      const body = { ...challenge, expiresAt: challenge.expiresAt.toISOString() };
      return {
        status: 200,
        body,
        headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' },
      };
    },
  }),
  route({
    method: 'GET',
    path: '/f/:formId',
    summary: 'Show the page of a form',
    access: 'public',
    params,
    query: {
      ...lang,
      continue: optional(documented(text({ max: 8_000 }), { pattern: '^[A-Za-z0-9_.-]+$' })).description(
        'One more page with a button.',
      ),
    },
    answers: { 200: page('The page.'), 404: noForm },
    handle: async (call) => {
      const { db, settings, params, query } = call;
      const found = await findPublicForm(db, params.formId);
      const { form } = found;
      const view = await viewOf(call, found, query.lang, languageOf(call));
      const brand = await findPageLook(db, form.projectId, settings);
      if (query.continue) return presentContinue(view, brand, query.continue, false);
      const { token } = createChallenge(settings.secretKeys, form.id, await difficultyOf(db, form));
      await countView(db, form);
      return presentFormPage(view, brand, token);
    },
  }),
  route({
    method: 'POST',
    path: '/f/:formId',
    summary: 'Submit a form',
    access: 'public',
    params,
    bodyKind: 'jsonOrForm',
    body: formPost,
    answers: received,
    handle: async (call) => {
      const { db, settings, params, body, request } = call;
      const found = await findPublicForm(db, params.formId);
      const { form } = found;
      const given = givenOf(form, body, request.headers.referer);
      const continued = asText(body._continue);
      const evidence: Evidence = {
        token: asText(body._token) ?? undefined,
        nonce: asText(body._nonce) ?? undefined,
        isTrapped: asText(body[honeypotOf(settings.secretKeys, form)]) !== null,
        isFormPost: isFormPost(call),
      };
      const deps = { db, settings };
      const outcome = continued
        ? await receiveContinued(deps, form, continued, originOf(call), names)
        : await receive(deps, form, given, originOf(call), evidence, names);
      return present(call, found, given.lang, outcome);
    },
  }),
]);

/** Of a form post a page, of a JSON call JSON; a button that was pressed too late leads to the form. */
async function present(
  call: HandlerContext,
  found: PublicForm,
  lang: string | null,
  outcome: Outcome | undefined,
): Promise<Answer> {
  const { db, settings } = call;
  const { form } = found;
  const { page: url } = formUrls(settings.baseUrl, form.id);
  const cookie: Record<string, string> =
    outcome?.kind === 'stored' && isOwnPage(call)
      ? { 'Set-Cookie': submissionCookie(settings.secretKeys, outcome.id, settings.baseUrl.startsWith('https:')) }
      : {};
  if (!isFormPost(call)) {
    if (!outcome) return accepted({ status: 'CONTINUE', url });
    if (outcome.kind === 'continue') return accepted(continueAnswer(settings.baseUrl, form, outcome.token));
    return withHeaders(accepted({ status: 'RECEIVED' }), cookie);
  }
  if (!outcome) return { status: 303, headers: { Location: url } };
  if (outcome.kind === 'stored' && form.redirects.submitted)
    return { status: 303, headers: { Location: form.redirects.submitted, ...cookie } };
  const view = await viewOf(call, found, lang ?? undefined, languageOf(call));
  const brand = await findPageLook(db, form.projectId, settings);
  if (outcome.kind === 'stored') return withHeaders(presentSubmitted(view, brand), cookie);
  return presentContinue(view, brand, outcome.token, outcome.waits);
}

const MAX_URL_TOKEN = 7_000;

/** A page that has the button; the form itself where what was sent does not fit into its address. */
export function continueAnswer(baseUrl: string, form: Form, token: string): { status: 'CONTINUE'; url: string } {
  const { page: url } = formUrls(baseUrl, form.id);
  return {
    status: 'CONTINUE',
    url: token.length > MAX_URL_TOKEN ? url : `${url}?continue=${encodeURIComponent(token)}`,
  };
}

const isOwnPage = ({ request: { headers }, settings }: HandlerContext): boolean =>
  headers.origin !== undefined && headers.origin === new URL(settings.baseUrl).origin;

const withHeaders = (given: Answer, headers: Record<string, string>): Answer =>
  Object.keys(headers).length === 0
    ? given
    : {
        ...given,
        headers: { ...(given.headers ?? { 'Content-Type': 'application/json; charset=utf-8' }), ...headers },
      };
