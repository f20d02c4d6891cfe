import type { Middleware as KoaMiddleware, ParameterizedContext } from 'koa';
import type { Db } from '../../db/connect.ts';
import type { Role } from '../../db/models/membership.ts';
import type { User } from '../../db/models/user.ts';
import type { Violation } from '../../platform/errors.ts';
import type { Resolver } from '../../platform/http/resolver.ts';
import type { FixedProvider, OAuthServer } from '../../platform/integrations/oauth.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Readiness } from '../../platform/probes.ts';
import type { Settings } from '../../platform/settings.ts';
import type { Renderer } from '../../platform/templates/index.ts';
import type { AddressLimiter } from '../../services/access/address-limiter.ts';
import type { KeyCache, KeyKind, ProjectAccess } from '../../services/access/keys.ts';
import type { RateLimiter } from '../../services/access/rate-limiter.ts';
import type { DomainRef } from '../../services/domains/loop.ts';
import type { RequestLog } from '../../services/request-log/requests.ts';
import type { CurrentSession } from '../../services/sessions/sessions.ts';
import type { LiveHub } from '../live/hub.ts';
import type { Metrics } from '../metrics.ts';
import type { ConcurrencyLimit } from './concurrency.ts';
import type { OpenApiDocument } from './openapi-shared.ts';
import type { ReceiveLimit } from './receive-limit.ts';

/** The app's dependencies, built by `start.ts`. */
export interface AppParts {
  settings: Settings;
  db: Db;
  /** The same pool with another statement timeout. */
  dbWithTimeout(ms: number): Db;
  log: Logger;
  keys: KeyCache;
  /** Undefined when rate limiting is off. */
  limiter: RateLimiter | undefined;
  /** For public-key calls. Undefined when off. */
  addressLimiter: AddressLimiter | undefined;
  metrics: Metrics;
  concurrency: ConcurrencyLimit;
  receiving: ReceiveLimit;
  ready(): Promise<Readiness>;
  /** Whether the database's disk was full a moment ago. */
  hasFullDisk(): boolean;
  /** The OpenAPI document of all routes. */
  document(): OpenApiDocument;
  /** Checks a domain now. Resolves when the check ends or takes too long. */
  checkDomain(domain: DomainRef): Promise<void>;
  resolver: Resolver;
  /** Renders previews and simulated mail. */
  renderer: Renderer;
  /** The open streams of this process. */
  liveHub: LiveHub;
  requestLog: RequestLog;
  /** Addresses of OAuth providers, for tests. */
  oauthAt?: Record<FixedProvider, OAuthServer> | undefined;
  /** True during shutdown: every response then closes its connection. */
  isClosing(): boolean;
}

/** The caller. Which parts are known depends on the access of the route. */
export interface Caller {
  project?: ProjectAccess;
  /** Of a caller with a key. */
  keyKind?: KeyKind;
  role?: Role;
  user?: User;
  session?: CurrentSession;
}

export interface RequestState {
  id: string;
  /** The path template of a route, once it is matched. */
  route?: string;
  /** Once it is known, also when it is refused afterwards. */
  caller?: Caller;
  /** Of an error answer. */
  failure?: { code: string | null; message: string; errors?: Violation[] | undefined };
  /** The request failed because the database is unavailable, which is logged once for many. */
  isOutage?: boolean;
}

export type Context = ParameterizedContext<RequestState>;
export type Middleware = KoaMiddleware<RequestState>;
