import { randomInt } from 'node:crypto';

// Variables in the URL of a webhook. Their values come from event data that clients send, so each is percent-encoded in
// its place, and none may stand where it could choose the host.

export type RenderedUrl = { url: string } | { refused: string };

/** Literal scheme, login, host and port. A backslash would be read as a slash. */
const FIXED_ORIGIN = /^\s*https?:\/\/[^/?#\\{}\s]+(?=[/?#]|\s*$)/i;
const HAS_TAG = /\{[{%#]/;
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

// Surrounds each `{{ … }}`, to tell values from text after rendering. Made of digits, which no filter changes, and random,
// so that no value can contain it.
const mark = String(randomInt(2 ** 47));
const START = `\u{E0A0}${mark}\u{E0A1}`;
const ESCAPED = `\u{E0A0}${mark}\u{E0A2}`;
const END = `\u{E0A0}${mark}\u{E0A3}`;

export interface UrlTemplate {
  /** Input of the renderer. */
  text: string;
  /** Reads the renderer's output. */
  read(rendered: string): RenderedUrl;
}

export function urlTemplate(template: string): UrlTemplate {
  if (!HAS_TAG.test(template)) return { text: template, read: (rendered) => ({ url: rendered }) };
  const [origin] = FIXED_ORIGIN.exec(template) ?? [];
  if (origin === undefined) return { text: template, read: (rendered) => ({ refused: variableHost(rendered) }) };
  return {
    text: origin + withMarks(template.slice(origin.length)),
    read: (rendered) => readRest(origin.trim(), rendered),
  };
}

function readRest(origin: string, rendered: string): RenderedUrl {
  const rest = rendered.startsWith(origin) ? encodeValues(rendered.slice(origin.length)) : undefined;
  if (rest === undefined) return { refused: 'the URL cannot be parsed after its variables are filled in' };
  const [path = ''] = rest.split(/[?#]/, 1);
  if (path.split(/[/\\]/).some((segment) => DOT_SEGMENT.test(segment)))
    return { refused: 'a variable makes a path segment "." or "..", which is not allowed' };
  return { url: origin + rest };
}

function variableHost(rendered: string): string {
  const host = URL.canParse(rendered) ? ` ("${new URL(rendered).host}")` : '';
  return `the host of the URL comes from a variable${host}; variables are allowed only in its path and query`;
}

/** Filters that encode a value themselves; their output is not encoded twice. */
const URL_ENCODED = /\|\s*urlencode\s*-?$/;

function withMarks(template: string): string {
  let text = '';
  let from = 0;
  for (;;) {
    const start = template.indexOf('{', from);
    const end = start < 0 ? -1 : tagEnd(template, start);
    if (start < 0) return text + template.slice(from);
    if (end < 0) {
      text += template.slice(from, start + 1);
      from = start + 1;
      continue;
    }
    const tag = template.slice(start, end);
    text += template.slice(from, start);
    if (tag.startsWith('{{')) text += (URL_ENCODED.test(tag.slice(0, -2)) ? ESCAPED : START) + tag + END;
    else text += tag;
    from = end;
  }
}

const CLOSING: Record<string, string> = { '{': '}}', '%': '%}', '#': '#}' };

/** Returns the end of the tag that begins at `start`, or -1 when there is none or it is never closed. */
function tagEnd(template: string, start: number): number {
  const kind = template[start + 1] ?? '';
  const closing = CLOSING[kind];
  if (!closing) return -1;
  for (let at = start + 2; at < template.length; at++) {
    if (template.startsWith(closing, at)) return at + 2;
    const char = template[at];
    if (kind !== '#' && (char === '"' || char === "'")) {
      at = stringEnd(template, at, char);
      if (at < 0) return -1;
    }
  }
  return -1;
}

function stringEnd(template: string, start: number, quote: string): number {
  for (let at = start + 1; at < template.length; at++) {
    if (template[at] === quote) return at;
    if (template[at] === '\\') at++;
  }
  return -1;
}

/** Returns undefined when rendering lost a mark, as a filter over a whole block does. */
function encodeValues(marked: string): string | undefined {
  let text = '';
  let from = 0;
  for (;;) {
    const start = marked.indexOf(`\u{E0A0}${mark}`, from);
    if (start < 0) return isClean(marked, from) ? text + marked.slice(from) : undefined;
    const escaped = marked.startsWith(ESCAPED, start);
    const end = marked.indexOf(END, start);
    if (end < 0 || (!escaped && !marked.startsWith(START, start))) return undefined;
    const value = marked.slice(start + START.length, end);
    // The output of a macro has marks inside the marks of its own tag.
    if (value.includes(mark)) return undefined;
    text += marked.slice(from, start) + (escaped ? encodeRest(value) : encode(value));
    from = end + END.length;
  }
}

const isClean = (text: string, from: number): boolean => text.indexOf(mark, from) < 0;

/** Encodes everything but letters, digits, `-`, `.`, `_` and `~` (RFC 3986, 2.3). */
const encode = (value: string): string =>
  encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\u{FFFD}')).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Encodes what an already encoded text may not have in a path segment or a query value. */
const encodeRest = (value: string): string => value.replace(/[^A-Za-z0-9\-._~%&=+]+/g, encode);
