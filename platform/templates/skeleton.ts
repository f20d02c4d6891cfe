import { escapeHtml } from './language/escape.ts';
import { fillPlaceholders, splitAtPlaceholders } from './language/placeholders.ts';

/** What mails of the same template and the same branches share (see language/marks.ts). */
export interface TemplateSkeleton {
  /** HTML with a placeholder for each value. */
  html: string;
  /** The text part in pieces: every odd item is the number of a value. */
  text: string[];
  /** Has too many placeholders to be worth sharing. */
  crowded: boolean;
}

/** A mail as its skeleton and its own values. */
export interface SkeletonMail {
  skeleton: TemplateSkeleton;
  /** Not escaped. */
  values: string[];
}

const pieces = new WeakMap<TemplateSkeleton, string[]>();

/** Returns the HTML exactly as it was rendered. */
export function htmlOf({ skeleton, values }: SkeletonMail): string {
  let html = pieces.get(skeleton);
  if (!html) {
    html = splitAtPlaceholders(skeleton.html);
    pieces.set(skeleton, html);
  }
  return html.length === 1 ? skeleton.html : fillPlaceholders(html, values.map(escapeHtml));
}

export const textOf = ({ skeleton, values }: SkeletonMail): string => fillPlaceholders(skeleton.text, values);
