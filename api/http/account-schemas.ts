import joi from 'joi';
import { refuse } from '../../platform/joi-violations.ts';
import { LONGEST_PROJECT_NAME, nameViolation, plainName } from '../../platform/names.ts';
import { email, text } from './schemas.ts';
import type { Typed } from './typed.ts';

/** Of a project: people know it by this. */
export const projectName = (): Typed<string> =>
  joi
    .string()
    .min(1)
    .max(LONGEST_PROJECT_NAME)
    .custom((given: string, helpers) => {
      const name = plainName(given);
      // One letter may become several: `ﷺ` becomes 18.
      if (name.length > LONGEST_PROJECT_NAME)
        return helpers.error('string.max', { limit: LONGEST_PROJECT_NAME, encoding: undefined });
      const fault = nameViolation(given) ?? nameViolation(name);
      return fault ? refuse(helpers, 'invalid_string', fault) : name;
    })
    .required();

/** Of a user: no address that only looks like somebody's. */
export const userEmail = (): Typed<string> =>
  (email() as joi.StringSchema).custom((given: string, helpers) => {
    const fault = nameViolation(given);
    return fault ? refuse(helpers, 'invalid_string', fault) : given;
  });

/** Long ones are fine; without any limit hashing them would be a way to keep us busy. */
export const newPassword = (): Typed<string> => text({ min: 8, max: 1_000 });
export const givenPassword = (): Typed<string> => text({ max: 1_000 });
export const givenToken = (): Typed<string> => text({ max: 200 });

/** A language tag as browsers send it: `en`, `pt-BR`. */
export const language = (): Typed<string> =>
  joi
    .string()
    .pattern(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$/, 'language tag')
    .required();
