import type { IncomingHttpHeaders } from 'node:http';
import type { Db } from '../../db/connect.ts';
import type { Role } from '../../db/models/membership.ts';
import type { User } from '../../db/models/user.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Settings } from '../../platform/settings.ts';
import type { HeavyWork } from '../../services/access/heavy-work.ts';
import type { ProjectAccess } from '../../services/access/keys.ts';
import type { Answer, DeclaredAnswers } from './answers.ts';
import type { BodyValueOf, Shape, Typed, ValueOf } from './typed.ts';

/**
 * Who may call a route. `secretKey` routes outside /v1 also accept a session with `X-Project-Id`; `projectSession` routes
 * accept only that. `member` is a session of a member of the project `:id` in the path, `memberOrKey` that or the secret
 * key of that project; `role` is the minimum role. `public` needs no authentication.
 */
export type Access = 'publicKey' | 'secretKey' | 'session' | 'projectSession' | 'member' | 'memberOrKey' | 'public';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface UploadedFile {
  /** A temporary file, removed after the response. */
  path: string;
  name: string | null;
  contentType: string | null;
  size: number;
}

/** A multipart body: the file fields, and the size limit of each. */
export interface Multipart {
  files: string[];
  maxFileBytes: number;
  /** How many such bodies this process receives at once; others get 429. */
  maxAtOnce?: number;
}

interface ProjectCaller {
  project: ProjectAccess;
  /** The role of a session's user; keys have none. */
  role: Role | undefined;
  /** The user of a session. */
  user?: User | undefined;
}

export type CallerOf<A extends Access> = A extends 'session'
  ? { user: User }
  : A extends 'member' | 'projectSession'
    ? { user: User; project: ProjectAccess; role: Role }
    : A extends 'public'
      ? unknown
      : ProjectCaller;

/** What every handler gets besides the caller and the validated input. */
export interface HandlerContext {
  db: Db;
  settings: Settings;
  log: Logger;
  /** `name` is the declared method and path; HEAD requests use the routes of GET. */
  request: {
    id: string;
    name: string;
    method: string;
    ip: string;
    headers: IncomingHttpHeaders;
    /** Rejects once the caller may no longer call the route; for answers that last. */
    authenticate(): Promise<unknown>;
  };
}

export type Call<A extends Access, P extends Shape, Q extends Shape, B> = HandlerContext &
  CallerOf<A> & {
    params: ValueOf<P>;
    query: ValueOf<Q>;
    body: BodyValueOf<B>;
    files: Record<string, UploadedFile | undefined>;
  };

interface Declaration<P, Q, B> {
  method: Method;
  path: string;
  summary: string;
  /** A malformed id gets the 404 that `answers` declares, like an unknown one. */
  params?: P;
  query?: Q;
  body?: B;
  multipart?: Multipart;
  /** An HTML form, or the unparsed text of any type, over which signatures are computed. */
  bodyKind?: 'form' | 'raw';
  /** The minimum role of a member. Keys need none. */
  role?: Role;
  /** The path parameter of a user who may call it for themselves with any role. */
  orSelf?: string;
  /** Its statements compare the key generation, so the key cache may be used. */
  checksKey?: true;
  /** A browser calls it without headers of its own: a session may name its project by `?projectId=` too. */
  projectInQuery?: true;
  /** Allowed while the project is disabled although it is not a GET. */
  whileDisabled?: true;
  /** Allowed for users with an unverified address where verification is required. */
  unverified?: true;
  /** Its cost depends on the input: few such calls of a project run at once; others wait or get 429. */
  heavy?: HeavyWork;
  /** The limit of a JSON body in bytes; `BODY_MAX_BYTES` by default. */
  bodyLimit?: (settings: Settings) => number;
  /** Overrides `DATABASE_STATEMENT_TIMEOUT_MS` in its transactions. */
  statementTimeoutMs?: number;
  /** The status of an invalid body where the contract has 400 instead of 422. */
  invalidBody?: 400;
  /** Those marked `plain` are sent as `{ error: "<text>" }`. */
  answers: DeclaredAnswers;
}

export interface RouteDeclaration<A extends Access, P extends Shape, Q extends Shape, B> extends Declaration<P, Q, B> {
  access: A;
  handle(call: Call<A, P, Q, B>): Promise<Answer> | Answer;
}

/** A declared route with its types erased; validation before the handler guarantees them. */
export interface Route extends Declaration<Shape, Shape, Shape | Typed<unknown>> {
  access: Access;
  handle(call: object): Promise<Answer> | Answer;
}

export interface RouteGroup {
  tag: string;
  routes: Route[];
}

// biome-ignore lint/complexity/noBannedTypes: a route without parameters has exactly the type {} for them
type None = {};

export const route = <
  const A extends Access,
  P extends Shape = None,
  Q extends Shape = None,
  B extends Shape | Typed<unknown> | undefined = undefined,
>(
  declaration: RouteDeclaration<A, P, Q, B>,
): Route => declaration as unknown as Route;

export const routes = (tag: string, list: Route[]): RouteGroup => ({ tag, routes: list });
