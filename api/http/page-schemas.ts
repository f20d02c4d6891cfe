import joi from 'joi';
import { email, line, namedType, nullable, optional, request, text } from './schemas.ts';
import type { Typed } from './typed.ts';
import { documented, refuse } from './violations.ts';

const MAX_CSS_BYTES = 20_000;
const MAX_URL = 2_000;
const MAX_IMPRINT = 2_000;

export const httpUrl = (): Typed<string> =>
  documented(
    joi
      .string()
      .max(MAX_URL)
      .custom((value: string, helpers) =>
        /^https?:\/\//i.test(value) && URL.canParse(value)
          ? value
          : refuse(helpers, 'invalid_string', 'must be a URL that begins with http:// or https://'),
      )
      .required(),
    { format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' },
  );

export const color = (): Typed<string> =>
  joi
    .string()
    .pattern(/^#[0-9a-fA-F]{6}$/, 'color such as #4338ca')
    .required()
    .example('#4338ca');

/** Stands inside of a style element, which it must not end; what it imports could be changed later. */
export const css = (): Typed<string> =>
  documented(
    joi
      .string()
      .allow('')
      .custom((value: string, helpers) => {
        if (Buffer.byteLength(value) > MAX_CSS_BYTES)
          return refuse(helpers, 'too_big', `must not be longer than ${MAX_CSS_BYTES} bytes`);
        if (/<\/style/i.test(value)) return refuse(helpers, 'invalid_string', 'must not contain </style');
        if (/@import/i.test(withoutEscapes(value)))
          return refuse(helpers, 'invalid_string', 'must not contain @import');
        return value;
      })
      .required(),
    { maxLength: MAX_CSS_BYTES },
  );

/** CSS may write a letter as its code, and puts comments anywhere but inside of a word. */
const withoutEscapes = (text: string): string =>
  text.replace(/\\(?:([0-9a-fA-F]{1,6})\s?|(.))/gs, (_all, code?: string, letter?: string) => {
    const point = code === undefined ? 0 : Number.parseInt(code, 16);
    return code === undefined ? (letter ?? '') : point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : '';
  });

export const pageSettingsSchema = namedType('PageSettings', 'Settings of the pages that recipients see.', {
  from: nullable(text())
    .description('Sender of confirmations and links that have no sender of their own.')
    .example('hello@example.com'),
  senderName: nullable(text())
    .description('Name of the sender, in these emails and on the pages. The project name if null.')
    .example('Acme'),
  logoUrl: nullable(text())
    .description('URL of the logo, an uploaded image. That of the brand kit if null.')
    .example('https://mail.example.com/uploads/logo.png'),
  color: nullable(text())
    .description('Color of buttons and links, as #rrggbb. That of the brand kit if null.')
    .example('#4338ca'),
  css: nullable(text({ min: 0 }))
    .description('Styles added to the pages.')
    .example('main { border-radius: 0; }'),
  imprint: nullable(text({ min: 0 }))
    .description('Who is responsible for the pages; plain text below them.')
    .example('Acme Ltd., 1 Main Street, Dublin'),
  privacyUrl: nullable(text())
    .description('URL of the privacy policy, which the pages link to.')
    .example('https://example.com/privacy'),
});

export const updatePageSettingsRequest = request(
  'UpdatePageSettingsRequest',
  'The changes; fields that are left out stay as they are, null removes a value.',
  {
    from: optional(nullable(email())).description(
      'Sender of confirmations and links that have no sender of their own, at a verified domain.',
    ),
    senderName: optional(nullable(line({ max: 100 }))).description(
      'Name of the sender, in these emails and on the pages.',
    ),
    logoUrl: optional(nullable(text({ max: MAX_URL }))).description(
      'URL of an image that was uploaded to this project.',
    ),
    color: optional(nullable(color())).description('Color of buttons and links, as #rrggbb.'),
    css: optional(nullable(css())).description(
      'Styles added to the pages, at most 20,000 bytes, without `@import` and `</style`.',
    ),
    imprint: optional(nullable(text({ min: 0, max: MAX_IMPRINT }))).description(
      'Who is responsible for the pages; plain text below them.',
    ),
    privacyUrl: optional(nullable(httpUrl())).description('URL of the privacy policy, http or https.'),
  },
);
