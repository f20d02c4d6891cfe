import { splitAtTags } from '../templates/index.ts';

// The footer of a document is marked in the HTML, so that sending can see it without the document.

export const FOOTER_START = '<!--footer-->';
export const FOOTER_END = '<!--/footer-->';

const UNSUBSCRIBE_LINK = /\shref="[^"]*unsubscribe(?:All)?Url/;
const OPENING = /^\{%-?\s*(?:if|for|switch|macro|call|raw|verbatim|filter)\b/;
const CLOSING = /^\{%-?\s*end(?!set\b)/;

/** Whether a body, as it is stored, always has an own footer with an unsubscribe link, so that ours is left out. */
export function hasOwnFooter(body: string): boolean {
  const start = body.indexOf(FOOTER_START);
  const end = start === -1 ? -1 : body.indexOf(FOOTER_END, start);
  if (end === -1) return false;
  const link = UNSUBSCRIBE_LINK.exec(body.slice(start, end));
  return link !== null && isUnconditional(body.slice(0, start + link.index));
}

/** Whether no block tag is open at the end, so that what follows is in every email. */
function isUnconditional(before: string): boolean {
  let open = 0;
  for (const piece of splitAtTags(before))
    if (OPENING.test(piece)) open++;
    else if (CLOSING.test(piece)) open--;
  return open === 0;
}
