import joi from 'joi';
import { kitAddress, kitFontName, socialLinks, solidColor } from './attributes.ts';
import { defaultBrandKit } from './brand-kit.ts';
import { isObject, ParseState } from './parse-state.ts';
import { scanValue } from './scan-value.ts';
import type { BrandColors, BrandKit, DocumentViolation } from './types.ts';

const MAX_ADDRESS_TEXT = 1_000;

const colors = (fallback: BrandColors) =>
  joi
    .object(Object.fromEntries(Object.entries(fallback).map(([name, value]) => [name, solidColor().default(value)])))
    .default(fallback);

/** What is left out is the default. */
export const brandKitSchema: joi.ObjectSchema<BrandKit> = joi.object({
  logoUrl: kitAddress().allow(null).default(defaultBrandKit.logoUrl),
  colors: colors(defaultBrandKit.colors),
  darkColors: colors(defaultBrandKit.darkColors),
  font: kitFontName().default(defaultBrandKit.font),
  headingFont: kitFontName().default(defaultBrandKit.headingFont),
  radius: joi.number().integer().min(0).max(32).default(defaultBrandKit.radius),
  address: joi.string().allow('', null).max(MAX_ADDRESS_TEXT).default(defaultBrandKit.address),
  socialLinks: socialLinks(kitAddress()).default(defaultBrandKit.socialLinks),
});

export type ParsedBrandKit = { brandKit: BrandKit; errors?: never } | { brandKit?: never; errors: DocumentViolation[] };

export function parseBrandKit(value: unknown): ParsedBrandKit {
  const unstorable = scanValue(value);
  if (unstorable) return { errors: [unstorable] };
  const state = new ParseState(undefined);
  if (!isObject(value)) state.report('', 'invalid_type', 'must be an object');
  const brandKit = state.validate<BrandKit>(brandKitSchema, value, '');
  return brandKit && state.violations.length === 0 ? { brandKit } : { errors: state.violations };
}
