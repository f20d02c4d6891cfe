// Takes a submission: checks what the visitor can correct, and nothing about the address. All else is decided after the answer.
import { LRUCache } from 'lru-cache';
import { type Db, inTransaction } from '../../db/connect.ts';
import type { FieldValue, Form } from '../../db/models/form.ts';
import { statement } from '../../db/statement.ts';
import { parseAddress } from '../../platform/address.ts';
import { type Violation, validationError } from '../../platform/errors.ts';
import { clientNetwork } from '../../platform/http/client-network.ts';
import { newId } from '../../platform/ids.ts';
import type { Settings } from '../../platform/settings.ts';
import { isTimezone } from '../../platform/time-zones.ts';
import { countUse, tooMany } from '../throttle/count.ts';
import { translationsIn } from '../topics/texts.ts';
import { DIFFICULTY } from './challenges.ts';
import { readFieldValue } from './field-values.ts';
import { type AskedTopic, topicsOf } from './submissions.ts';

/** What a visitor sends, not checked yet. */
export interface GivenSubmission {
  email: unknown;
  fields: Record<string, unknown>;
  /** Keys; all topics of the form where there are none. */
  topics: string[];
  /** The visitor chose with a box for each topic: none of them is no choice of all. */
  hasBoxes?: boolean;
  consent: boolean;
  lang: string | null;
  timezone: string | null;
  pageUrl: string | null;
}

/** Of the visitor; null where a server calls and says nothing of it. */
export interface SubmissionOrigin {
  ip: string | null;
  userAgent: string | null;
}

/** What is stored of a submission. */
export interface CheckedSubmission {
  email: string;
  data: Record<string, FieldValue>;
  topicIds: string[];
  /** The consent text in the language of the visitor, and by topic with that of the topic. */
  text: string;
  texts: Record<string, string>;
  locale: string | null;
  timezone: string | null;
  pageUrl: string | null;
}

const MAX_URL = 2_000;
const LOCALE = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,3}$/;

/** Checks what the visitor can correct. `names` are those of the request, for its errors. */
export async function checkSubmission(
  db: Db,
  form: Form,
  given: GivenSubmission,
  names: { data: string; topics: string },
): Promise<CheckedSubmission> {
  const errors: Violation[] = [];
  const email = typeof given.email === 'string' ? parseAddress(given.email) : undefined;
  if (given.email === undefined || given.email === '')
    errors.push({ field: 'email', message: '"email" is required', code: 'required' });
  else if (email === undefined)
    errors.push({ field: 'email', message: '"email" must be a valid email address', code: 'invalid_string' });
  if (form.consentRequired && !given.consent)
    errors.push({ field: 'consent', message: '"consent" is required', code: 'required' });
  const data: Record<string, FieldValue> = {};
  for (const field of form.fields) {
    const at = `${names.data}${field.key}`;
    const value = given.fields[field.key] ?? (field.type === 'HIDDEN' ? field.default : undefined);
    if (value === undefined || value === null || value === '') {
      if (field.required) errors.push({ field: at, message: `"${at}" is required`, code: 'required' });
      continue;
    }
    const read = readFieldValue(field, value);
    if ('rule' in read) errors.push({ field: at, message: `"${at}" ${read.rule}`, code: 'custom' });
    else if (field.required && read.value === false)
      errors.push({ field: at, message: `"${at}" is required`, code: 'required' });
    else data[field.key] = read.value;
  }
  const { lang, timezone, pageUrl } = given;
  const locale = lang !== null && LOCALE.test(lang) ? lang : null;
  const topics = await chosenTopics(db, form, locale, given, names.topics, errors);
  if (errors.length > 0 || email === undefined) throw validationError(errors);
  const translation = translationsIn(form.translations, locale).find((texts) => texts.consentText);
  const text = translation?.consentText ?? form.consentText;
  return {
    email,
    data,
    topicIds: topics.map(({ id }) => id),
    text,
    texts: Object.fromEntries(
      topics.map(({ id, consentText }) => [id, [text, consentText].filter(Boolean).join('\n')] as const),
    ),
    locale,
    timezone: timezone !== null && isTimezone(timezone) ? timezone : null,
    pageUrl: pageUrl !== null && pageUrl.length <= MAX_URL && /^https?:\/\//i.test(pageUrl) ? pageUrl : null,
  };
}

