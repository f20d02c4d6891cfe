import { errorCodes, violationCodes } from '../../platform/errors.ts';
import type { Route } from './route.ts';

export interface OpenApiDocument {
  openapi: string;
  paths: Record<string, Record<string, object>>;
  [key: string]: unknown;
}

export type Responses = Record<string, object>;

const text = { type: 'string' };

const error = {
  type: 'object',
  required: ['success', 'error', 'timestamp'],
  properties: {
    success: { const: false },
    error: {
      type: 'object',
      required: ['code', 'message', 'statusCode', 'requestId'],
      properties: {
        code: { type: 'string', enum: errorCodes },
        message: text,
        statusCode: { type: 'integer' },
        requestId: text,
        errors: { type: 'array', items: { $ref: '#/components/schemas/Violation' } },
        details: { type: 'object' },
        suggestion: text,
      },
    },
    timestamp: { type: 'string', format: 'date-time' },
  },
};

const violation = {
  type: 'object',
  required: ['field', 'message', 'code'],
  properties: {
    field: { type: 'string', description: 'A dotted path.' },
    message: text,
    code: { type: 'string', enum: violationCodes },
    received: {},
  },
};

const header = (description: string, schema: object, example: string | number) => ({ description, schema, example });
const constantHeader = (description: string, schema: object, example: string | number) => ({
  ...header(description, schema, example),
  required: true,
});

export const sharedComponents = {
  schemas: {
    Error: error,
    Violation: violation,
    PlainError: { type: 'object', required: ['error'], properties: { error: text } },
  },
  headers: {
    RequestId: constantHeader(
      "The caller's X-Request-Id, or a generated one.",
      text,
      '01928c7e-0000-7000-8000-000000000009',
    ),
    RateLimitLimit: header('Requests a minute of the limit that applies to this call.', { type: 'integer' }, 1000),
    RateLimitRemaining: header('Requests left in this window.', { type: 'integer' }, 999),
    RateLimitReset: header('Seconds until the window ends.', { type: 'integer' }, 42),
    Location: constantHeader('Where the browser goes on.', text, '/app/'),
    RetryAfter: constantHeader('Seconds to wait before sending the request again.', { type: 'integer', minimum: 1 }, 1),
  },
  securitySchemes: {
    publicKey: { type: 'http', scheme: 'bearer', description: 'The public key of a project (`pk_...`).' },
    secretKey: {
      type: 'http',
      scheme: 'bearer',
      description:
        'A secret key of a project (`sk_...`). A key with scopes needs the one in `x-scope`, or one of them, and that in `x-also-scope`; `write` includes `read`.',
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: 'everpost_session',
      description: 'Set by POST /auth/login. Over https its name is `__Host-everpost_session`.',
    },
    project: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Project-Id',
      description: 'The project that a session works on.',
    },
  },
};

export const rateLimitHeaders = {
  'RateLimit-Limit': { $ref: '#/components/headers/RateLimitLimit' },
  'RateLimit-Remaining': { $ref: '#/components/headers/RateLimitRemaining' },
  'RateLimit-Reset': { $ref: '#/components/headers/RateLimitReset' },
};

export const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Unique in the project, for a day by default: a request with a used key is refused.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
};

export const takesSession = ({ access, path }: Route): boolean => access === 'secretKey' && !path.startsWith('/v1/');

/** Routes that are called for one project. */
const isOfProject = ({ access }: Route): boolean => !['session', 'operator', 'public'].includes(access);

/** Routes whose calls count for the rate limit: of the project, or of the user where they are about no project. */
export const isRateLimited = ({ access }: Route): boolean => access !== 'public';

/** Routes that members call with a session, for which a role is needed. */
export const takesMembers = (route: Route): boolean =>
  takesSession(route) || route.access === 'member' || route.access === 'memberOrKey';

