import joi from 'joi';
import { nullableDocument } from './mail-document-schema.ts';
import { nullable, optional, text } from './schemas.ts';
import type { Typed } from './typed.ts';
import { documented } from './violations.ts';

// The content of an email in a request: HTML, or a document. Null counts as absent.

const BODY = 'HTML body, with variables';
const EXAMPLE = '<p>Hello {{name ?? "there"}}</p>';

const document = () =>
  optional(nullableDocument()).description(
    'Document of the visual editor, from which the body is rendered. A `body` beside it must be the stored one.',
  );

/** Requires one of both. */
export const givenContent = ({ min = 1 } = {}) => ({
  body: documented(
    joi
      .string()
      .min(min)
      .when('document', {
        is: joi.any().invalid(null).required(),
        // biome-ignore lint/suspicious/noThenProperty: joi calls it so
        then: joi.optional().allow(null),
        otherwise: joi.required(),
      }) as Typed<string | null | undefined>,
    { type: ['string', 'null'] },
  )
    .description(`${BODY}. Required unless \`document\` is given.`)
    .example(EXAMPLE) as Typed<string | null | undefined>,
  document: document(),
});

/** Both may be left out, to keep what is stored. */
export const changedContent = ({ min = 1 } = {}) => ({
  body: optional(nullable(text({ min })))
    .description(`${BODY}. It replaces the document.`)
    .example(EXAMPLE) as Typed<string | null | undefined>,
  document: document(),
});
