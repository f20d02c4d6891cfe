const TAB = 9;
const NEWLINE = 10;
const FORM_FEED = 12;
const RETURN = 13;
const SPACE = 32;
const BANG = 33;
const DOUBLE = 34;
const SINGLE = 39;
const SLASH = 47;
const EQUALS = 61;
const GREATER = 62;
const QUESTION = 63;

/** ASCII whitespace of the HTML standard. */
const isBlank = (code: number): boolean =>
  code === SPACE || code === NEWLINE || code === TAB || code === RETURN || code === FORM_FEED;
const isLetter = (code: number): boolean => (code | 32) >= 97 && (code | 32) <= 122;

/** Elements whose content is text, even where it looks like markup, with the pattern of their end. */
const RAW_TEXT = new Map(
  ['style', 'script', 'title', 'textarea', 'xmp', 'iframe', 'noembed', 'noframes'].map((name) => [
    name,
    new RegExp(`</${name}[\\t\\n\\f\\r />]`, 'gi'),
  ]),
);
const MIN_RAW_NAME = 3;
const MAX_RAW_NAME = 8;

/**
 * Calls `replace` with the target of every link, as a browser would read it, and its position, and writes the result there;
 * undefined leaves the link unchanged, byte for byte, like all other text. Takes linear time for any input.
 */
export function replaceLinks(html: string, replace: (target: string, index: number) => string | undefined): string {
  let out = '';
  let copied = 0;
  for (const [index, [start, end]] of linksIn(html).links.entries()) {
    const target = linkTarget(html.slice(start, end));
    const replacement = target === undefined ? undefined : replace(target, index);
    if (replacement === undefined) continue;
    out += html.slice(copied, start) + escapeAttribute(replacement);
    copied = end;
  }
  return copied === 0 ? html : out + html.slice(copied);
}

export type Span = [start: number, end: number];

export interface FoundLinks {
  /** The `href` values of the links. */
  links: Span[];
  /**
   * Text and quoted attribute values: inserting text without quotes, `<` and `>` there does not change which links are
   * found.
   */
  open?: Span[];
}

/** Adds the links of the HTML to `found` and returns it. */
export function linksIn(html: string, found: FoundLinks = { links: [] }): FoundLinks {
  let position = 0;
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', position)) {
    found.open?.push([position, at]);
    position = scanMarkup(html, at, found);
  }
  found.open?.push([position, html.length]);
  return found;
}

/** Scans the tag or comment that starts with the `<` at `at`. Returns the position behind it. */
function scanMarkup(html: string, at: number, found: FoundLinks): number {
  const next = html.charCodeAt(at + 1);
  if (isLetter(next)) return scanOpeningTag(html, at + 1, found);
  // Browsers read `</ a>` as a comment, and `<` before any other character as text.
  if (next === SLASH && isLetter(html.charCodeAt(at + 2)))
    return scanAttributes(html, nameEnd(html, at + 2), found, false);
  if (next === BANG && html.startsWith('<!--', at)) return commentEnd(html, at + 4);
  return next === BANG || next === QUESTION || next === SLASH ? positionAfter(html, '>', at + 2) : at + 1;
}

function scanOpeningTag(html: string, start: number, found: FoundLinks): number {
  const end = nameEnd(html, start);
  const length = end - start;
  if (isLinkName(html, start, length)) return scanAttributes(html, end, found, true);
  const rawText =
    length >= MIN_RAW_NAME && length <= MAX_RAW_NAME && RAW_TEXT.get(html.slice(start, end).toLowerCase());
  const tagEnd = scanAttributes(html, end, found, false);
  if (!rawText) return tagEnd;
  rawText.lastIndex = tagEnd;
  const rawEnd = rawText.exec(html)?.index ?? html.length;
  found.open?.push([tagEnd, rawEnd]);
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
 * Scans the attributes of a tag and adds the `href` of a link to `found`. Returns the position behind the `>`, or the end
 * of the text for a tag that never ends, which browsers ignore.
 */
function scanAttributes(html: string, from: number, found: FoundLinks, isLink: boolean): number {
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
    // The first of two attributes with the same name counts.
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

function positionAfter(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from);
  return at === -1 ? html.length : at + 1;
}

const NAMED_CHARACTERS = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);
const ENTITY = /&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z][a-z0-9]*));/gi;

/** Decodes the value of an `href`. Returns undefined when it contains unknown character references. */
export function linkTarget(value: string): string | undefined {
  if (!value.includes('&')) return value;
  let isDecoded = true;
  const text = value.replace(ENTITY, (whole, hex?: string, decimal?: string, name?: string) => {
    const character = name
      ? NAMED_CHARACTERS.get(name)
      : characterOf(Number.parseInt(hex ?? decimal ?? '', hex ? 16 : 10));
    if (character === undefined) isDecoded = false;
    return character ?? whole;
  });
  return isDecoded ? text : undefined;
}

const characterOf = (code: number): string | undefined =>
  code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : undefined;

/** Escapes a value for an attribute with double quotes, single quotes or none. */
export const escapeAttribute = (value: string): string =>
  /[&"'<>\s`=]/.test(value) ? value.replace(/[&"'<>\s`=]/g, (character) => `&#${character.charCodeAt(0)};`) : value;
