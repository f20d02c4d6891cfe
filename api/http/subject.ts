import joi from 'joi';
import type { Typed } from './typed.ts';
import { refuse } from './violations.ts';

/** 998 is the longest line of RFC 5322. */
const MAX_SUBJECT = 998;

export const subject = (): Typed<string> =>
  joi
    .string()
    .min(1)
    .max(MAX_SUBJECT)
    .custom((value: string, helpers) =>
      /[\r\n]/.test(value) ? refuse(helpers, 'invalid_string', 'must not contain line breaks') : value,
    )
    .required();
