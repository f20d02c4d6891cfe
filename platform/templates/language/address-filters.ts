import { type Filter, filter } from './filter.ts';
import { SafeText, textOf } from './values.ts';

const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
/** What browsers ignore before and inside the scheme of an address. */
const IGNORED = /[\p{Cc} ]/gu;
/** An entity that `escapeHtml` does not write, before anything that ends a scheme: it may stand for a colon. */
const HIDDEN = /^[^/?]*&(?!(?:amp|quot|lt|gt|#39|#92);)/;

/** Replaces an address of another scheme by `#`. Addresses without a scheme stay. */
const addressOf = (...schemes: string[]): Filter => ({
  ...filter([], (value, _, budget) => {
    const text = textOf(value, budget);
    budget.scan(text.length * 2);
    const scheme = SCHEME.exec(text.replace(IGNORED, ''))?.[1]?.toLowerCase();
    const isKnown = scheme === undefined || schemes.includes(scheme);
    if (isKnown && !(value instanceof SafeText && HIDDEN.test(text))) return value;
    return value instanceof SafeText ? new SafeText('#') : '#';
  }),
  takesHtml: true,
});

/** Around the addresses of emails made in the editor: `{% filter linkaddress %}{{ url }}{% endfilter %}`. */
export const addressFilters: Record<string, Filter> = {
  linkaddress: addressOf('http', 'https', 'mailto', 'tel', 'sms'),
  imageaddress: addressOf('http', 'https'),
};
