import { t } from '../texts/index.ts';
import type { Error as ErrorBody, Violation } from './api-types.ts';

/** An error that the API answered, with its own message. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly violations: Violation[];
  readonly details: Record<string, unknown>;

  constructor(status: number, code: string, message: string, violations: Violation[] = [], details = {}) {
    super(message);
    this.name = 'ApiProblem';
    this.status = status;
    this.code = code;
    this.violations = violations;
    this.details = details;
  }

  static of(status: number, body: unknown): ApiProblem {
    const { error } = (body ?? {}) as Partial<ErrorBody> & { error?: ErrorBody['error'] | string };
    if (typeof error === 'string') return new ApiProblem(status, 'BAD_REQUEST', error);
    if (!error) return new ApiProblem(status, 'INTERNAL_SERVER_ERROR', t.errors.status(status));
    const violations = error.errors ?? [];
    return new ApiProblem(status, error.code, textOf(error.message, violations), violations, error.details);
  }

  static unreachable(): ApiProblem {
    return new ApiProblem(0, 'UNREACHABLE', t.errors.unreachable);
  }
}

/** The API's message where only the violations say what is wrong. */
export const SEE_VIOLATIONS = 'The request is invalid. See "errors" for details.';

function textOf(message: string, violations: Violation[]): string {
  const untold = violations.filter((violation) => !message.includes(violation.message)).map(violationText);
  const own = message === SEE_VIOLATIONS && untold.length > 0 ? [] : [message];
  return [...new Set([...own, ...untold])].join(' ');
}

/** An entry of a list at the start of a message, such as `"emails[2]"`. */
const ENTRY = /^"([^"[\]]+)\[(\d+)\]"/;

function violationText({ message, received }: Violation): string {
  const text = message.replace(ENTRY, (_, list: string, index: string) =>
    t.errors.entry(list, Number(index) + 1, typeof received === 'string' ? received : undefined),
  );
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
