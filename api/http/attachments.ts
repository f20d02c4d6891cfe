import joi from 'joi';
import { UNSAFE_IN_LINE } from '../../platform/address.ts';
import type { MailAttachment } from '../../platform/mime/compose.ts';
import { list, namedType, nullable, oneOf, optional } from './schemas.ts';
import type { Typed } from './typed.ts';
import { documented, refuse } from './violations.ts';

const MAX_ATTACHMENTS = 10;
const MAX_TEXT = 255;

/** `pattern` is what the rule requires, for the OpenAPI document. */
const matching = (rule: (text: string) => boolean, violation: string, pattern: string): Typed<string> =>
  documented(
    joi
      .string()
      .max(MAX_TEXT)
      .custom((text: string, helpers) => (rule(text) ? text : refuse(helpers, 'invalid_string', violation)))
      .required(),
    { pattern },
  );

/** A file name, not a path: mail programs differ in how they treat paths. */
const filename = () =>
  matching(
    (text) => !/["/\\]/.test(text) && !UNSAFE_IN_LINE.test(text) && !/^\.*$/.test(text.trim()),
    'must be a file name without line breaks, quotes or slashes',
    '^(?![. ]*$)[^"/\\\\\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]+$',
  );

const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const MIME = new RegExp(`^${TOKEN}/${TOKEN}(?:; ?${TOKEN}=(?:${TOKEN}|"[^"\\\\\\p{Cc}]*"))*$`, 'u');

/** Multipart would be parsed as parts of the mail itself. */
const mimeType = () =>
  matching(
    (text) => MIME.test(text) && !/^multipart\//i.test(text),
    'must be a MIME type such as application/pdf',
    `^(?![Mm]ultipart/)${TOKEN}/${TOKEN}(; ?${TOKEN}=(${TOKEN}|"[^"]*"))*$`,
  );

/** Used between < and > in a header, and after `cid:` in the body. */
const contentId = () =>
  matching(
    (text) => /^[!#-;=?-~]+$/.test(text),
    'must be printable ASCII without spaces, quotes, < or >',
    '^[!#-;=?-~]+$',
  );

/** Base64 may be wrapped into lines. */
const BREAKS = /[\r\n]+/g;

function decode(text: string): Buffer | undefined {
  const base64 = text.replace(BREAKS, '');
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined;
  return Buffer.from(base64, 'base64');
}

const content = (): Typed<Buffer> =>
  documented(
    joi
      .string()
      .custom((text: string, helpers) => decode(text) ?? refuse(helpers, 'invalid_string', 'must be base64'))
      .required(),
    { contentEncoding: 'base64', pattern: '^[A-Za-z0-9+/\\r\\n]*=?[\\r\\n]*=?[\\r\\n]*$' },
  );

interface GivenAttachment extends Omit<MailAttachment, 'disposition'> {
  disposition?: MailAttachment['disposition'] | undefined;
}

const attachment = (): Typed<GivenAttachment> =>
  documented(
    namedType('Attachment', 'A file to attach to an email.', {
      filename: filename().description('File name, without a path.').example('invoice.pdf'),
      content: content().description('Content of the file, in base64.').example('SGVsbG8='),
      contentType: mimeType().description('MIME type; not multipart.').example('application/pdf'),
      contentId: optional(nullable(contentId()))
        .description(
          'ID by which the body refers to an inline file (`cid:logo`). Required if `disposition` is `inline`.',
        )
        .example('logo'),
      disposition: optional(oneOf('attachment', 'inline')).description(
        'Whether the file is attached or shown inside the body; `attachment` by default.',
      ),
    }).custom((given: GivenAttachment, helpers) => {
      if (given.disposition !== 'inline' || given.contentId) return given;
      const { state } = helpers;
      return helpers.error('any.required', {}, state.localize?.([...(state.path ?? []), 'contentId']));
    }),
    {
      anyOf: [
        { properties: { disposition: { description: 'Attached, not inline.', const: 'attachment' } } },
        {
          required: ['contentId'],
          properties: { contentId: { description: 'ID of an inline file.', type: 'string' } },
        },
      ],
    },
  );

export const attachments = (): Typed<GivenAttachment[]> => list(attachment(), { max: MAX_ATTACHMENTS });

export const asAttachments = (given: GivenAttachment[] | null | undefined): MailAttachment[] =>
  (given ?? []).map((one) => ({ ...one, disposition: one.disposition ?? 'attachment' }));
