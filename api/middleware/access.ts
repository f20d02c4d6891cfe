import type { Role } from '../../db/models/membership.ts';
import type { User } from '../../db/models/user.ts';
import { ApiError, invalidKey, projectDisabled } from '../../platform/errors.ts';
import { type KeyKind, keyKind, type ProjectAccess } from '../../services/access/keys.ts';
import { findMembership, hasRole, noProject } from '../../services/access/membership.ts';
import type { RateCaller, RateDecision } from '../../services/access/rate-limiter.ts';
import { requireUsableKey } from '../../services/access/scoped-keys.ts';
import { requireScope, type Scope } from '../../services/access/scopes.ts';
import { type CurrentSession, findSession, touchSession } from '../../services/sessions/sessions.ts';
import type { AppParts, Caller, Context } from '../http/context.ts';
import { neededRole, type Route } from '../http/route.ts';
import { sessionToken } from '../http/session-cookie.ts';
import { isPublicApi } from './cors.ts';
import { noRoute } from './unknown-route.ts';

type Authenticate = (ctx: Context, params: Record<string, string>) => Promise<Caller>;
type Declared = Pick<
  Route,
  | 'access'
  | 'method'
  | 'path'
  | 'role'
  | 'orSelf'
  | 'unverified'
  | 'checksKey'
  | 'confirmed'
  | 'scope'
  | 'alsoScope'
  | 'projectInQuery'
  | 'changesState'
>;
type Parts = Pick<AppParts, 'db' | 'keys' | 'settings'>;

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const anonymous: Caller = {};

/** How long a confirmation allows acts that need one. */
export const CONFIRMED_MS = 15 * 60_000;

/** Returns the authentication of a route. All access decisions are made here. */
export function authenticatorOf(route: Declared, parts: Parts): Authenticate {
  const authenticate = authenticatorByAccess(route, parts);
  if (route.confirmed !== true) return authenticate;
  return async (ctx, params) => {
    const caller = await authenticate(ctx, params);
    if (caller.session) requireConfirmed(caller.session);
    return caller;
  };
}

function authenticatorByAccess(route: Declared, parts: Parts): Authenticate {
  const { settings } = parts;
  const user = (ctx: Context) => sessionUser(ctx, parts, route);
  const keyOr = (otherwise: Authenticate): Authenticate => {
    const byKey: Authenticate = (ctx) => callerByKey(ctx, 'secret', route, parts);
    if (isPublicApi(route.path)) return byKey;
    return (ctx, params) => (hasSessionCookie(ctx) ? otherwise : byKey)(ctx, params);
  };
  const member: Authenticate = async (ctx, params) => memberOf(ctx, await user(ctx), params, route, parts);
  switch (route.access) {
    case 'public':
      return async (ctx) => {
        // Logging in and out changes the browser's session, which other sites must not do.
        const isRead = isSafe(ctx.method) && !route.changesState;
        if (!isRead && sessionToken(ctx.req.headers)) refuseForeignOrigin(ctx, settings);
        return anonymous;
      };
    case 'session':
      return user;
    case 'projectSession':
      return async (ctx) => projectMember(ctx, await user(ctx), route, parts);
    case 'operator':
      return async (ctx) => {
        const caller = await user(ctx).catch((error: unknown) => {
          throw error instanceof ApiError ? noRoute(ctx) : error;
        });
        if (!caller.user.operator) throw noRoute(ctx);
        return caller;
      };
    case 'member':
      return member;
    case 'publicKey':
      return (ctx) => callerByKey(ctx, 'public', route, parts);
    case 'anyKey':
      return (ctx) =>
        callerByKey(ctx, keyKind(bearer(ctx.req.headers.authorization ?? '') ?? '') ?? 'secret', route, parts);
    case 'secretKey':
      return keyOr(async (ctx) => projectMember(ctx, await user(ctx), route, parts));
    case 'memberOrKey': {
      const authenticate = keyOr(member);
      return async (ctx, params) => {
        const caller = await authenticate(ctx, params);
        if (caller.project?.projectId !== params.id?.toLowerCase()) throw noProject();
        return caller;
      };
    }
  }
}

