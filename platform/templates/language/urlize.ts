import type { Budget } from './budget.ts';
import { escapeHtml } from './escape.ts';
import { isTrue, numberOf, SafeText, textOf } from './values.ts';

const WRAPPED = /^(?:\(|<|&lt;)?(.*?)(?:\.|,|\)|\n|&gt;)?$/;
const EMAIL = /^[\w.!#$%&'*+\-/=?^`{|}~]+@[a-z\d-]+(\.[a-z\d-]+)+$/i;
const WITH_SCHEME = /^https?:\/\/.*$/;
const WITHOUT_SCHEME = /^www\.|\.(?:org|net|com)(?::|\/|$)/;
/** Longer words are no links; bounds the time of the patterns above. */
const MAX_WORD = 2000;

/** Turns URLs and e-mail addresses into links. Unlike nunjucks, escapes everything and returns SafeText. */
export function urlize(value: unknown, [length, noFollow]: unknown[], budget: Budget): SafeText {
  const text = budget.text(textOf(value, budget));
  budget.spend(text.length * 3);
  const shown = length === undefined ? Number.POSITIVE_INFINITY : numberOf(length, budget);
  const attribute = isTrue(noFollow) ? ' rel="nofollow"' : '';
  const html = (part: string) => (value instanceof SafeText ? part : escapeHtml(part));
  const words = text.split(/(\s+)/);
  const linked = words.map((word) => {
    const url = word.length > MAX_WORD ? '' : (WRAPPED.exec(word)?.[1] ?? '');
    if (EMAIL.test(url)) return `<a href="mailto:${html(url)}">${html(url)}</a>`;
    if (!WITH_SCHEME.test(url) && !WITHOUT_SCHEME.test(url)) return html(word);
    const href = WITH_SCHEME.test(url) ? url : `http://${url}`;
    return `<a href="${html(href)}"${attribute}>${html(url.slice(0, shown))}</a>`;
  });
  return new SafeText(budget.text(linked.join('')));
}
