import type { ApiError } from '../../platform/errors.ts';

/** The error envelope of the contract. */
export function envelopeOf({ status, code, message, extras }: ApiError, requestId: string): object {
  const { errors, details, suggestion } = extras;
  return {
    success: false,
    error: {
      code,
      message,
      statusCode: status,
      requestId,
      ...(errors && { errors }),
      ...(details && { details }),
      ...(suggestion && { suggestion }),
    },
    timestamp: new Date().toISOString(),
  };
}
