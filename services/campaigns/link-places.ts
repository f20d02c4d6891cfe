import { linksIn, linkTarget, type Span } from '../../platform/mime/html-links.ts';

/** Where a body has a link. */
export interface LinkPlace {
  /** Its position among the links of the body, from 0. */
  index: number;
  /** What the reader sees, or the alternative text of a picture; empty where there is neither. */
  text: string;
}

const END_TAG = /<\/a[\s>]/i;
const MAX_TEXT = 200;
/** How much of the body behind a link is searched for its end. */
const MAX_CONTENT = 20_000;

/** A link of a body with its address, as the body has it. */
export interface WrittenLink extends LinkPlace {
  link: string;
  /** Where the content of the link ends. */
  contentEnd: number;
}

/** As many as a click map shows. Looking for the text of a link takes time. */
const MAX_LINKS = 1_000;

/** Returns the first links of a body in their order, those that `isWanted`. */
export function writtenLinks(html: string, isWanted: (link: string) => boolean = () => true): WrittenLink[] {
  const found: WrittenLink[] = [];
  for (const [index, span] of linksIn(html).links.entries()) {
    if (found.length === MAX_LINKS || index > MAX_INDEX) break;
    const link = linkTarget(html.slice(...span))?.trim();
    if (!link || !isWanted(link)) continue;
    found.push({ index, link, text: textBehind(html, span), contentEnd: contentEndOf(html, span) });
  }
  return found;
}

/** A smallint. */
const MAX_INDEX = 32_767;

/** Returns the first place of each address. */
export function linkPlaces(html: string): Map<string, LinkPlace> {
  const places = new Map<string, LinkPlace>();
  for (const { link, index, text } of writtenLinks(html)) if (!places.has(link)) places.set(link, { index, text });
  return places;
}

/** The position of the end tag, or that behind the start tag where there is none. */
function contentEndOf(html: string, [, end]: Span): number {
  const start = html.indexOf('>', end) + 1;
  const length = html.slice(start, end + MAX_CONTENT).search(END_TAG);
  return start + Math.max(length, 0);
}

function textBehind(html: string, [, end]: Span): string {
  const content = html.slice(html.indexOf('>', end) + 1, end + MAX_CONTENT);
  const close = content.search(END_TAG);
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