/** A disabled project is read-only. */
export function refuseIfDisabled({ method }: Context, { disabled, disabledReason }: ProjectAccess): void {
  if (disabled && !isSafe(method)) throw projectDisabled(disabledReason);
}

const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD';

const keyNames = { public: 'public key (pk_...)', secret: 'secret key (sk_...)' } as const;

async function callerByKey(ctx: Context, needed: KeyKind, route: Declared, { keys }: Parts): Promise<Caller> {
  const header = ctx.req.headers.authorization;
  if (!header) throw invalidKey(`No API key was sent. This route needs the project's ${keyNames[needed]}.`);
  const key = bearer(header);
  const kind = key && keyKind(key);
  if (!key || !kind)
    throw invalidKey('The Authorization header is malformed. Send "Bearer", a space, and a complete pk_ or sk_ key.');
  if (kind !== needed) {
    // Only for the log of failed requests: the answer is the same without a database.
    const project = await keys.find(key).catch(() => undefined);
    if (project) ctx.state.caller = { project, keyKind: kind };
    throw invalidKey(
      `This route needs the project's ${keyNames[needed]}; a ${keyNames[kind]} was sent. They are not interchangeable.`,
    );
  }
  const project = await (route.checksKey ? keys.find(key) : keys.findCurrent(key));
  if (!project) throw invalidKey(`This ${keyNames[kind]} is unknown or has been revoked.`);
  const caller: Caller = { project, keyKind: kind };
  // Set before the checks, so that the project's log of failed requests has what they refuse.
  ctx.state.caller = caller;
  if (project.key) {
    requireUsableKey(project.key, ctx.ip);
    requireScope(project, ...scopesOf(route));
    if (route.alsoScope && !route.alsoScope.for) requireScope(project, route.alsoScope.scope);
    await keys.recordUse(project.projectId, project.key);
  }
  return caller;
}

const scopesOf = ({ scope = [] }: Declared): readonly Scope[] =>
  typeof scope === 'string' ? (scope === 'track' ? [] : [scope]) : scope;

function bearer(header: string): string | undefined {
  const space = header.indexOf(' ');
  return header.slice(0, space).toLowerCase() === 'bearer' ? header.slice(space + 1).trim() : undefined;
}

const hasSessionCookie = (ctx: Context): boolean =>
  ctx.req.headers.authorization === undefined && sessionToken(ctx.req.headers) !== undefined;

/**
 * Prevents cross-site request forgery: browsers send the cookie with another site's form or link, but cannot forge where
 * it comes from. A link or an image has no Origin.
 */
function refuseForeignOrigin({ req }: Context, { corsOrigins }: Parts['settings']): void {
  const { origin, 'sec-fetch-site': site } = req.headers;
  if (origin === undefined ? site !== 'cross-site' : corsOrigins.includes(origin)) return;
  throw new ApiError(403, 'FORBIDDEN', 'Session requests are not allowed from this origin.', {
    suggestion: 'Add the origin to CORS_ORIGINS if you trust it.',
  });
}

interface SessionCaller {
  user: User;
  session: CurrentSession;
}

async function sessionUser(ctx: Context, { db, settings }: Parts, { unverified }: Declared): Promise<SessionCaller> {
  const token = sessionToken(ctx.req.headers);
  if (token && !isSafe(ctx.method)) refuseForeignOrigin(ctx, settings);
  const found = token ? await findSession(db, token) : undefined;
  const user = found?.user;
  if (user && settings.emailVerificationRequired && !user.emailVerified && !unverified)
    throw new ApiError(403, 'EMAIL_VERIFICATION_REQUIRED', 'Verify your email address first.', {
      suggestion: 'Follow the link in the verification email, or request another with POST /auth/request-verification.',
    });
  if (found) {
    await touchSession(db, found.session, { ip: ctx.ip, userAgent: ctx.get('User-Agent') });
    return found;
  }
  throw new ApiError(401, 'UNAUTHORIZED', token ? 'This session has ended.' : 'This route needs a session.', {
    suggestion: 'Log in with POST /auth/login and send the cookie it sets.',
  });
}

