import type { Role } from '../../db/models/membership.ts';
import type { User } from '../../db/models/user.ts';
import { ApiError, invalidKey, projectDisabled } from '../../platform/errors.ts';
import { type KeyKind, keyKind, type ProjectAccess } from '../../services/projects/keys.ts';
import { findMembership } from '../../services/projects/membership.ts';
import { findSessionUser } from '../../services/sessions/sessions.ts';
import type { AppParts, Context } from '../http/context.ts';
import type { Access } from '../http/route.ts';
import { isPublicApi } from './cors.ts';

export const SESSION_COOKIE = 'everpost_session';

export interface Caller {
  project?: ProjectAccess;
  role?: Role;
  user?: User;
}

type Gate = (ctx: Context) => Promise<Caller>;
type Parts = Pick<AppParts, 'db' | 'keys' | 'settings'>;

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const nobody: Caller = {};

/** The one place that decides who is let in to a route. */
export function gateOf(access: Access, path: string, parts: Parts): Gate {
  switch (access) {
    case 'nobody':
      return async () => nobody;
    case 'session':
      return async (ctx) => ({ user: await sessionUser(ctx, parts) });
    case 'publicKey':
      return (ctx) => keyHolder(ctx, 'public', parts);
    case 'secretKey':
      if (isPublicApi(path)) return (ctx) => keyHolder(ctx, 'secret', parts);
      return (ctx) => (comesWithCookie(ctx) ? projectMember(ctx, parts) : keyHolder(ctx, 'secret', parts));
  }
}

/** What is being written stops; what is there can still be seen. */
export function refuseIfDisabled({ method }: Context, { disabled, disabledReason }: ProjectAccess): void {
  if (disabled && !isSafe(method)) throw projectDisabled(disabledReason);
}

const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD';

const names = { public: 'public key (pk_...)', secret: 'secret key (sk_...)' } as const;

async function keyHolder(ctx: Context, needed: KeyKind, { keys }: Parts): Promise<Caller> {
  const header = ctx.req.headers.authorization;
  if (!header) throw invalidKey(`No API key was sent. This route needs the project's ${names[needed]}.`);
  const key = bearer(header);
  const kind = key && keyKind(key);
  if (!key || !kind)
    throw invalidKey('The Authorization header is garbled: it must be "Bearer", a space, and a whole pk_ or sk_ key.');
  if (kind !== needed)
    throw invalidKey(
      `This route needs the project's ${names[needed]}; a ${names[kind]} was sent. They are not interchangeable.`,
    );
  const project = await keys.find(key);
  if (!project) throw invalidKey(`This ${names[kind]} is unknown or has been revoked.`);
  return { project };
}

function bearer(header: string): string | undefined {
  const space = header.indexOf(' ');
  return header.slice(0, space).toLowerCase() === 'bearer' ? header.slice(space + 1).trim() : undefined;
}

const comesWithCookie = (ctx: Context): boolean =>
  ctx.req.headers.authorization === undefined && ctx.cookies.get(SESSION_COOKIE) !== undefined;

async function sessionUser(ctx: Context, { db, settings }: Parts): Promise<User> {
  const token = ctx.cookies.get(SESSION_COOKIE);
  const origin = ctx.req.headers.origin;
  // A browser sends the cookie along with another site's form, but cannot lie about where the form stands.
  if (token && origin !== undefined && !isSafe(ctx.method) && !settings.corsOrigins.includes(origin))
    throw new ApiError(403, 'FORBIDDEN', 'A request with a session may not come from this origin.', {
      suggestion: 'Add the origin to CORS_ORIGINS if it is one of yours.',
    });
  const user = token && (await findSessionUser(db, token));
  if (user) return user;
  throw new ApiError(401, 'UNAUTHORIZED', token ? 'This session has ended.' : 'This route needs a session.', {
    suggestion: 'Log in with POST /auth/login and send the cookie it sets.',
  });
}

async function projectMember(ctx: Context, parts: Parts): Promise<Caller> {
  const user = await sessionUser(ctx, parts);
  const projectId = ctx.get('X-Project-Id');
  if (!projectId)
    throw new ApiError(400, 'BAD_REQUEST', 'A request with a session says by X-Project-Id which project it is about.');
  const membership = UUID.test(projectId) ? await findMembership(parts.db, user.id, projectId) : undefined;
  if (!membership) throw new ApiError(403, 'FORBIDDEN', 'You are no member of the project in X-Project-Id.');
  return { user, ...membership };
}
