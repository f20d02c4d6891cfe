import { spokenLanguage } from '../../platform/languages.ts';
import type { PageVisit, ShownTopic } from '../../services/pages/visit.ts';
import { type ButtonForm, noticePage, type PageBrand, subscriptionPage } from '../../web/pages.ts';
import { preferencesTexts } from '../../web/preferences-texts.ts';
import { subscriptionTexts } from '../../web/subscription-texts.ts';
import type { Answer } from '../http/answers.ts';
import { preferencesForm } from './preferences-form.ts';

export type Aim = 'unsubscribe' | 'subscribe';

/** What a page is about: the topic of the email that linked to it, or all email. */
export interface PageSubject {
  visit: PageVisit;
  token: string;
  brand: PageBrand | undefined;
  /** All email, although the email has a topic. */
  isAboutAll: boolean;
}

/** What was changed by the request that the page answers. */
export interface PageResult {
  text: string;
  undoId?: string | undefined;
}

export const textsOf = ({ language }: Pick<PageVisit, 'language'>) => ({
  ...subscriptionTexts[language],
  ...preferencesTexts[language],
});

/** Fills in a text of a page. Consent records keep it without the address, as one wording for all. */
export function filled(
  text: string,
  { email, sender }: PageVisit,
  { topic = '', address = maskAddress(email) } = {},
): string {
  const values: Record<string, string> = { address, sender, topic };
  return text.replace(/\{(address|sender|topic)\}/g, (_all, name: string) => values[name] ?? '');
}

export const formOf = (aim: Aim | 'manage', token: string) => `../${aim}/${token}`;

/** Distinguishes our form from the one-click request of a mail program. */
const BY_PAGE = { page: '1' };

interface Words {
  title: string;
  text: string;
}

/** The page of an email's topic has a button for it and one for all email; that of other email has one. */
export function presentSubscription(aim: Aim, subject: PageSubject, result?: PageResult): Answer {
  const { visit, token, isAboutAll } = subject;
  const { subscribed, topic } = visit;
  const texts = textsOf(visit);
  const ofAll = allForm(subject);
  if (!topic || isAboutAll) {
    const { title, text } = wordsOfAll(aim, visit, result !== undefined);
    return presentPage(subject, title, [filled(text, visit)], result, [ofAll]);
  }
  const gets = getsTopic(visit, topic);
  const { title, text } = wordsOfTopic(aim, visit, topic, result !== undefined);
  const named = { topic: topic.name };
  const leave: ButtonForm = {
    action: formOf('unsubscribe', token),
    fields: BY_PAGE,
    button: filled(texts.unsubscribeTopic, visit, named),
  };
  const join: ButtonForm = {
    action: formOf('subscribe', token),
    fields: { ...BY_PAGE, version: topic.version },
    button: filled(texts.subscribeTopic, visit, named),
  };
  const joins = !(topic.isJoined && (aim === 'unsubscribe' || gets));
  const ofTopic = joins ? (topic.archived ? [] : [join]) : [leave];
  const consentText = joins && aim === 'subscribe' && topic.consentText ? [topic.consentText] : [];
  const showsAll = aim === 'unsubscribe' || !subscribed;
  const paragraphs = [filled(text, visit, named), ...consentText];
  return presentPage(subject, title, paragraphs, result, showsAll ? [...ofTopic, ofAll] : ofTopic);
}

const getsTopic = ({ subscribed }: PageVisit, { isJoined, kind }: ShownTopic): boolean =>
  isJoined && (subscribed || kind === 'NOTIFICATION');

/** The page asks, unless it answers a change or there is nothing left to ask. */
function wordsOfAll(aim: Aim, visit: PageVisit, isAnswer: boolean): Words {
  const { subscribed } = visit;
  const texts = textsOf(visit);
  if (isAnswer || (aim === 'unsubscribe') !== subscribed)
    return subscribed
      ? { title: texts.subscribed, text: texts.gets }
      : { title: texts.unsubscribed, text: texts.getsNone };
  return subscribed
    ? { title: texts.askUnsubscribe, text: texts.wouldGetNone }
    : { title: texts.askSubscribe, text: texts.wouldGet };
}

function wordsOfTopic(aim: Aim, visit: PageVisit, topic: ShownTopic, isAnswer: boolean): Words {
  const texts = textsOf(visit);
  const gets = getsTopic(visit, topic);
  const asks = !isAnswer && (aim === 'unsubscribe' ? topic.isJoined || visit.subscribed : !gets);
  if (topic.archived) return { title: asks ? texts.askUnsubscribe : texts.unsubscribed, text: texts.topicArchived };
  if (!asks)
    return gets
      ? { title: texts.subscribed, text: texts.getsTopic }
      : { title: texts.unsubscribed, text: texts.getsTopicNoLonger };
  if (aim === 'subscribe') return { title: texts.askSubscribe, text: texts.wouldGetTopic };
  return { title: texts.askUnsubscribe, text: topic.isJoined ? texts.chooseWhat : texts.getsTopicNoLonger };
}