async function projectMember(ctx: Context, caller: SessionCaller, route: Declared, parts: Parts): Promise<Caller> {
  const { user } = caller;
  const projectId = ctx.get('X-Project-Id') || (route.projectInQuery ? [ctx.query.projectId].flat()[0] : '');
  if (!projectId) throw new ApiError(400, 'BAD_REQUEST', 'Session requests need the X-Project-Id header.');
  const membership = UUID.test(projectId) ? await findMembership(parts.db, user.id, projectId) : undefined;
  if (!membership) throw new ApiError(403, 'FORBIDDEN', 'You are not a member of the project in X-Project-Id.');
  ctx.state.caller = { user, ...membership };
  requireRole(membership.role, route);
  return { ...caller, ...membership };
}

/** Returns the member of the project in the path; 404 for all others. */
async function memberOf(
  ctx: Context,
  caller: SessionCaller,
  params: Record<string, string>,
  route: Declared,
  parts: Parts,
): Promise<Caller> {
  const { user } = caller;
  const { id: projectId = '' } = params;
  const membership = UUID.test(projectId) ? await findMembership(parts.db, user.id, projectId) : undefined;
  if (!membership) throw noProject();
  ctx.state.caller = { user, ...membership };
  if (params[route.orSelf ?? ''] !== user.id) requireRole(membership.role, route);
  return { ...caller, ...membership };
}

function requireRole(role: Role, route: Declared): void {
  const needed = neededRole(route);
  if (!hasRole(role, needed))
    throw new ApiError(403, 'FORBIDDEN', `This requires the role ${needed} in the project; yours is ${role}.`);
}

/** Rejects with 403 a session without a confirmation of the last 15 minutes. */
export function requireConfirmed({ provenAt }: CurrentSession): void {
  if (Date.now() - provenAt.getTime() < CONFIRMED_MS) return;
  throw new ApiError(403, 'FORBIDDEN', 'Confirm your password or a code first (POST /auth/confirm).', {
    suggestion: 'A confirmation lasts 15 minutes. Without a password or a code, sign in with your provider again.',
    details: { confirmationRequired: true },
  });
}

type Limiters = Pick<AppParts, 'limiter' | 'addressLimiter'>;

/**
 * Takes the call from the bucket of its project, or of its user where it is about no project. Decides from memory far
 * from the limit; near it the returned promise waits for the database.
 */
export function limitRate(
  ctx: Context,
  { limiter, addressLimiter }: Limiters,
  { project, user, keyKind }: Caller,
): undefined | Promise<void> {
  const id = project?.projectId ?? user?.id;
  if (!limiter || !id) return undefined;
  const caller: RateCaller = keyKind ?? 'session';
  // Checked before the project's limit: one address must not use up the calls of others.
  const byAddress = caller === 'public' ? addressLimiter?.take(ctx.ip) : undefined;
  if (byAddress && !byAddress.allowed) enforce(ctx, byAddress, 'from this address');
  const taken = limiter.take(id, caller);
  const finish = (decision: RateDecision) => {
    const tighter = byAddress && decision.allowed && byAddress.remaining < decision.remaining ? byAddress : decision;
    const bySession = project ? 'by sessions in this project' : 'by your sessions';
    enforce(ctx, tighter, caller === 'session' ? bySession : "with this project's keys");
  };
  if (taken instanceof Promise) return taken.then(finish);
  finish(taken);
  return undefined;
}

/** Sets the headers first, so that error responses have them too. */
function enforce({ res }: Context, { allowed, limit, remaining, resetSeconds }: RateDecision, whose: string): void {
  res.setHeader('RateLimit-Limit', limit);
  res.setHeader('RateLimit-Remaining', remaining);
  res.setHeader('RateLimit-Reset', resetSeconds);
  if (!allowed)
    throw new ApiError(429, 'RATE_LIMIT_EXCEEDED', `More than ${limit} requests per minute ${whose}.`, {
      suggestion: `Retry in ${resetSeconds} s.`,
      headers: { 'Retry-After': String(resetSeconds) },
    });
}
