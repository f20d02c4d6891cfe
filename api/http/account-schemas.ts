import joi from 'joi';
import { documented, refuse } from '../../platform/joi-violations.ts';
import { MAX_PROJECT_NAME_LENGTH, nameViolation, normalizeName } from '../../platform/names.ts';
import { isTimezone } from '../../platform/time-zones.ts';
import { email, optional, request, text } from './schemas.ts';
import type { Typed } from './typed.ts';

/** The name of a project, normalized. */
export const projectName = (): Typed<string> =>
  documented(
    joi
      .string()
      .min(1)
      .max(MAX_PROJECT_NAME_LENGTH)
      .custom((given: string, helpers) => {
        const name = normalizeName(given);
        // Normalizing may lengthen it: `ﷺ` becomes 18 letters.
        if (name.length > MAX_PROJECT_NAME_LENGTH)
          return helpers.error('string.max', { limit: MAX_PROJECT_NAME_LENGTH, encoding: undefined });
        const violation = nameViolation(given) ?? nameViolation(name);
        return violation ? refuse(helpers, 'invalid_string', violation) : name;
      })
      .required(),
    {
      pattern:
        '^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$',
    },
  );

/** An address without characters that imitate others. */
export const userEmail = (): Typed<string> =>
  (email() as joi.StringSchema).custom((given: string, helpers) => {
    const violation = nameViolation(given);
    return violation ? refuse(helpers, 'invalid_string', violation) : given;
  });

/** The maximum bounds the cost of hashing. */
export const newPassword = (): Typed<string> => text({ min: 8, max: 1_000 });
export const givenPassword = (): Typed<string> => text({ max: 1_000 });
/** A code of the authenticator, or a recovery code. */
export const givenCode = (): Typed<string> => text({ max: 50 });
export const givenToken = (): Typed<string> => text({ max: 200 });

export const accountRequest = request('SelectAccountRequest', 'The account that the request is about.', {
  email: optional(email()).description(
    'Email address of the account. If left out, that of the session, or the demo owner for sign-in links.',
  ),
});

/** A language tag as browsers send it: `en`, `pt-BR`. */
export const language = (): Typed<string> =>
  joi
    .string()
    .pattern(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$/, 'language tag')
    .required();

/** The IANA name of a time zone. */
export const timezone = (): Typed<string> =>
  documented(
    joi
      .string()
      .max(100)
      .custom((value: string, helpers) =>
        isTimezone(value)
          ? value
          : refuse(helpers, 'invalid_string', 'must be a time zone name, such as Europe/Berlin'),
      )
      .required(),
    { format: 'time-zone', pattern: '^[A-Za-z]' },
  );
