import joi from 'joi';
import type { Typed } from './typed.ts';
import { documented, refuse } from './violations.ts';

/** Scheme, host and port, as a browser sends it. */
export const origin = (): Typed<string> =>
  documented(
    joi
      .string()
      .max(300)
      .custom((value: string, helpers) =>
        /^https?:/i.test(value) && URL.canParse(value) && new URL(value).origin === value.toLowerCase()
          ? value.toLowerCase()
          : refuse(helpers, 'invalid_string', 'must be an origin such as https://www.example.com'),
      )
      .required(),
    { pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/\\s]+$' },
  ).example('https://www.example.com');
