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
 * Who may call a route. `secretKey` routes outside /v1 take a session with `X-Project-Id` as well. `member` is a session
 * whose user is a member of the project `:id` of the path, `memberOrKey` that or the secret key of that very project;
 * `role` says as what. `nobody` means that nobody is asked who they are.
 */
export type Access = 'publicKey' | 'secretKey' | 'session' | 'member' | 'memberOrKey' | 'nobody';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface UploadedFile {
  /** A temporary file that is gone after the answer. */
  path: string;
  name: string | null;
  contentType: string | null;
  size: number;
}

/** A multipart body: which fields hold files, and how large one may be. */
export interface Multipart {
  files: string[];
  maxFileBytes: number;
}

interface ProjectCaller {
  project: ProjectAccess;
  /** Of the person behind a session; a key has none. */
  role: Role | undefined;
}

export type CallerOf<A extends Access> = A extends 'session'
  ? { user: User }
  : A extends 'member'
    ? { user: User; project: ProjectAccess; role: Role }
    : A extends 'nobody'
      ? unknown
      : ProjectCaller;

/** What every handler is given, beside who calls and what the declaration says of the input. */
export interface Surroundings {
  db: Db;
  settings: Settings;
  log: Logger;
  /** `name` is the method and path as they are declared; a HEAD comes to the routes of GET. */
  request: { id: string; name: string; method: string; ip: string; headers: IncomingHttpHeaders };
}

export type Call<A extends Access, P extends Shape, Q extends Shape, B> = Surroundings &
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
  /** An id that is none is answered like an unknown one, with the 404 that `answers` declares. */
  params?: P;
  query?: Q;
  body?: B;
  multipart?: Multipart;
  /** The body is that of an HTML form, or its bare text, whatever its type: signatures are made over that. */
  bodyKind?: 'form' | 'raw';
  /** What a member needs to be at least, where any member is not enough. Keys are not asked for one. */
  role?: Role;
  /** The parameter of a user whom everybody may be, whatever the role: themselves. */
  orSelf?: string;
  /** Its statement asks whether the key is still the project's: so it is let in from memory, and not a moment too long. */
  checksKey?: true;
  /** It reads although it is no GET, or must work while the project is disabled. */
  whileDisabled?: true;
  /** Open to users who have not verified their address yet, where that is required. */
  unverified?: true;
  /** Its cost is up to the caller: a project has only a few such calls under way at once, others wait or get a 429. */
  heavy?: HeavyWork;
  /** Bytes of a JSON body; `BODY_MAX_BYTES` when nothing is said. */
  bodyLimit?: (settings: Settings) => number;
  /** Its transactions may run longer statements than `DATABASE_STATEMENT_TIMEOUT_MS` allows. */
  statementTimeoutMs?: number;
  /** A body that breaks a rule is 422, except where the contract says 400. */
  invalidBody?: 400;
  /** Those marked `plain` go out as `{ error: "<text>" }`. */
  answers: DeclaredAnswers;
}

export interface RouteDeclaration<A extends Access, P extends Shape, Q extends Shape, B> extends Declaration<P, Q, B> {
  access: A;
  handle(call: Call<A, P, Q, B>): Promise<Answer> | Answer;
}

/** A declared route without its types; the stages between the router and the handler see to it that they hold. */
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
