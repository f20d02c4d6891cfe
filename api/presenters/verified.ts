import { flag, list, nullable, object, optional, text } from '../http/schemas.ts';

export const verifiedSchema = object({
  success: flag(),
  data: object({
    email: text({ min: 0 }),
    valid: flag(),
    isDisposable: flag(),
    isAlias: flag(),
    isTypo: flag(),
    isPlusAddressed: flag(),
    isPersonalEmail: flag(),
    /** Null when DNS could not be asked; `reasons` says so, too. */
    domainExists: nullable(flag()),
    hasMxRecords: nullable(flag()),
    suggestedEmail: optional(text()),
    reasons: list(text()),
  }),
});
