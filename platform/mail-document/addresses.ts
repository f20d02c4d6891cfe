import { checkTemplate } from '../templates/index.ts';

// The addresses of links and images. Template tags in them stay as written.

const TAG = /\{[{%#]/;
/** What browsers ignore in an address, or before it. */
const CONTROLS = /\p{Cc}/gu;
const SCHEME = /^([a-z][a-z0-9+.-]*):/i;

export type AddressUse = 'href' | 'src';

const schemes: Record<AddressUse, string[]> = {
  href: ['http', 'https', 'mailto', 'tel', 'sms'],
  src: ['http', 'https'],
};

/** All but those that are spaces. */
const TEXT_CONTROLS = /[^\P{Cc}\t\n\r]/gu;

export const withoutControls = (text: string): string => text.replace(CONTROLS, '');
export const withoutTextControls = (text: string): string => text.replace(TEXT_CONTROLS, '');

/** Returns which rule an address breaks, as the rest of a sentence that begins with its name. */
export function addressFault(address: string, use: AddressUse): string | undefined {
  const [fault] = TAG.test(address) ? checkTemplate(address) : [];
  if (fault) return `is not a valid template: ${fault.message}`;
  if (use === 'href' && (address === '' || address.startsWith('#'))) return undefined;
  if (startsWithTag(address)) return undefined;
  const [fixed = ''] = address.split(TAG, 1);
  const scheme = SCHEME.exec(fixed)?.[1]?.toLowerCase();
  if (scheme !== undefined && schemes[use].includes(scheme)) return undefined;
  const allowed = schemes[use].map((name) => `${name}:`).join(', ');
  return scheme === undefined ? `must be a full address that begins with ${allowed}` : `must begin with ${allowed}`;
}

export const startsWithTag = (address: string): boolean => address.search(TAG) === 0;

export const isEmptyLink = (address: string): boolean => address === '' || address === '#';
