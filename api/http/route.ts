import type { IncomingHttpHeaders } from 'node:http';
import type { Db } from '../../db/connect.ts';
import type { Role } from '../../db/models/membership.ts';
import type { User } from '../../db/models/user.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Settings } from '../../platform/settings.ts';
import type { HeavyWork } from '../../services/access/heavy-work.ts';
import type { KeyKind, ProjectAccess } from '../../services/access/keys.ts';
import type { Scope } from '../../services/access/scopes.ts';
import type { Actor } from '../../services/audit/record.ts';
import type { CurrentSession } from '../../services/sessions/sessions.ts';
import type { Answer, DeclaredAnswers } from './answers.ts';
import type { BodyValueOf, Shape, Typed, ValueOf } from './typed.ts';

/**
 * Who may call a route. `secretKey` routes outside /v1 also accept a session with `X-Project-Id`; `projectSession` routes
 * accept only that. `member` is a session of a member of the project `:id` in the path, `memberOrKey` that or the secret
 * key of that project; `role` is the minimum role. `operator` is a session of an operator of the installation; for all
 * others the route does not exist. `public` needs no authentication, and
 * `anyKey` takes the public or the secret key.
 */
export type Access =
  | 'publicKey'
  | 'anyKey'
  | 'secretKey'
  | 'session'
  | 'projectSession'
  | 'member'
  | 'memberOrKey'
  | 'operator'
  | 'public';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface UploadedFile {
  /** A temporary file, removed after the response. */
  path: string;
  name: string | null;
  contentType: string | null;
  size: number;
}

/** A multipart body: its name in the API document, the file fields with their descriptions, and the size limit of each. */
export interface Multipart {
  name: string;
  description: string;
  files: Record<string, string>;
  maxFileBytes: number;
  /** The process receives few such files at once; others get 429, and slow ones 408. */
  large?: true;
}

interface ProjectCaller {
  project: ProjectAccess;
  /** The role of a session's user; keys have none. */
  role: Role | undefined;
}

interface SessionCaller {
  user: User;
  session: CurrentSession;
}

export type CallerOf<A extends Access> = A extends 'session' | 'operator'
  ? SessionCaller
  : A extends 'member' | 'projectSession'
    ? SessionCaller & { project: ProjectAccess; role: Role }
    : A extends 'public'
      ? unknown
      : A extends 'anyKey'
        ? ProjectCaller & { keyKind: KeyKind }
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
  /** The caller as the audit log names it; `project.actor` is the same. */
  actor: Actor;
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
  /**
   * An HTML form; JSON or an HTML form; a form of which anything is accepted (lists of strings by name); or the unparsed text of any type, over
   * which signatures are computed.
   */
  bodyKind?: 'form' | 'anyForm' | 'jsonOrForm' | 'raw';
  /** The minimum role of a member: by default VIEWER for GET, MEMBER for all others. Keys need none. */
  role?: Role;
  /** A session needs a confirmation of the last 15 minutes (POST /auth/confirm), always or for some bodies. */
  confirmed?: true | ((body: BodyValueOf<B>) => boolean);
  /** A scope that a key needs besides `scope`, always or for some bodies. */
  alsoScope?: { scope: Scope; for?: { description: string; body(body: BodyValueOf<B>): boolean } };
  /** The path parameter of a user who may call it for themselves with any role. */
  orSelf?: string;
  /** Its statements compare the key generation, so the key cache may be used. */
  checksKey?: true;
  /** A browser calls it without our headers: a session may name its project by `?projectId=` too. */
  projectInQuery?: true;
  /** A GET that changes something: with a cookie it may not come from another origin. */
  changesState?: true;
  /** Allowed while the project is disabled although it is not a GET. */
  whileDisabled?: true;
  /** Allowed for users with an unverified address where verification is required. */
  unverified?: true;
  /** Answers without a database too, so that it fails with neither 500 nor 503. */
  worksWithoutDatabase?: true;
  /** Its cost depends on the input: few such calls of a project run at once; others wait or get 429. */
  heavy?: HeavyWork;
  /** How long such a call waits for its turn, if not ten seconds. */
  heavyWaitMs?: number;
  /** The limit of a JSON body in bytes; `BODY_MAX_BYTES` by default. */
  bodyLimit?: (settings: Settings) => number;
  /** Overrides `DATABASE_STATEMENT_TIMEOUT_MS` in its transactions. */
  statementTimeoutMs?: number;
  /** The status of an invalid body where the contract has 400 instead of 422. */
  invalidBody?: 400;
  /** Those marked `plain` are sent as `{ error: "<text>" }`. */
  answers: DeclaredAnswers;
}

/**
 * The scope that a secret key needs, or several of which one suffices; the handler then checks with `requireScope` what
 * the request is about. The public key has only `track`. Other callers have no key.
 */
type ScopeOf<A extends Access> = A extends 'secretKey' | 'memberOrKey' | 'anyKey'
  ? { scope: Scope | readonly Scope[] }
  : A extends 'publicKey'
    ? { scope: 'track' }
    : { scope?: never };

export type RouteDeclaration<A extends Access, P extends Shape, Q extends Shape, B> = Declaration<P, Q, B> &
  ScopeOf<A> & {
    access: A;
    handle(call: Call<A, P, Q, B>): Promise<Answer> | Answer;
  };

/** A declared route with its types erased; validation before the handler guarantees them. */
export interface Route extends Declaration<Shape, Shape, Shape | Typed<unknown>> {
  access: Access;
  scope?: Scope | readonly Scope[] | 'track';
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

/** Returns the minimum role of a member on a route of a project. */
export const neededRole = ({ role, method }: Pick<Route, 'role' | 'method'>): Role =>
  role ?? (method === 'GET' ? 'VIEWER' : 'MEMBER');

export const routes = (tag: string, list: Route[]): RouteGroup => ({ tag, routes: list });
