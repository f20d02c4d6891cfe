import type joi from 'joi';
import { type BrandKit, brandKitSchema } from '../../platform/mail-document/index.ts';
import { named, referenceTo } from './json-schema.ts';
import type { Typed } from './typed.ts';
import { documented } from './violations.ts';

const colorTexts = {
  background: 'Color around the email.',
  surface: 'Color of the email.',
  text: 'Color of the text.',
  link: 'Color of links.',
  button: 'Color of buttons.',
  buttonText: 'Color of the text on buttons.',
};

const texts: Record<string, string> = {
  logoUrl: 'URL of the logo, http or https; none by default.',
  colors: 'Colors, as #rrggbb.',
  darkColors: 'Colors in dark mode, as #rrggbb.',
  font: 'Font of the text.',
  headingFont: 'Font of headings.',
  radius: 'Radius of the corners of buttons in pixels.',
  address: 'Postal address for the footer; none by default.',
  socialLinks: 'Links to social networks; none by default.',
  ...Object.fromEntries(
    ['colors', 'darkColors'].flatMap((group) =>
      Object.entries(colorTexts).map(([name, text]) => [`${group}.${name}`, text]),
    ),
  ),
};

const described = Object.entries(texts).reduce<joi.ObjectSchema>(
  (schema, [path, text]) => schema.fork(path, (field) => field.description(text)),
  brandKitSchema,
);

/** Types of the document in place of custom rules, and of what a nested list would repeat. */
const withTypes = described
  .fork('logoUrl', (field) => documented(field, { type: ['string', 'null'], format: 'uri', pattern: '^https?://' }))
  .fork('socialLinks', (field) => documented(field, { items: referenceTo('SocialLink') }));

/** What is left out has its default. */
export const saveBrandKitRequest: Typed<BrandKit> = named(
  'SaveBrandKitRequest',
  'All fields of the brand kit.',
  withTypes,
);
