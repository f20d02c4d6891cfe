import { linksIn, linkTarget, type Span } from '../../platform/mime/html-links.ts';

/** Where a body has a link. */
export interface LinkPlace {
  /** Its position among the links of the body, from 0. */
  index: number;
  /** What the reader sees, or the alternative text of a picture; empty where there is neither. */
  text: string;
}

const MAX_TEXT = 200;
/** How much of the body behind a link is searched for its end. */
const MAX_CONTENT = 20_000;

/** Returns the first place of each address, as the body has it. */
export function linkPlaces(html: string): Map<string, LinkPlace> {
  const places = new Map<string, LinkPlace>();
  for (const [index, [start, end]] of linksIn(html).links.entries()) {
    const address = linkTarget(html.slice(start, end))?.trim();
    if (address && !places.has(address)) places.set(address, { index, text: textBehind(html, [start, end]) });
  }
  return places;
}

function textBehind(html: string, [, end]: Span): string {
  const content = html.slice(html.indexOf('>', end) + 1, end + MAX_CONTENT);
  const close = content.search(/<\/a[\s>]/i);
  const inner = close === -1 ? '' : content.slice(0, close);
  const text = plain(inner.replace(/<[^>]*>/g, ' '));
  return (text || plain(/\salt\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(inner)?.slice(1).join('') ?? '')).slice(
    0,
    MAX_TEXT,
  );
}

const plain = (text: string): string =>
  (linkTarget(text) ?? text)
    .replaceAll('&nbsp;', ' ')
    .replace(/[\s\u200b\u200c\u00a0]+/g, ' ')
    .trim();
