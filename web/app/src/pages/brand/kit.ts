import type { BrandKit, SaveBrandKitRequest } from '../../api/api-types.ts';

/** The brand kit as the page edits it: texts where the API has null. */
export interface KitForm extends Pick<BrandKit, 'colors' | 'darkColors' | 'font' | 'headingFont' | 'radius'> {
  logoUrl: string;
  address: string;
  socialLinks: BrandKit['socialLinks'];
}

export const formOf = ({ updatedAt: _, logoUrl, address, ...kit }: BrandKit): KitForm => ({
  ...kit,
  logoUrl: logoUrl ?? '',
  address: address ?? '',
});

/** The body of the API. A link without an address is not complete yet. */
export const requestOf = ({ logoUrl, address, socialLinks, ...kit }: KitForm): SaveBrandKitRequest => ({
  ...kit,
  // Answers have the names of fonts and networks as any text.
  font: kit.font as SaveBrandKitRequest['font'],
  headingFont: kit.headingFont as SaveBrandKitRequest['headingFont'],
  logoUrl: logoUrl || null,
  address: address.trim() || null,
  socialLinks: socialLinks.filter(({ href }) => href !== ''),
});

/** Returns an address that the brand kit accepts, or undefined. */
export function webAddress(typed: string): string | undefined {
  const address = typed.trim();
  if (address === '' || /^https?:\/\/[^\s{]+$/i.test(address)) return address;
  // "example.com/path" without a scheme.
  return /^[\w-]+(?:\.[\w-]+)+(?:[/?#:]\S*)?$/.test(address) ? `https://${address}` : undefined;
}
