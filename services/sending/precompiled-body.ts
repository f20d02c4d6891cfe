import type { PrecompiledBody } from '../../platform/mime/compose.ts';
import { escapeAttribute, linksIn, linkTarget, type Span } from '../../platform/mime/html-links.ts';
import { type PrecompiledPiece, PrecompiledText } from '../../platform/mime/precompiled-text.ts';
import { bodyEnd } from '../../platform/templates/body-end.ts';
import { escapeHtml } from '../../platform/templates/language/escape.ts';
import {
  fillPlaceholders,
  placeholdersIn,
  splitAtPlaceholders,
} from '../../platform/templates/language/placeholders.ts';
import type { TemplateSkeleton } from '../../platform/templates/skeleton.ts';
import { type MailTracking, PIXEL } from './add-tracking.ts';

/** The values of one mail. */
export interface BodyValues {
  values: string[];
  escaped: string[];
  tracking: MailTracking | undefined;
}

export const bodyValues = (values: string[], tracking: MailTracking | undefined): BodyValues => ({
  values,
  escaped: values.map(escapeHtml),
  tracking,
});

type Body = PrecompiledBody<BodyValues>;
type Piece = PrecompiledPiece<BodyValues>;

const MAX_PIECES = 2_000;

/** Undefined after the first mail of a skeleton; null for a skeleton that cannot be precompiled. */
type CachedBody = Body | null | undefined;
const tracked = new WeakMap<TemplateSkeleton, CachedBody>();
const untracked = new WeakMap<TemplateSkeleton, CachedBody>();

/**
 * Returns the precompiled body for mails with this skeleton, equal to the output of `addTracking`. Returns undefined where
 * that is not certain, and for the first mail, because many skeletons are used only once.
 */
export function precompiledBody(skeleton: TemplateSkeleton, isTracked: boolean): Body | undefined {
  const bodies = isTracked ? tracked : untracked;
  let body = bodies.get(skeleton);
  if (body === undefined && bodies.has(skeleton)) body = precompile(skeleton, isTracked) ?? null;
  bodies.set(skeleton, body);
  return body ?? undefined;
}

function precompile({ html, text }: TemplateSkeleton, isTracked: boolean): Body | undefined {
  const pieces = isTracked ? trackedPieces(html) : valuesIn(html);
  if (!pieces || pieces.length > MAX_PIECES) return undefined;
  const htmlPart = PrecompiledText.of(pieces);
  const isEmpty = text.length === 1 && text[0] === '';
  const textPart = isEmpty
    ? undefined
    : PrecompiledText.of<BodyValues>(
        text.map((piece, index) => (index % 2 === 0 ? piece : ({ values }) => values[Number(piece)] ?? '')),
      );
  return htmlPart && (isEmpty || textPart) ? { html: htmlPart, text: textPart } : undefined;
}

const valuesIn = (html: string): Piece[] =>
  splitAtPlaceholders(html).map((piece, index) =>
    index % 2 === 0 ? piece : ({ escaped }) => escaped[Number(piece)] ?? '',
  );

/** Returns undefined where a value could change what is a link, or where the body ends. */
function trackedPieces(html: string): Piece[] | undefined {
  const open: Span[] = [];
  const { links } = linksIn(html, { links: [], open });
  const end = bodyEnd(html);
  if (!areOpen(html, open) || links.some(([start, stop]) => start <= end && end < stop)) return undefined;
  const pieces: Piece[] = [];
  let at = 0;
  const copyUpTo = (position: number) => {
    pieces.push(...valuesIn(html.slice(at, position)));
    at = position;
  };
  const addPixel = () => {
    copyUpTo(end);
    pieces.push(PIXEL[0], ({ tracking }) => tracking?.openUrl ?? '', PIXEL[1]);
  };
  let hasPixel = false;
  for (const [index, [start, stop]] of links.entries()) {
    if (start > end && !hasPixel) {
      addPixel();
      hasPixel = true;
    }
    copyUpTo(start);
    pieces.push(linkPiece(html.slice(start, stop), index));
    at = stop;
  }
  if (!hasPixel) addPixel();
  copyUpTo(html.length);
  return pieces;
}

function linkPiece(value: string, index: number): Piece {
  const parts = splitAtPlaceholders(value);
  if (parts.length > 1)
    return ({ escaped, tracking }) => {
      const whole = fillPlaceholders(parts, escaped);
      return trackedLink(whole, linkTarget(whole), index, tracking);
    };
  const target = linkTarget(value);
  return target === undefined ? value : ({ tracking }) => trackedLink(value, target, index, tracking);
}

function trackedLink(
  value: string,
  target: string | undefined,
  index: number,
  tracking: MailTracking | undefined,
): string {
  const url = target === undefined ? undefined : tracking?.clickUrl(target, index);
  return url === undefined ? value : escapeAttribute(url);
}

/** The beginning of a tag: text that follows belongs to its name. */
const TAG_BEGUN = /<[^\s>]*$/;
/** The longest name that matters is that of `</noframes`. */
const LONGEST_NAME = 12;

/** Whether all placeholders stand in text or between quotes, where an escaped value changes nothing about tags. */
function areOpen(html: string, open: Span[]): boolean {
  let index = 0;
  return placeholdersIn(html).every(({ start, end }) => {
    while ((open[index]?.[1] ?? html.length) < end) index++;
    const from = open[index]?.[0] ?? html.length;
    return from <= start && !TAG_BEGUN.test(html.slice(Math.max(0, start - LONGEST_NAME), start));
  });
}
