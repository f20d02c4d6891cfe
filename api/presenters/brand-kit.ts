import type { StoredBrandKit } from '../../services/mail-documents/brand-kit.ts';
import { dateTime, list, namedType, nullable, text, wholeNumber } from '../http/schemas.ts';

const color = (description: string, example: string) => text().description(description).example(example);

const colorsSchema = namedType('BrandColors', 'The colors of a brand.', {
  background: color('Color around the email.', '#f4f5f7'),
  surface: color('Color of the email.', '#ffffff'),
  text: color('Color of the text.', '#1f2933'),
  link: color('Color of links.', '#1d4ed8'),
  button: color('Color of buttons.', '#1d4ed8'),
  buttonText: color('Color of the text on buttons.', '#ffffff'),
});

const socialLinkSchema = namedType('SocialLink', 'A link to a social network.', {
  network: text().description('Network.').example('github'),
  href: text().description('URL, http or https.').example('https://github.com/example'),
});

export const brandKitAnswer = namedType('BrandKit', 'What the documents of a project are rendered with.', {
  logoUrl: nullable(text()).description('URL of the logo; null if there is none.'),
  colors: colorsSchema.description('Colors.'),
  darkColors: colorsSchema.description('Colors in dark mode.'),
  font: text().description('Font of the text.').example('Arial'),
  headingFont: text().description('Font of headings.').example('Arial'),
  radius: wholeNumber({ min: 0, max: 32 }).description('Radius of the corners of buttons in pixels.'),
  address: nullable(text({ min: 0 })).description('Postal address for the footer; null if there is none.'),
  socialLinks: list(socialLinkSchema).description('Links to social networks.'),
  updatedAt: nullable(dateTime()).description('When the brand kit last changed; null if it never did.'),
});

export const presentBrandKit = ({ kit, updatedAt }: StoredBrandKit) => ({
  ...kit,
  updatedAt: updatedAt?.toISOString() ?? null,
});
