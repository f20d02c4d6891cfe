import type { Violation } from './api-types.ts';
import type { ErrorCode } from './types.ts';

interface ErrorFacts {
  message: string;
  code?: ErrorCode;
  requestId?: string | undefined;
  errors?: Violation[];
  details?: Record<string, unknown>;
  suggestion?: string;
}

/** The API refused a call. */
export class EverpostError extends Error {
  readonly status: number;
  /** Missing where the contract has a plain text, such as the 400 of POST /contacts. */
  readonly code: ErrorCode | undefined;
  readonly requestId: string | undefined;
  /** The broken rules of a `VALIDATION_ERROR`. */
  readonly errors: Violation[];
  readonly details: Record<string, unknown>;
  readonly suggestion: string | undefined;

  constructor(status: number, { message, code, requestId, errors, details, suggestion }: ErrorFacts) {
    super(message);
    this.name = 'EverpostError';
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.errors = errors ?? [];
    this.details = details ?? {};
    this.suggestion = suggestion;
  }
}

/** No answer arrived: the API cannot be reached, or took longer than `timeoutMs`. `cause` has the reason. */
export class EverpostConnectionError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'EverpostConnectionError';
  }
}

/** Returns whether the API refused a call with this code. */
export const isEverpostError = <Code extends ErrorCode>(
  error: unknown,
  code: Code,
): error is EverpostError & { code: Code } => error instanceof EverpostError && error.code === code;

/** Reads the error envelope, or the plain `{ error: "<text>" }`. */
export function errorOf(status: number, body: unknown, requestId: string | null): EverpostError {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as { error?: string | ErrorFacts };
  const fallback = { requestId: requestId ?? undefined };
  if (typeof error === 'string') return new EverpostError(status, { ...fallback, message: error });
  if (error) return new EverpostError(status, error);
  return new EverpostError(status, { ...fallback, message: `The API answered ${status}.` });
}
