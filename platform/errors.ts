// The only error class whose message API clients see. Any other error is a bug or an outage and answered as a 500
// without its message.

export const errorCodes = [
  'INVALID_API_KEY',
  'UNAUTHORIZED',
  'INVALID_CREDENTIALS',
  'FORBIDDEN',
  'PROJECT_DISABLED',
  'EMAIL_VERIFICATION_REQUIRED',
  'RESOURCE_NOT_FOUND',
  'CONTACT_NOT_FOUND',
  'TEMPLATE_NOT_FOUND',
  'CAMPAIGN_NOT_FOUND',
  'SEGMENT_NOT_FOUND',
  'WORKFLOW_NOT_FOUND',
  'CONFLICT',
  'IDEMPOTENCY_KEY_REUSED',
  'BAD_REQUEST',
  'VALIDATION_ERROR',
  'PAYLOAD_TOO_LARGE',
  'RATE_LIMIT_EXCEEDED',
  'BILLING_LIMIT_EXCEEDED',
  'EXTERNAL_SERVICE_ERROR',
  'INTERNAL_SERVER_ERROR',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

export const violationCodes = [
  'required',
  'invalid_type',
  'invalid_string',
  'too_small',
  'too_big',
  'invalid_enum',
  'custom',
  'reserved_event',
] as const;

/** A validation rule that a request breaks. `field` is a dotted path. */
export interface Violation {
  field: string;
  message: string;
  code: (typeof violationCodes)[number];
  received?: unknown;
}

interface Extras {
  errors?: Violation[];
  details?: Record<string, unknown>;
  suggestion?: string;
  headers?: Record<string, string>;
}

export class ApiError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly extras: Extras;

  constructor(status: number, code: ErrorCode, message: string, extras: Extras = {}) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.extras = extras;
  }
}

export const badRequest = (message: string, extras?: Extras) => new ApiError(400, 'BAD_REQUEST', message, extras);
export const invalidKey = (message: string) =>
  new ApiError(401, 'INVALID_API_KEY', message, {
    suggestion: 'Send "Authorization: Bearer <key>" with an active key of the project.',
  });
export const validationError = (errors: Violation[]) =>
  new ApiError(422, 'VALIDATION_ERROR', 'The request is invalid. See "errors" for details.', { errors });
/** Resources that belong to no project. */
const projectless = ['project', 'session', 'outbox message', 'provider', 'recipe', 'demo user', 'link'];
export const notFoundMessage = (what: string) =>
  `${what.charAt(0).toUpperCase()}${what.slice(1)} not found${projectless.includes(what) ? '' : ' in this project'}.`;
export const notFound = (what: string, code: ErrorCode = 'RESOURCE_NOT_FOUND') =>
  new ApiError(404, code, notFoundMessage(what));
/** The API contract prescribes this code for an unverified sender, and clients match on it. */
export const unverifiedSender = (domain: string) =>
  new ApiError(403, 'INTERNAL_SERVER_ERROR', `The sender domain ${domain} is not verified for this project.`, {
    suggestion: `Add ${domain} with POST /domains, publish the DNS records it lists, or send from a verified domain.`,
    details: { code: 'DOMAIN_NOT_VERIFIED', domain },
  });
export const projectDisabled = (reason: string | null) =>
  new ApiError(403, 'PROJECT_DISABLED', `This project is disabled${reason ? `: ${reason}` : ''}.`, {
    suggestion: 'You can still read data. Ask the operator to re-enable the project.',
  });
