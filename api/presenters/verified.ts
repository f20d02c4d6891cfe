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
    /** Null when the lookup failed, which `reasons` states. */
    domainExists: nullable(flag()),
    hasMxRecords: nullable(flag()),
    suggestedEmail: optional(text()),
    reasons: list(text()),
  }),
});
