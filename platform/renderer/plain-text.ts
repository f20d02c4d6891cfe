import { compile } from 'html-to-text';

/** No reader goes through more, and a hostile page must not cost more. */
const MAX_LENGTH = 256 * 1024;
const MAX_TAGS = 10_000;
/** Mail is laid out in tables inside tables; html-to-text goes down by recursion. */
const MAX_DEPTH = 200;

const convert = compile({
  // Lines are as long as paragraphs: every reader wraps them to its own width.
  wordwrap: false,
  limits: { maxDepth: MAX_DEPTH, ellipsis: '…' },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, ignoreHref: false, noAnchorUrl: true } },
    { selector: 'img', format: 'skip' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
});

/** The text part of a mail. */
export const plainText = (html: string): string => convert(readable(html)).trim();

/** Deep nesting takes time by the square of its depth. */
function readable(html: string): string {
  let at = -1;
  for (let tags = 0; tags < MAX_TAGS; tags++) {
    at = html.indexOf('<', at + 1);
    if (at === -1 || at > MAX_LENGTH) return html.slice(0, MAX_LENGTH);
  }
  return html.slice(0, at);
}
