import joi from 'joi';
import type { Typed } from './typed.ts';
import { documented, refuse } from './violations.ts';

/** RFC 5322, 2.1.1: the longest line. */
const MAX_SUBJECT = 998;

export const subject = (): Typed<string> =>
  documented(
    joi
      .string()
      .min(1)
      .max(MAX_SUBJECT)
      .custom((value: string, helpers) =>
        /[\r\n]/.test(value) ? refuse(helpers, 'invalid_string', 'must not contain line breaks') : value,
      )
      .required(),
    { pattern: '^[^\\r\\n]*$' },
  );
