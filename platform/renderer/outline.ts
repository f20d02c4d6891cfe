import { escapeHtml } from './language/escape.ts';
import { putTogether, takeApart } from './language/marks.ts';

/** What mails of the same template and the same branches share (see language/marks.ts). */
export interface Outline {
  /** HTML with a placeholder for each value. */
  html: string;
  /** The text part in pieces: every odd item is the number of a value. */
  text: string[];
  /** Has too many placeholders to be worth sharing. */
  crowded: boolean;
}

/** A mail as its outline and its own values. */
export interface Outlined {
  outline: Outline;
  /** Not escaped. */
  values: string[];
}

const pieces = new WeakMap<Outline, string[]>();

/** Returns the HTML exactly as it was rendered. */
export function htmlOf({ outline, values }: Outlined): string {
  let html = pieces.get(outline);
  if (!html) {
    html = takeApart(outline.html);
    pieces.set(outline, html);
  }
  return html.length === 1 ? outline.html : putTogether(html, values.map(escapeHtml));
}

export const textOf = ({ outline, values }: Outlined): string => putTogether(outline.text, values);
