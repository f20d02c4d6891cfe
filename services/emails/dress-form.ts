import { escapeAttribute, linksIn, linkTarget, type Span } from '../../platform/mime/html-links.ts';
import { type PrecompiledPiece, PrecompiledText } from '../../platform/mime/precompiled-text.ts';
import type { PrecompiledBody } from '../../platform/smtp/mailer.ts';
import {
  bodyEnd,
  escapeHtml,
  fillPlaceholders,
  placeholdersIn,
  type SkeletonMail,
  splitAtPlaceholders,
  type TemplateSkeleton,
} from '../../platform/templates/index.ts';
import { PIXEL, type Tracks } from './dress.ts';

/** The values of one mail. */
export interface DressFilling {
  values: string[];
  escaped: string[];
  tracks: Tracks | undefined;
}

export const fillingOf = ({ values }: SkeletonMail, tracks: Tracks | undefined): DressFilling => ({
  values,
  escaped: values.map(escapeHtml),
  tracks,
});

export type DressForm = PrecompiledBody<DressFilling>;
type Piece = PrecompiledPiece<DressFilling>;

const MOST_HOLES = 1_000;

/** Undefined for one that was seen once, null for one that no form can be made of. */
type Known = DressForm | null | undefined;
const [tracked, untracked] = [new WeakMap<TemplateSkeleton, Known>(), new WeakMap<TemplateSkeleton, Known>()];

/**
 * Returns the precompiled body for mails with this skeleton, equal to the output of `withTracks`. Returns undefined where
 * that is not certain, and for the first mail, because many skeletons are used only once.
 */
export function formOf(skeleton: TemplateSkeleton, isTracked: boolean): DressForm | undefined {
  const forms = isTracked ? tracked : untracked;
  let form = forms.get(skeleton);
  if (form === undefined && forms.has(skeleton)) form = madeOf(skeleton, isTracked) ?? null;
  forms.set(skeleton, form);
  return form ?? undefined;
}

function madeOf({ html, text }: TemplateSkeleton, isTracked: boolean): DressForm | undefined {
  const pieces = isTracked ? trackedPieces(html) : valuesIn(html);
  if (!pieces || pieces.length > MOST_HOLES * 2) return undefined;
  const htmlForm = PrecompiledText.of(pieces);
  const isEmpty = text.length === 1 && text[0] === '';
  const textForm = isEmpty
    ? undefined
    : PrecompiledText.of<DressFilling>(
        text.map((piece, place) => (place % 2 === 0 ? piece : ({ values }) => values[Number(piece)] ?? '')),
      );
  return htmlForm && (isEmpty || textForm) ? { html: htmlForm, text: textForm } : undefined;
}

const valuesIn = (html: string): Piece[] =>
  splitAtPlaceholders(html).map((piece, place) =>
    place % 2 === 0 ? piece : ({ escaped }) => escaped[Number(piece)] ?? '',
  );

/** Undefined where a value could decide over what is a link, or where the body ends. */
function trackedPieces(html: string): Piece[] | undefined {
  const open: Span[] = [];
  const { links } = linksIn(html, { links: [], open });
  const end = bodyEnd(html);
  if (!areOpen(html, open) || links.some(([start, stop]) => start <= end && end < stop)) return undefined;
  const pieces: Piece[] = [];
  let at = 0;
  const upTo = (place: number) => {
    pieces.push(...valuesIn(html.slice(at, place)));
    at = place;
  };
  const pixel = () => {
    upTo(end);
    pieces.push(PIXEL[0], ({ tracks }) => tracks?.openUrl ?? '', PIXEL[1]);
  };
  let hasPixel = false;
  for (const [start, stop] of links) {
    if (start > end && !hasPixel) {
      pixel();
      hasPixel = true;
    }
    upTo(start);
    pieces.push(linkPiece(html.slice(start, stop)));
    at = stop;
  }
  if (!hasPixel) pixel();
  upTo(html.length);
  return pieces;
}

function linkPiece(value: string): Piece {
  const parts = splitAtPlaceholders(value);
  if (parts.length > 1)
    return ({ escaped, tracks }) => {
      const whole = fillPlaceholders(parts, escaped);
      return followed(whole, linkTarget(whole), tracks);
    };
  const target = linkTarget(value);
  return target === undefined ? value : ({ tracks }) => followed(value, target, tracks);
}

function followed(value: string, target: string | undefined, tracks: Tracks | undefined): string {
  const url = target === undefined ? undefined : tracks?.follow(target);
  return url === undefined ? value : escapeAttribute(url);
}

/** A name of a tag that is not over: what comes next belongs to it, whether it is one by now or not. */
const TAG_BEGUN = /<[^\s>]*$/;
/** The longest name that matters is that of `</noframes`. */
const LONGEST_NAME = 12;

/** A value that is escaped changes nothing about tags where it stands in a text, or between quotes. */
function areOpen(html: string, open: Span[]): boolean {
  let place = 0;
  return placeholdersIn(html).every(({ start, end }) => {
    while ((open[place]?.[1] ?? html.length) < end) place++;
    const from = open[place]?.[0] ?? html.length;
    return from <= start && !TAG_BEGUN.test(html.slice(Math.max(0, start - LONGEST_NAME), start));
  });
}