/** The button for all email. */
function allForm({ visit, token }: PageSubject): ButtonForm {
  const { subscribed, topic } = visit;
  const texts = textsOf(visit);
  const aim = subscribed ? 'unsubscribe' : 'subscribe';
  const action = formOf(aim, token);
  if (!topic) return { action, fields: BY_PAGE, button: texts[aim] };
  const button = subscribed ? texts.unsubscribeAll : texts.subscribeAll;
  return { action, fields: { ...BY_PAGE, all: '1' }, button, isSecondary: true };
}

/** The page with everything that the contact can choose. */
export function presentPreferences(subject: PageSubject, result?: PageResult): Answer {
  const { visit, token } = subject;
  const { subscribed } = visit;
  const texts = textsOf(visit);
  const aim = subscribed ? 'unsubscribe' : 'subscribe';
  const paragraphs = [filled(texts.intro, visit), ...(subscribed ? [] : [texts.leftAll])];
  const all: ButtonForm = {
    action: formOf(aim, token),
    fields: { ...BY_PAGE, all: '1' },
    button: subscribed ? texts.unsubscribeAll : texts.subscribeAll,
    isSecondary: true,
  };
  const preferences = preferencesForm(visit, texts, formOf('manage', token));
  return presentPage(subject, texts.title, paragraphs, result, [all], preferences);
}

function presentPage(
  { visit, token, brand }: PageSubject,
  title: string,
  paragraphs: string[],
  result: PageResult | undefined,
  forms: ButtonForm[],
  preferences?: ReturnType<typeof preferencesForm>,
): Answer {
  const texts = textsOf(visit);
  const { undoId } = result ?? {};
  const undo: ButtonForm[] = undoId
    ? [
        {
          text: texts.undoHint,
          action: formOf('manage', token),
          fields: { undo: undoId },
          button: texts.undo,
          isSecondary: true,
        },
      ]
    : [];
  const isSaid = result !== undefined && paragraphs[0] !== result.text;
  const page = subscriptionPage({
    language: visit.language,
    brand,
    title,
    paragraphs: isSaid ? [result.text, ...paragraphs] : paragraphs,
    done: result !== undefined,
    preferences,
    forms: [...undo, ...forms],
    link: preferences ? undefined : { href: formOf('manage', token), text: texts.manage },
    privacyText: texts.privacy,
  });
  return { status: 200, ...page };
}

/** What the page says after joining or leaving. */
export function resultText(subject: PageSubject): string {
  const { visit, isAboutAll } = subject;
  const texts = textsOf(visit);
  const { topic, subscribed } = visit;
  if (!topic || isAboutAll) return filled(subscribed ? texts.gets : texts.getsNone, visit);
  return filled(getsTopic(visit, topic) ? texts.getsTopic : texts.getsTopicNoLonger, visit, { topic: topic.name });
}

/** The wording of a button with what it is about, for the consent record. */
export function subscriptionButton(aim: Aim, visit: PageVisit, topic: ShownTopic | undefined): string {
  const texts = textsOf(visit);
  const of = (text: string) => filled(text, visit, { topic: topic?.name ?? '', address: '{address}' });
  if (topic)
    return aim === 'unsubscribe'
      ? [of(texts.chooseWhat), of(texts.unsubscribeTopic)].join('\n')
      : [of(texts.wouldGetTopic), topic.consentText, of(texts.subscribeTopic)].filter(Boolean).join('\n');
  const all = aim === 'unsubscribe' ? texts.wouldGetNone : texts.wouldGet;
  const button = !visit.topic ? texts[aim] : aim === 'unsubscribe' ? texts.unsubscribeAll : texts.subscribeAll;
  return [of(all), button].join('\n');
}

/** The same page for an invalid token and for a deleted contact: both look the same. */
export function presentBadLink(acceptLanguage: string | undefined): Answer {
  const language = spokenLanguage(acceptLanguage);
  const { badLink, badLinkHint } = subscriptionTexts[language];
  return { status: 404, ...noticePage({ language, title: badLink, text: badLinkHint }) };
}

export function presentLater(acceptLanguage: string | undefined): Answer {
  const language = spokenLanguage(acceptLanguage);
  const { later, laterHint } = subscriptionTexts[language];
  const { body, headers } = noticePage({ language, title: later, text: laterHint });
  return { status: 503, body, headers: { ...headers, 'Retry-After': '60' } };
}

/** Shortens the address so that only its owner recognizes it: the link may have been forwarded. */
function maskAddress(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, Math.min(2, at))}…${address.slice(at)}`;
}
