// What operations of the API document share: errors, headers, ways to authenticate, and the error responses that follow
// from a route's declaration.
import { errorCodes, violationCodes } from '../../platform/errors.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Route } from './route.ts';

export interface OpenApiDocument {
  openapi: string;
  paths: Record<string, Record<string, object>>;
  [key: string]: unknown;
}

export type Responses = Record<string, object>;

const TIME = '2026-11-15T12:00:00.000Z';
const REQUEST_ID = '01928c7e-0000-7000-8000-000000000009';

const text = (description: string) => ({ type: 'string', description });

const errorExample = {
  success: false,
  error: {
    code: 'VALIDATION_ERROR',
    message: 'The request is invalid. See "errors" for details.',
    statusCode: 422,
    requestId: REQUEST_ID,
    errors: [{ field: 'email', message: '"email" must be a valid email', code: 'invalid_string' }],
  },
  timestamp: TIME,
};

export const sharedSchemas: Record<string, JsonSchema> = {
  Error: {
    description: 'The body of every error, unless an operation says otherwise.',
    type: 'object',
    required: ['success', 'error', 'timestamp'],
    properties: {
      success: { const: false, description: 'Always false.' },
      error: {
        description: 'What went wrong.',
        type: 'object',
        required: ['code', 'message', 'statusCode', 'requestId'],
        properties: {
          code: { type: 'string', enum: errorCodes, description: 'Machine-readable reason.' },
          message: text('Explanation for people; its wording may change.'),
          statusCode: { type: 'integer', description: 'The HTTP status.' },
          requestId: text('Also sent as X-Request-Id. Quote it when you ask for support.'),
          errors: {
            description: 'With VALIDATION_ERROR: the fields that break a rule.',
            type: 'array',
            items: { $ref: '#/components/schemas/Violation' },
          },
          details: { type: 'object', description: 'More about the error; depends on the code.' },
          suggestion: text('What to do about it.'),
        },
      },
      timestamp: { type: 'string', format: 'date-time', description: 'When the error occurred.' },
    },
    examples: [errorExample],
  },
  Violation: {
    description: 'A field of the request that breaks a rule.',
    type: 'object',
    required: ['field', 'message', 'code'],
    properties: {
      field: text('Dotted path of the field, such as `to.0.email`.'),
      message: text('The rule that is broken.'),
      code: { type: 'string', enum: violationCodes, description: 'Kind of rule.' },
      received: { description: 'The value, if it is short and not a secret.' },
    },
  },
  PlainError: {
    description: 'The body of errors of a few older operations.',
    type: 'object',
    required: ['error'],
    properties: { error: text('What went wrong.') },
  },
};

const header = (description: string, schema: object, example: string | number) => ({ description, schema, example });
const constantHeader = (description: string, schema: object, example: string | number) => ({
  ...header(description, schema, example),
  required: true,
});

export const sharedHeaders = {
  RequestId: constantHeader("The caller's X-Request-Id, or a generated one.", { type: 'string' }, REQUEST_ID),
  RateLimitLimit: header('Requests a minute of the limit that applies to this call.', { type: 'integer' }, 1000),
  RateLimitRemaining: header('Requests left in this window.', { type: 'integer' }, 999),
  RateLimitReset: header('Seconds until the window ends.', { type: 'integer' }, 42),
  Location: constantHeader('Address of the next page.', { type: 'string' }, '/app/'),
  RetryAfter: constantHeader('Seconds to wait before retrying.', { type: 'integer', minimum: 1 }, 1),
};

export const securitySchemes = {
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
    description: 'The project that the session acts on.',
  },
};

const headerReference = (name: string) => ({ $ref: `#/components/headers/${name}` });

const rateLimitHeaders = {
  'RateLimit-Limit': headerReference('RateLimitLimit'),
  'RateLimit-Remaining': headerReference('RateLimitRemaining'),
  'RateLimit-Reset': headerReference('RateLimitReset'),
};

/**
 * The headers of an answer. X-Request-Id comes with every answer, and those of the rate limit with every answer to a known
 * caller. The document names them where they are needed most: they would make it a fifth larger.
 */
