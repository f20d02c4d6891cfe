import { isTrue } from './values.ts';

const TAG_NAME = /\/?[a-z][a-z0-9]*/iy;

/** Removes tags and comments, and keeps a `<` that begins neither. Takes linear time. */
export function stripTags(html: string, [keepLineBreaks]: unknown[]): string {
  const text = withoutTags(html).trim();
  if (!isTrue(keepLineBreaks)) return text.replace(/\s+/g, ' ');
  const lines = text.replace(/\r\n/g, '\n').split('\n');
  return lines
    .map((line) => line.replace(/ +/g, ' ').replace(/^ | $/g, ''))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n');
}

function withoutTags(html: string): string {
  let text = '';
  let from = 0;
  // Once no end is found, later tags have none either; searching again would be quadratic.
  let tagEndAhead = true;
  let commentEndAhead = true;
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at + 1)) {
    let end = -1;
    if (commentEndAhead && html.startsWith('<!--', at)) {
      end = html.indexOf('-->', at + 4);
      commentEndAhead = end !== -1;
      if (commentEndAhead) end += 2;
    } else if (tagEndAhead && isTagName(html, at + 1)) {
      end = html.indexOf('>', at + 1);
      tagEndAhead = end !== -1;
    }
    if (end === -1) continue;
    text += html.slice(from, at);
    from = end + 1;
    at = end;
  }
  return text + html.slice(from);
}

function isTagName(html: string, at: number): boolean {
  TAG_NAME.lastIndex = at;
  if (!TAG_NAME.test(html)) return false;
  return html[TAG_NAME.lastIndex] !== '_';
}
