import { type ErrorCode, noSuch, notFound } from '../../platform/errors.ts';
import type { Typed } from './typed.ts';

/** What a handler gives back. */
export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string | string[]>;
}

export const ok = (body: unknown): Answer => ({ status: 200, body });
export const created = (body: unknown): Answer => ({ status: 201, body });
export const accepted = (body: unknown): Answer => ({ status: 202, body });
export const noContent = (): Answer => ({ status: 204 });
/** The envelope that answers under /v1, /auth and POST /campaigns come in. */
export const success = (data: unknown): Answer => ok({ success: true, data });

/** What a route declares about one of its statuses. */
export interface DeclaredAnswer {
  description: string;
  schema?: Typed<unknown>;
  contentType?: string;
  /** An error: its code, and whether it comes as `{ error: "<text>" }` instead of in the envelope. */
  code?: ErrorCode;
  plain?: boolean;
  /** For 404: what is missing, when the id in the path is not even a UUID. */
  what?: string;
}

export type DeclaredAnswers = Record<number, DeclaredAnswer>;

export const answer = (description: string, schema?: Typed<unknown>): DeclaredAnswer => ({ description, schema });
/** A page for people, whatever its status. */
export const page = (description: string): DeclaredAnswer => ({ description, contentType: 'text/html' });
export const failure = (description: string, code: ErrorCode): DeclaredAnswer => ({ description, code });
/** Of whatever has mail sent. */
export const overCap = failure('The billing cap of the project is reached.', 'BILLING_LIMIT_EXCEEDED');
export const plainFailure = (description: string): DeclaredAnswer => ({ description, plain: true });
export const missing = (what: string, code: ErrorCode = 'RESOURCE_NOT_FOUND'): DeclaredAnswer => ({
  description: noSuch(what),
  code,
  what,
});

/** The same 404 for an id that cannot exist as for one that does not. */
export const notFoundOf = ({ what = 'thing', code }: Partial<DeclaredAnswer> = {}) => notFound(what, code);
