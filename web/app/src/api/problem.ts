import { t } from '../texts/index.ts';
import type { components } from './schema.ts';

type ErrorBody = components['schemas']['Error'];
type Violation = components['schemas']['Violation'];

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
    const message = [error.message, ...violations.map(({ message }) => message)].filter(unique).join(' ');
    return new ApiProblem(status, error.code, message, violations, error.details);
  }

  static unreachable(): ApiProblem {
    return new ApiProblem(0, 'UNREACHABLE', t.errors.unreachable);
  }
}

const unique = (text: string, index: number, all: string[]): boolean =>
  all.findIndex((other) => other.includes(text)) === index;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
