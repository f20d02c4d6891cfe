import { type Language, languageOf } from '../../platform/languages.ts';
import type { Subscription } from '../../services/contacts/subscription.ts';
import { noticePage, pageHeaders, subscriptionPage } from '../../web/pages.ts';
import { subscriptionTexts } from '../../web/subscription-texts.ts';
import type { Answer } from '../http/answers.ts';

/** What the page does: ask for confirmation, or show the state. */
export type PageAim = 'unsubscribe' | 'subscribe' | 'manage' | 'done';

const html = (status: number, body: string): Answer => ({ status, body, headers: pageHeaders });

/** A page with one button that switches to the other state. */
export function presentSubscription(subscription: Subscription, token: string, aim: PageAim): Answer {
  const { subscribed, sender, language } = subscription;
  const texts = subscriptionTexts[language];
  const filled = (text: string) =>
    text.replace(/\{(address|sender)\}/g, (_all, name) =>
      name === 'sender' ? sender : maskAddress(subscription.email),
    );
  const asks = (aim === 'unsubscribe' && subscribed) || (aim === 'subscribe' && !subscribed);
  const words = subscribed
    ? { title: texts.subscribed, text: texts.gets, button: texts.unsubscribe }
    : { title: texts.unsubscribed, text: texts.getsNone, button: texts.subscribe };
  if (asks) words.title = subscribed ? texts.askUnsubscribe : texts.askSubscribe;
  if (asks) words.text = subscribed ? texts.wouldGetNone : texts.wouldGet;
  return html(
    200,
    subscriptionPage({
      language,
      title: words.title,
      text: filled(words.text),
      button: words.button,
      action: `../${subscribed ? 'unsubscribe' : 'subscribe'}/${token}`,
      done: aim === 'done',
    }),
  );
}

/** The same page for an invalid token and for a deleted contact: both look the same. */
export function presentBadLink(acceptLanguage: string | undefined): Answer {
  const language = spokenLanguage(acceptLanguage);
  const { badLink, badLinkHint } = subscriptionTexts[language];
  return html(404, noticePage({ language, title: badLink, text: badLinkHint }));
}

export function presentLater(acceptLanguage: string | undefined): Answer {
  const language = spokenLanguage(acceptLanguage);
  const { later, laterHint } = subscriptionTexts[language];
  const page = html(503, noticePage({ language, title: later, text: laterHint }));
  return { ...page, headers: { ...page.headers, 'Retry-After': '60' } };
}

const spokenLanguage = (acceptLanguage = ''): Language =>
  languageOf(...acceptLanguage.split(',').map((tag) => tag.split(';')[0]));

/** Shortens the address so that only its owner recognizes it: the link may have been forwarded. */
function maskAddress(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, Math.min(2, at))}…${address.slice(at)}`;
}
