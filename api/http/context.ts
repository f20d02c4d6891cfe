import type { Middleware as KoaMiddleware, ParameterizedContext } from 'koa';
import type { Db } from '../../db/connect.ts';
import type { Logger } from '../../platform/logger.ts';
import type { OAuthProvider, OAuthServer } from '../../platform/oauth.ts';
import type { Readiness } from '../../platform/probes.ts';
import type { Renderer } from '../../platform/renderer/index.ts';
import type { Resolver } from '../../platform/resolver.ts';
import type { Settings } from '../../platform/settings.ts';
import type { KeyCache } from '../../services/access/key-cache.ts';
import type { RateLimiter } from '../../services/access/rate-limiter.ts';
import type { DomainPlace } from '../../services/domains/loop.ts';
import type { AddressLimiter } from '../../services/projects/address-limiter.ts';
import type { Metrics } from '../metrics.ts';

/** What `server.ts` puts together and the app works with. */
export interface AppParts {
  settings: Settings;
  db: Db;
  /** The same pool, for a route that declares another limit for its statements. */
  dbWithTimeout(ms: number): Db;
  log: Logger;
  keys: KeyCache;
  /** Undefined when the limit is turned off. */
  limiter: RateLimiter | undefined;
  /** Of public-key calls. Undefined when it is turned off. */
  addressLimiter: AddressLimiter | undefined;
  metrics: Metrics;
  ready(): Promise<Readiness>;
  /** Looks the records of a domain up now, and is back when that is done or takes too long. */
  checkDomain(domain: DomainPlace): Promise<void>;
  resolver: Resolver;
  /** For whoever wants to see a mail that is not sent. */
  renderer: Renderer;
  /** Where OAuth providers are, when they are not where everybody finds them. */
  oauthAt?: Record<OAuthProvider, OAuthServer> | undefined;
  /** From then on every answer ends its connection. */
  isClosing(): boolean;
}

export interface RequestState {
  id: string;
  /** The template of the path, once a route is found. */
  route?: string;
}

export type Context = ParameterizedContext<RequestState>;
export type Middleware = KoaMiddleware<RequestState>;