async function chosenTopics(
  db: Db,
  form: Form,
  locale: string | null,
  { topics: keys, hasBoxes }: Pick<GivenSubmission, 'topics' | 'hasBoxes'>,
  name: string,
  errors: Violation[],
): Promise<AskedTopic[]> {
  const shown = await shownTopics(db, form, locale);
  if (keys.length === 0 && hasBoxes && shown.length > 0)
    errors.push({ field: name, message: `"${name}" must name at least one topic`, code: 'required' });
  if (keys.length === 0) return shown;
  const chosen = shown.filter(({ id, key }) => keys.includes(key) || keys.includes(id));
  if (keys.every((wanted) => chosen.some(({ id, key }) => wanted === key || wanted === id))) return chosen;
  errors.push({ field: name, message: `"${name}" must name topics of the form`, code: 'custom' });
  return [];
}

/** The topics that the form shows. One that has been archived since is offered only where nothing else is left to ask for. */
export async function shownTopics(db: Db, { projectId, topicIds }: Form, locale: string | null): Promise<AskedTopic[]> {
  const topics = await topicsOf(db, { projectId, topicIds, locale });
  const open = topics.filter(({ archived }) => !archived);
  return open.length > 0 ? open : topics;
}

const PER_MINUTE = 600;

/** Rejects with 429, for every address alike, above the limits of a form and of a client. */
export async function limitSubmissions(
  db: Db,
  form: Form,
  ip: string | null,
  { forms }: Pick<Settings, 'forms'>,
): Promise<void> {
  const max = forms.submissionsPerIpPerHour;
  const seconds = await countUse(db, [
    { name: `form ${form.id}`, max: PER_MINUTE, minutes: 1 },
    ...(ip !== null && max > 0 ? [{ name: `form submissions ${clientNetwork(ip)}`, max, minutes: 60 }] : []),
  ]);
  if (seconds > 0) throw tooMany(seconds, 'Too many submissions.');
}

const insert = statement(
  'submission-insert',
  `insert into form_submissions (id, project_id, form_id, form_version, topic_ids, address_hash, email, data, defaults,
     context, page_url, due_at)
   values ($2, $1, $3, $4, $5::uuid[], address_hash($1::uuid, $6), $6, $7::jsonb, $8::jsonb, $9::jsonb, $10, now())`,
);
const queueWebhook = statement('submission-webhook', `select queue_form_webhook($1, $2, 'submitted', true)`);

/** Stores a submission and returns its id. Housekeeping of the workers decides about it. */
export async function storeSubmission(
  db: Db,
  form: Form,
  submission: CheckedSubmission,
  { ip, userAgent }: SubmissionOrigin,
): Promise<string> {
  const { email, data, topicIds, text, texts, locale, timezone, pageUrl } = submission;
  const id = newId();
  const defaults = {
    ...(form.captureTimezone && timezone !== null && { timezone }),
    ...(form.captureLocale && locale !== null && { locale }),
  };
  const context = {
    ...(ip !== null && { ip }),
    ...(userAgent !== null && { userAgent }),
    ...(pageUrl !== null && { pageUrl }),
    ...(locale !== null && { locale }),
    ...(text && { text }),
    texts,
  };
  const { projectId, version } = form;
  await inTransaction(db, async (trx) => {
    await insert(trx, [
      projectId,
      id,
      form.id,
      version,
      topicIds,
      email,
      JSON.stringify(data),
      JSON.stringify(defaults),
      JSON.stringify(context),
      pageUrl,
    ]);
    await queueWebhook(trx, [projectId, id]);
  });
  return id;
}

const readRates = statement<{ lastHour: number; usual: number }>(
  'form-rates',
  `select (select count(*)::float8 from form_submissions s
       where s.project_id = $1 and s.form_id = $2 and s.created_at > now() - interval '1 hour') as last_hour,
     (select count(*) / 168.0::float8 from form_submissions s
       where s.project_id = $1 and s.form_id = $2 and s.created_at > now() - interval '7 days') as usual`,
);
const RATES_MS = 5_000;
const LEAST_USUAL = 10;
const difficulties = new LRUCache<string, number>({ max: 10_000, ttl: RATES_MS });

/** One bit more for each doubling of the form's usual rate; the most under attack. */
export async function difficultyOf(db: Db, { projectId, id, attackedSince }: Form): Promise<number> {
  if (attackedSince) return DIFFICULTY.max;
  const known = difficulties.get(id);
  if (known !== undefined) return known;
  const [rates] = await readRates(db, [projectId, id]);
  const ratio = (rates?.lastHour ?? 0) / Math.max(rates?.usual ?? 0, LEAST_USUAL);
  const difficulty = Math.min(DIFFICULTY.max, DIFFICULTY.min + Math.max(0, Math.floor(Math.log2(Math.max(ratio, 1)))));
  difficulties.set(id, difficulty);
  return difficulty;
}
