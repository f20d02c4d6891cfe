import { compile } from 'html-to-text';

/** Bounds the cost of a hostile page. */
const MAX_LENGTH = 256 * 1024;
const MAX_TAGS = 10_000;
/** Layouts nest tables, and html-to-text recurses. */
const MAX_DEPTH = 200;

const convert = compile({
  // Mail clients wrap paragraphs to their own width.
  wordwrap: false,
  limits: { maxDepth: MAX_DEPTH, ellipsis: '…' },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, ignoreHref: false, noAnchorUrl: true } },
    { selector: 'img', format: 'skip' },
    // Of the editor's emails: hidden, and filled up with invisible characters.
    { selector: 'div.ep-preheader', format: 'skip' },
    // Of spacers and dividers, which have no text.
    { selector: 'td[style$="font-size:0;line-height:0"]', format: 'skip' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
});

/** Converts HTML to the text part of a mail. */
export const plainText = (html: string): string => convert(withoutInheritedNames(truncate(html))).trim();

/** html-to-text finds tags by name in a plain object, where this name is inherited. */
const withoutInheritedNames = (html: string): string => html.replace(/<(\/?)constructor/gi, '<$1span');

/** Cuts the HTML, because the time of html-to-text is quadratic in the depth of nesting. */
function truncate(html: string): string {
  let at = -1;
  for (let tags = 0; tags < MAX_TAGS; tags++) {
    at = html.indexOf('<', at + 1);
    if (at === -1 || at > MAX_LENGTH) return html.slice(0, MAX_LENGTH);
  }
  return html.slice(0, at);
}
