import joi from 'joi';
import { refuse } from '../joi-violations.ts';
import { type AddressUse, addressFault, startsWithTag, withoutControls } from './addresses.ts';
import { fonts, socialNetworks } from './brand-kit.ts';
import type { Block, Column } from './types.ts';
import { isWord, MAX_FALLBACK, nameFault, reservedItems, variableFormats } from './variables.ts';

// The attributes of every node. Those that are left out take the defaults here.

const COLOR = /^#[0-9a-f]{6}$/i;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MAX_ADDRESS = 8_192;
const MAX_SOCIAL_LINKS = 20;

const color = () =>
  joi.string().pattern(COLOR).messages({ 'string.pattern.base': '{{#label}} must be a color such as #1a2b3c' });
const kitColor = () => color().allow(null).default(null);
export const solidColor = color;

export const kitFontName = () => joi.string().valid(...fonts);
const kitFont = () => kitFontName().allow(null).default(null);

const align = (fallback: string) => joi.string().valid('left', 'center', 'right').default(fallback);

/** The messages of `refuse`. */
const ruleMessages = Object.fromEntries(
  ['required', 'invalid_type', 'invalid_string', 'too_small', 'too_big', 'invalid_enum', 'custom'].map((code) => [
    `fault.${code}`,
    '{{#label}} {{#rule}}',
  ]),
);

export const address = (use: AddressUse) =>
  (use === 'href' ? joi.string().allow('') : joi.string())
    .max(MAX_ADDRESS)
    .custom((value: string, helpers) => {
      const cleaned = withoutControls(value).trim();
      const fault = addressFault(cleaned, use);
      return fault === undefined ? cleaned : refuse(helpers, 'invalid_string', fault);
    })
    .messages(ruleMessages);

/** An address of the brand kit, which has no template tags. */
export const kitAddress = () =>
  joi
    .string()
    .max(MAX_ADDRESS)
    .custom((value: string, helpers) => {
      const cleaned = withoutControls(value).trim();
      const fault = startsWithTag(cleaned) ? 'must not begin with a template tag' : addressFault(cleaned, 'src');
      return fault === undefined ? cleaned : refuse(helpers, 'invalid_string', fault);
    })
    .messages(ruleMessages);

const variableName = () =>
  joi
    .string()
    .custom((value: string, helpers) => {
      const fault = nameFault(value);
      return fault === undefined ? value : refuse(helpers, 'invalid_string', fault);
    })
    .messages(ruleMessages);

const itemName = () =>
  joi
    .string()
    .custom((value: string, helpers) => {
      const fault = nameFault(value);
      if (fault !== undefined) return refuse(helpers, 'invalid_string', fault);
      if (isWord(value) && !reservedItems.has(value)) return value;
      return refuse(helpers, 'invalid_string', 'must be one word that is no built-in variable');
    })
    .messages(ruleMessages);

const socialLink = (href: joi.StringSchema) =>
  joi.object({
    network: joi
      .string()
      .valid(...socialNetworks.keys())
      .required(),
    href: href.required(),
  });

export const socialLinks = (href: joi.StringSchema) => joi.array().items(socialLink(href)).max(MAX_SOCIAL_LINKS);

export const blockAttributes: Record<Block['type'], joi.ObjectSchema> = {
  heading: joi.object({ level: joi.number().valid(1, 2, 3).default(1), align: align('left') }),
  paragraph: joi.object({
    align: align('left'),
    size: joi.string().valid('small', 'normal', 'large').default('normal'),
  }),
  bulletList: joi.object({}),
  orderedList: joi.object({}),
  image: joi.object({
    src: address('src').required(),
    alt: joi.string().allow('').default(''),
    decorative: joi.boolean().default(false),
    width: joi.number().integer().min(1).max(600).default(552),
    href: address('href').allow(null).default(null),
    align: align('center'),
    full: joi.boolean().default(false),
  }),
  button: joi.object({
    href: address('href').default(''),
    align: align('left'),
    background: kitColor(),
    color: kitColor(),
    fullOnPhone: joi.boolean().default(false),
  }),
  columns: joi.object({
    valign: joi.string().valid('top', 'middle', 'bottom').default('top'),
    stack: joi.boolean().default(true),
  }),
  section: joi.object({ background: kitColor(), padding: joi.number().integer().min(0).max(64).default(16) }),
  divider: joi.object({ color: kitColor() }),
  spacer: joi.object({ height: joi.number().integer().min(1).max(200).default(24) }),
  social: joi.object({ align: align('center'), links: socialLinks(address('href')).allow(null).default(null) }),
  // condition.ts reads the test.
  condition: joi.object({ test: joi.any().required() }),
  repeat: joi.object({
    list: variableName().default('items'),
    item: itemName().default('item'),
    limit: joi.number().integer().min(1).max(100).default(20),
  }),
  footer: joi.object({ align: align('center') }),
  saved: joi.object({
    blockId: joi
      .string()
      .pattern(UUID)
      .required()
      .messages({ 'string.pattern.base': '{{#label}} must be the id of a saved block' })
      .custom((value: string) => value.toLowerCase()),
  }),
  html: joi.object({ html: joi.string().allow('').default('') }),
};

export const columnAttributes: joi.ObjectSchema<Column['attrs']> = joi.object({
  width: joi.number().integer().min(1).max(100),
});

export const variableAttributes = joi.object({
  name: variableName().required(),
  fallback: joi.string().allow('', null).max(MAX_FALLBACK).default(null),
  format: joi
    .string()
    .valid(...variableFormats)
    .allow(null)
    .default(null),
});

export const markAttributes = {
  link: joi.object({ href: address('href').default('') }),
  color: joi.object({ color: color().required() }),
};

export const themeAttributes = joi.object({
  background: kitColor(),
  surface: kitColor(),
  text: kitColor(),
  link: kitColor(),
  button: kitColor(),
  font: kitFont(),
  width: joi.number().valid(600).default(600),
});
