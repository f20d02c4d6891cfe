const [TAB, NEWLINE, FORM_FEED, RETURN, SPACE] = [9, 10, 12, 13, 32];
const [BANG, DOUBLE, SINGLE, SLASH, EQUALS, GREATER, QUESTION] = [33, 34, 39, 47, 61, 62, 63];

/** What browsers take for blanks between the parts of a tag. */
const isBlank = (code: number): boolean =>
  code === SPACE || code === NEWLINE || code === TAB || code === RETURN || code === FORM_FEED;
const isLetter = (code: number): boolean => (code | 32) >= 97 && (code | 32) <= 122;

/** What stands between these is text, whatever it looks like. */
const RAW_TEXT = new Map(
  ['style', 'script', 'title', 'textarea', 'xmp', 'iframe', 'noembed', 'noframes'].map((name) => [
    name,
    new RegExp(`</${name}[\\t\\n\\f\\r />]`, 'gi'),
  ]),
);
const [SHORTEST_RAW, LONGEST_RAW] = [3, 8];

/**
 * Gives every address that a link of this HTML leads to, as a browser would read it, to `replace`, and writes down what
 * that gives back instead; undefined leaves the link as it is, to the letter, like all the rest. What is no HTML at all
 * comes out as it was. Goes over the text once, whatever is in it.
 */
export function replaceLinks(html: string, replace: (target: string) => string | undefined): string {
  let out = '';
  let copied = 0;
  for (const [start, end] of linksIn(html).links) {
    const target = linkTarget(html.slice(start, end));
    const replacement = target === undefined ? undefined : replace(target);
    if (replacement === undefined) continue;
    out += html.slice(copied, start) + inAttribute(replacement);
    copied = end;
  }
  return copied === 0 ? html : out + html.slice(copied);
}

export type Span = [start: number, end: number];

export interface FoundLinks {
  /** The values of the links' `href`. */
  links: Span[];
  /** Where text without quotes, `<` and `>` may be put in without any other link being found: text, and values in quotes. */
  open?: Span[];
}

/** Gives back `found`, with what there is. */
export function linksIn(html: string, found: FoundLinks = { links: [] }): FoundLinks {
  let behind = 0;
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', behind)) {
    found.open?.push([behind, at]);
    behind = piece(html, at, found);
  }
  found.open?.push([behind, html.length]);
  return found;
}

/** Goes from a `<` to behind what it begins. */
function piece(html: string, at: number, found: FoundLinks): number {
  const next = html.charCodeAt(at + 1);
  if (isLetter(next)) return openingTag(html, at + 1, found);
  // `</ a>` is a comment to browsers, and a `<` before anything else is text.
  if (next === SLASH && isLetter(html.charCodeAt(at + 2))) return tag(html, nameEnd(html, at + 2), found, false);
  if (next === BANG && html.startsWith('<!--', at)) return commentEnd(html, at + 4);
  return next === BANG || next === QUESTION || next === SLASH ? past(html, '>', at + 2) : at + 1;
}

function openingTag(html: string, start: number, found: FoundLinks): number {
  const end = nameEnd(html, start);
  const length = end - start;
  if (isLinkName(html, start, length)) return tag(html, end, found, true);
  const rawText = length >= SHORTEST_RAW && length <= LONGEST_RAW && RAW_TEXT.get(html.slice(start, end).toLowerCase());
  const behind = tag(html, end, found, false);
  if (!rawText) return behind;
  rawText.lastIndex = behind;
  const rawEnd = rawText.exec(html)?.index ?? html.length;
  found.open?.push([behind, rawEnd]);
  return rawEnd;
}

/** `a` and `area`. */
const isLinkName = (html: string, start: number, length: number): boolean =>
  (length === 1 && (html.charCodeAt(start) | 32) === 97) ||
  (length === 4 && html.slice(start, start + 4).toLowerCase() === 'area');

function nameEnd(html: string, from: number): number {
  for (let at = from; at < html.length; at++) {
    const code = html.charCodeAt(at);
    if (code === GREATER || code === SLASH || isBlank(code)) return at;
  }
  return html.length;
}

function commentEnd(html: string, from: number): number {
  if (html.charCodeAt(from) === GREATER) return from + 1;
  if (html.startsWith('->', from)) return from + 2;
  const end = /--!?>/g;
  end.lastIndex = from;
  const found = end.exec(html);
  return found ? found.index + found[0].length : html.length;
}

/**
 * Goes over the attributes of a tag, to behind its `>`, and notes the `href` of a link. A tag that never ends is none,
 * and nothing behind its beginning is one.
 */
function tag(html: string, from: number, found: FoundLinks, isLink: boolean): number {
  let href: Span | undefined;
  let at = from;
  for (;;) {
    at = skip(html, at, SLASH);
    if (at >= html.length) return at;
    if (html.charCodeAt(at) === GREATER) break;
    const name = at;
    // The first character may even be `=`.
    at = attributeNameEnd(html, at + 1);
    const isHref = isLink && at - name === 4 && html.slice(name, at).toLowerCase() === 'href';
    at = skip(html, at);
    if (html.charCodeAt(at) !== EQUALS) continue;
    at = skip(html, at + 1);
    const quote = html.charCodeAt(at);
    if (quote === GREATER) break;
    const quoted = quote === DOUBLE || quote === SINGLE;
    const start = quoted ? at + 1 : at;
    const end = quoted ? html.indexOf(quote === DOUBLE ? '"' : "'", start) : unquotedEnd(html, start);
    if (end === -1 || end >= html.length) return html.length;
    if (quoted) found.open?.push([start, end]);
    // Of two attributes with one name the first counts.
    if (isHref) href ??= [start, end];
    at = quoted ? end + 1 : end;
  }
  if (href) found.links.push(href);
  return at + 1;
}

function skip(html: string, from: number, also = SPACE): number {
  for (let at = from; at < html.length; at++) {
    const code = html.charCodeAt(at);
    if (!isBlank(code) && code !== also) return at;
  }
  return html.length;
}

function attributeNameEnd(html: string, from: number): number {
  for (let at = from; at < html.length; at++) {
    const code = html.charCodeAt(at);
    if (code === EQUALS || code === GREATER || code === SLASH || isBlank(code)) return at;
  }
  return html.length;
}

function unquotedEnd(html: string, from: number): number {
  for (let at = from; at < html.length; at++) {
    const code = html.charCodeAt(at);
    if (code === GREATER || isBlank(code)) return at;
  }
  return html.length;
}

function past(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from);
  return at === -1 ? html.length : at + 1;
}

const NAMED = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);
const ENTITY = /&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z][a-z0-9]*));/gi;

/** Where a link leads by the value of its `href`; undefined where it has names for characters that we do not know. */
export function linkTarget(value: string): string | undefined {
  if (!value.includes('&')) return value;
  let known = true;
  const text = value.replace(ENTITY, (whole, hex?: string, decimal?: string, name?: string) => {
    const character = name ? NAMED.get(name) : characterOf(Number.parseInt(hex ?? decimal ?? '', hex ? 16 : 10));
    if (character === undefined) known = false;
    return character ?? whole;
  });
  return known ? text : undefined;
}

const characterOf = (code: number): string | undefined =>
  code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : undefined;

/** As the value of an attribute, whatever quotes it stands in, or none. */
export const inAttribute = (value: string): string =>
  /[&"'<>\s`=]/.test(value) ? value.replace(/[&"'<>\s`=]/g, (one) => `&#${one.charCodeAt(0)};`) : value;