export const documentedHeaders = (
  status: number,
  { rateLimit = status === 429, retryAfter = status === 429 } = {},
): Record<string, object> => ({
  ...(rateLimit && rateLimitHeaders),
  ...(status >= 300 && status < 400 && { Location: headerReference('Location') }),
  ...(retryAfter && { 'Retry-After': headerReference('RetryAfter') }),
});

export const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Key that is unique in the project for a day by default. A request with a used key is refused.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
  example: 'order-4711',
};

export const takesSession = ({ access, path }: Route): boolean => access === 'secretKey' && !path.startsWith('/v1/');

/** Routes that are called for one project. */
const isOfProject = ({ access }: Route): boolean => !['session', 'operator', 'public'].includes(access);

/** Routes whose calls count for the rate limit: of the project, or of the user where they are about no project. */
export const isRateLimited = ({ access }: Route): boolean => access !== 'public';

/** Routes that members call with a session, for which a role is needed. */
export const takesMembers = (route: Route): boolean =>
  takesSession(route) || route.access === 'member' || route.access === 'memberOrKey';

interface SharedResponse {
  status: number;
  description: string;
  /** The code of the example; `description` names all. */
  code: string;
}

/** The error responses that routes share, by their names in the document. */
const shared = {
  BadRequest: {
    status: 400,
    code: 'BAD_REQUEST',
    description: 'The query or the body is invalid.',
  },
  NoProject: {
    status: 400,
    code: 'BAD_REQUEST',
    description: 'The query or the body is invalid, or a session request lacks X-Project-Id.',
  },
  NoSession: { status: 401, code: 'UNAUTHORIZED', description: 'There is no session, or it has ended.' },
  NoKey: { status: 401, code: 'INVALID_API_KEY', description: 'The API key is missing, or is not valid here.' },
  OtherOrigin: { status: 403, code: 'FORBIDDEN', description: 'A session cookie was sent from another site.' },
  NotAllowed: {
    status: 403,
    code: 'FORBIDDEN',
    description: 'The caller lacks the role or scope, or the project is disabled (`PROJECT_DISABLED`).',
  },
  NoScopeOrMember: {
    status: 403,
    code: 'FORBIDDEN',
    description: 'The key lacks the scope, or the user is not a member of the project.',
  },
  NoScope: { status: 403, code: 'FORBIDDEN', description: 'The key lacks the scope.' },
  TwoFactorRequired: {
    status: 403,
    code: 'FORBIDDEN',
    description: 'The project requires two-factor authentication.',
  },
  NotVerified: {
    status: 403,
    code: 'EMAIL_VERIFICATION_REQUIRED',
    description: 'The user has not verified their email address.',
  },
  NotConfirmed: {
    status: 403,
    code: 'FORBIDDEN',
    description:
      'The caller lacks the role, or with `details.confirmationRequired` has to confirm their identity first (POST /auth/confirm).',
  },
  NotOperator: {
    status: 404,
    code: 'RESOURCE_NOT_FOUND',
    description: 'The resource does not exist, or the caller is not an operator.',
  },
  NotFound: { status: 404, code: 'RESOURCE_NOT_FOUND', description: 'The resource does not exist in this project.' },
  TooLarge: { status: 413, code: 'PAYLOAD_TOO_LARGE', description: 'The body is too large.' },
  WrongType: {
    status: 415,
    code: 'BAD_REQUEST',
    description: 'The Content-Type is not supported here, or the body is compressed.',
  },
  UrlTooLarge: { status: 431, code: 'BAD_REQUEST', description: 'The URL and headers of the request are too large.' },
  Invalid: {
    status: 422,
    code: 'VALIDATION_ERROR',
    description: 'The body is invalid; `errors` lists the fields.',
  },
  RateLimited: {
    status: 429,
    code: 'RATE_LIMIT_EXCEEDED',
    description: 'The project has made too many requests.',
  },
  UserRateLimited: {
    status: 429,
    code: 'RATE_LIMIT_EXCEEDED',
    description: 'The user has made too many requests.',
  },
  Unexpected: { status: 500, code: 'INTERNAL_SERVER_ERROR', description: 'Unexpected error.' },
  Unavailable: {
    status: 503,
    code: 'INTERNAL_SERVER_ERROR',
    description: 'The database is unavailable or too slow. Retry later.',
  },
} satisfies Record<string, SharedResponse>;

