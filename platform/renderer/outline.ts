import { escapeHtml } from './language/escape.ts';
import { putTogether, takeApart } from './language/marks.ts';

/** What mails have in common that took the same way through their template (see language/marks.ts). */
export interface Outline {
  /** HTML with a mark in place of each value. */
  html: string;
  /** The text part: at every odd place the number of a value. */
  text: string[];
  /** More marks than are worth anybody's while. */
  crowded: boolean;
}

/** A mail as what it shares with others, and what is its own. */
export interface Outlined {
  outline: Outline;
  /** As they were before they were escaped. */
  values: string[];
}

const pieces = new WeakMap<Outline, string[]>();

/** What was rendered, to the letter. */
export function htmlOf({ outline, values }: Outlined): string {
  let html = pieces.get(outline);
  if (!html) {
    html = takeApart(outline.html);
    pieces.set(outline, html);
  }
  return html.length === 1 ? outline.html : putTogether(html, values.map(escapeHtml));
}

export const textOf = ({ outline, values }: Outlined): string => putTogether(outline.text, values);