/** The error responses that follow from a route's declaration. */
export function errorResponses(route: Route, headers: object): Responses {
  const { access, method, body, bodyKind, multipart, params } = route;
  const responses: Responses = {};
  const add = (status: number, description: string, more: object = {}) => {
    responses[status] = {
      description,
      // The rate is limited for known callers.
      headers: {
        ...(status === 401 ? {} : headers),
        ...more,
        'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      },
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    };
  };
  const bySession = ['session', 'projectSession', 'member'].includes(access);
  const hasBody = Boolean(body || multipart);
  if (takesSession(route) || access === 'projectSession')
    add(400, 'Query or body cannot be read, or a session names no project (`BAD_REQUEST`)');
  else if (mayRefuseQuery(route) || mayRefuseBody(route))
    add(400, 'The query or the body cannot be read (`BAD_REQUEST`)');
  if (bySession) add(401, 'No session, or one that has ended (`UNAUTHORIZED`)');
  else if (isOfProject(route)) add(401, 'No key, or one that this route does not take (`INVALID_API_KEY`)');
  if (access === 'public') {
    if (method !== 'GET' || route.changesState)
      add(403, 'A browser with a session sends it from another site (`FORBIDDEN`)');
  } else if (access !== 'operator' && (method !== 'GET' || route.role))
    add(403, 'The project is disabled, or the caller may not do this (`PROJECT_DISABLED`, `FORBIDDEN`)');
  else if (takesSession(route) || access === 'projectSession')
    add(403, 'The session is of no member of the project, or the key lacks the scope (`FORBIDDEN`)');
  else if (access === 'secretKey') add(403, 'The key lacks the scope (`FORBIDDEN`)');
  else if (takesMembers(route)) add(403, 'The project requires two-factor authentication (`FORBIDDEN`)');
  else if (bySession && !route.unverified)
    add(403, 'The address of the user is not verified (`EMAIL_VERIFICATION_REQUIRED`)');
  if (route.confirmed)
    add(
      403,
      'The caller may not do this, or with `details.confirmationRequired` not before POST /auth/confirm (`FORBIDDEN`)',
    );
  if (access === 'operator') add(404, 'The caller is no operator, or there is no such resource (`RESOURCE_NOT_FOUND`)');
  else if (mayRefuseParams(params)) add(404, 'No such resource in this project (`RESOURCE_NOT_FOUND`)');
  if (hasBody) add(413, 'The body is too large (`PAYLOAD_TOO_LARGE`)');
  if (hasBody && bodyKind !== 'raw')
    add(415, 'The body has another Content-Type than this route takes, or is compressed (`BAD_REQUEST`)');
  if (body && bodyKind !== 'raw' && !route.invalidBody)
    add(422, 'The body breaks rules, which `errors` lists (`VALIDATION_ERROR`)');
  if (isRateLimited(route))
    add(429, `The ${isOfProject(route) ? 'project' : 'user'} made too many requests (\`RATE_LIMIT_EXCEEDED\`)`, {
      'Retry-After': { $ref: '#/components/headers/RetryAfter' },
    });
  if (route.worksWithoutDatabase) return responses;
  add(500, 'Unexpected error (`INTERNAL_SERVER_ERROR`)');
  add(503, 'The database cannot be reached, took too long, or broke off (`INTERNAL_SERVER_ERROR`)', {
    'Retry-After': { $ref: '#/components/headers/RetryAfter' },
  });
  return responses;
}

/** A part of a path without any rule takes every text: its token is looked up, and answered like a wrong one. */
const mayRefuseParams = (params: Route['params'] = {}): boolean =>
  Object.values(params).some((schema) => schema.validate('x'.repeat(LONGER_THAN_ANY_LIMIT)).error !== undefined);

const LONGER_THAN_ANY_LIMIT = 2_000;

/** Parameters with a `failover` take any value. */
const mayRefuseQuery = ({ query = {} }: Route): boolean =>
  Object.values(query).some((schema) => !('failover' in ((schema.describe() as { flags?: object }).flags ?? {})));

/** Any text is a form. */
const mayRefuseBody = ({ body, bodyKind, multipart }: Route): boolean =>
  multipart !== undefined || (body !== undefined && bodyKind === undefined);
