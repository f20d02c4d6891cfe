/** RFC 5322, 2.1.1: the longest line. The contract sets the same limit for subjects. */
const MAX_SUBJECT = 998;

/** Makes a text fit for a subject: one line of limited length. */
export function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  return (line.length > MAX_SUBJECT ? line.slice(0, MAX_SUBJECT) : line).replace(/\p{Surrogate}/gu, '');
}
