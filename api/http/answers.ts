import { type ErrorCode, notFound, notFoundMessage } from '../../platform/errors.ts';
import type { Typed } from './typed.ts';

/** The response of a handler. */
export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string | string[]>;
}

export const ok = (body: unknown): Answer => ({ status: 200, body });
export const created = (body: unknown): Answer => ({ status: 201, body });
export const accepted = (body: unknown): Answer => ({ status: 202, body });
export const noContent = (): Answer => ({ status: 204 });
/** The envelope of responses under /v1, /auth and of POST /campaigns. */
export const success = (data: unknown): Answer => ok({ success: true, data });

/** A CSV file to download. */
export const csvFile = (filename: string, body: unknown): Answer => ({
  status: 200,
  body,
  headers: {
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${filename}"`,
  },
});

/** A route's declaration of one of its statuses. */
export interface DeclaredAnswer {
  description: string;
  schema?: Typed<unknown>;
  contentType?: string;
  /** Callers that are no browsers get this error instead of a page. */
  orError?: ErrorCode;
  /** The code of an error; `plain` errors are sent as `{ error: "<text>" }` instead of in the envelope. */
  code?: ErrorCode;
  plain?: boolean;
  /** For 404: the kind of resource, also when the id in the path is not a UUID. */
  what?: string;
  /** For 404: the resource that has it, which `:id` names. */
  within?: DeclaredAnswer;
}

export type DeclaredAnswers = Record<number, DeclaredAnswer>;

export const answer = (description: string, schema?: Typed<unknown>): DeclaredAnswer => ({ description, schema });
/** An HTML page, with any status. */
export const page = (description: string): DeclaredAnswer => ({ description, contentType: 'text/html' });
export const failure = (description: string, code: ErrorCode): DeclaredAnswer => ({ description, code });
/** For routes that send mail. */
export const overBillingLimit = failure('A billing limit of the project has been reached.', 'BILLING_LIMIT_EXCEEDED');
export const plainFailure = (description: string): DeclaredAnswer => ({ description, plain: true });
export const missing = (what: string, code: ErrorCode = 'RESOURCE_NOT_FOUND'): DeclaredAnswer => ({
  description: notFoundMessage(what),
  code,
  what,
});

/** The 404 of something that belongs to another resource of the path. */
export const missingPart = (what: string, within: DeclaredAnswer, code?: ErrorCode): DeclaredAnswer => ({
  ...missing(what, code),
  within,
});

/** The same 404 for a malformed part of the path as for an unknown one. */
export function notFoundOf(declared: DeclaredAnswer | undefined, param?: string | number) {
  const { what = 'thing', code } = (param === 'id' && declared?.within) || declared || {};
  return notFound(what, code);
}