/** The named error responses of a document. */
export class ErrorResponses {
  readonly components: Record<string, object> = {};

  /** The responses that follow from a route's declaration, except those that it declares. */
  of(route: Route): Responses {
    const names = sharedNames(route).filter((name) => !(shared[name].status in route.answers));
    return Object.fromEntries(
      names.map((name) => {
        const { status, code, description } = shared[name];
        const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
        return [status, this.share(name, errorResponse(status, `${description} (\`${code}\`)`, content))];
      }),
    );
  }

  /** A response that a route declares. That of a missing resource is named after it, because many routes have it. */
  declared(status: number, description: string, content: object, what: string | undefined): object {
    const response = errorResponse(status, description, content);
    return what ? this.share(`${pascal(what)}NotFound`, response) : response;
  }

  private share(name: string, response: ErrorResponse): object {
    const known = this.components[name];
    const named = { ...response, headers: { ...response.headers, 'X-Request-Id': headerReference('RequestId') } };
    if (known && JSON.stringify(known) !== JSON.stringify(named)) return response;
    this.components[name] = named;
    return { $ref: `#/components/responses/${name}` };
  }
}

interface ErrorResponse {
  description: string;
  headers?: Record<string, object>;
  content: object;
}

function errorResponse(status: number, description: string, content: object): ErrorResponse {
  const headers = documentedHeaders(status, { retryAfter: status === 429 || status === 503 });
  return { description, ...(Object.keys(headers).length > 0 && { headers }), content };
}

/** Makes a name of words: "webhook endpoint" becomes `WebhookEndpoint`. */
export const pascal = (words: string): string =>
  words.replace(
    /[^A-Za-z0-9]*([A-Za-z0-9])([A-Za-z0-9]*)[^A-Za-z0-9]*/g,
    (_all, first: string, rest: string) => first.toUpperCase() + rest,
  );

/** Of two with the same status the later one counts. */
function sharedNames(route: Route): (keyof typeof shared)[] {
  const { access, method, body, bodyKind, multipart, params } = route;
  const names: (keyof typeof shared)[] = [];
  const bySession = ['session', 'projectSession', 'member'].includes(access);
  const hasBody = Boolean((body && bodyKind !== 'anyForm') || multipart);
  if (takesSession(route) || access === 'projectSession') names.push('NoProject');
  else if (mayRefuseQuery(route) || mayRefuseBody(route)) names.push('BadRequest');
  if (bySession) names.push('NoSession');
  else if (isOfProject(route)) names.push('NoKey');
  if (access === 'public') {
    if (method !== 'GET' || route.changesState) names.push('OtherOrigin');
  } else if (access !== 'operator' && (method !== 'GET' || route.role)) names.push('NotAllowed');
  else if (takesSession(route) || access === 'projectSession') names.push('NoScopeOrMember');
  else if (access === 'secretKey') names.push('NoScope');
  else if (takesMembers(route)) names.push('TwoFactorRequired');
  else if (bySession && !route.unverified) names.push('NotVerified');
  if (route.confirmed) names.push('NotConfirmed');
  if (access === 'operator') names.push('NotOperator');
  else if (mayRefuseParams(params)) names.push('NotFound');
  if (hasBody) names.push('TooLarge');
  if (hasBody && bodyKind !== 'raw') names.push('WrongType');
  if (hasBody && body && bodyKind !== 'raw' && !route.invalidBody) names.push('Invalid');
  if (route.query && 'search' in route.query) names.push('UrlTooLarge');
  if (isRateLimited(route)) names.push(isOfProject(route) ? 'RateLimited' : 'UserRateLimited');
  if (!route.worksWithoutDatabase) names.push('Unexpected', 'Unavailable');
  return names;
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
  multipart !== undefined || (body !== undefined && (bodyKind === undefined || bodyKind === 'jsonOrForm'));
