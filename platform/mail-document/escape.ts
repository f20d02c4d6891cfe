import { splitAtTags } from '../templates/index.ts';
import { type AddressUse, startsWithTag, withoutTextControls } from './addresses.ts';

// Text is never code: a brace is written as an entity, which the template language does not see.

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '{': '&#123;',
  '\u00a0': '&nbsp;',
};

const entity = (char: string): string => ENTITIES[char] ?? char;

/** Most texts need no change, which this finds in one pass. */
const UNCHANGED = /^[ !#-%'-;=?-z|}~]*$/;

/** The text of a document. Control characters have no meaning in it, and would keep the email from being precompiled. */
export const documentText = (text: string): string =>
  UNCHANGED.test(text) ? text : withoutTextControls(text).replace(/[&<>"{\u00a0]/g, entity);

/** The text and the attributes of an html block, where braces may be template tags. */
export const htmlText = (text: string): string => text.replace(/[&<>"\u00a0]/g, entity);

/** Template tags stay as written. */
export const escapedAroundTags = (address: string): string =>
  splitAtTags(address)
    .map((piece, index) => (index % 2 === 0 ? piece.replace(/[&<>"{]/g, entity) : piece))
    .join('');

/**
 * A filter checks an address that begins with a tag when the email is rendered, because only then its scheme is known.
 */
const guard = (use: AddressUse): string => `{% filter ${use === 'href' ? 'linkaddress' : 'imageaddress'} %}`;
const GUARD_END = '{% endfilter %}';

export function addressHtml(address: string, use: AddressUse): string {
  const html = escapedAroundTags(address);
  return startsWithTag(address) ? guard(use) + html + GUARD_END : html;
}

const ADDRESS_START = /\s(href|src|background)="$/;

/** Does the same for the addresses of an html block, which clean-html.ts has written. */
export function guardAddresses(html: string): string {
  const pieces = splitAtTags(html);
  for (let index = 0; index + 1 < pieces.length; index += 2) {
    const name = ADDRESS_START.exec(pieces[index] ?? '')?.[1];
    if (name === undefined) continue;
    pieces[index] += guard(name === 'href' ? 'href' : 'src');
    let end = index + 2;
    while (end < pieces.length && !pieces[end]?.includes('"')) end += 2;
    pieces[end] = pieces[end]?.replace('"', `${GUARD_END}"`) ?? '';
  }
  return pieces.join('');
}
