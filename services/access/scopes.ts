import { ApiError } from '../../platform/errors.ts';

const resources = [
  'send',
  'contacts',
  'segments',
  'templates',
  'topics',
  'forms',
  'campaigns',
  'workflows',
  'events',
  'domains',
  'webhooks',
  'analytics',
] as const;

/** What a route needs. `write` includes `read`. */
export type Scope = `${(typeof resources)[number]}:${'read' | 'write'}`;
/** What a scoped key may have. */
export type GrantedScope = Scope | 'all';

export const scopes: readonly Scope[] = resources.flatMap((name) => [`${name}:read`, `${name}:write`] as const);
export const grantedScopes: readonly GrantedScope[] = [...scopes, 'all'];

const includes = (granted: readonly GrantedScope[], needed: Scope): boolean =>
  granted.includes('all') ||
  granted.includes(needed) ||
  (needed.endsWith(':read') && granted.includes(needed.replace(/read$/, 'write') as Scope));

/** A `ProjectAccess`. */
interface Caller {
  key?: { scopes: readonly GrantedScope[] };
}

/** Returns whether the caller has one of these scopes. The key pair and sessions have all. */
export const hasScope = ({ key }: Caller, ...anyOf: readonly Scope[]): boolean =>
  key === undefined || anyOf.some((scope) => includes(key.scopes, scope));

/** Rejects with 403 a scoped key that has none of these scopes. */
export function requireScope(caller: Caller, ...anyOf: readonly Scope[]): void {
  if (hasScope(caller, ...anyOf)) return;
  const missing = anyOf.join(' or ');
  throw new ApiError(403, 'FORBIDDEN', `This key lacks the scope ${missing}.`, {
    details: { missingScope: anyOf[0], anyOf },
    suggestion: 'Use a key with this scope; an ADMIN of the project can create one.',
  });
}
