import type { IncomingHttpHeaders } from 'node:http';
import type { Db } from '../../db/connect.ts';
import type { User } from '../../db/models/user.ts';
import type { Settings } from '../../platform/settings.ts';
import type { Actor } from '../../services/audit/record.ts';
import { createSessionOf, SESSION_DAYS } from '../../services/sessions/sessions.ts';

type CookieSettings = Pick<Settings, 'baseUrl'>;

const COOKIE = 'everpost_session';
/** Browsers accept this prefix only from the host itself, over https and for all paths: no subdomain can set it. */
const HOST_COOKIE = `__Host-${COOKIE}`;

/**
 * Prefixes the tokens of sessions with a host cookie, so that such a session is not found by a cookie of the other
 * name, which a subdomain could set. Cookie values here never contain "=", so none can imitate it.
 */
const HOST_BOUND = `${HOST_COOKIE}=`;

const isHttps = ({ baseUrl }: CookieSettings): boolean => baseUrl.startsWith('https:');

/** Builds a cookie that scripts cannot read and cross-site forms do not send. */
export const cookieHeader = (
  name: string,
  value: string,
  { seconds, path = '/', baseUrl }: CookieSettings & { seconds: number; path?: string },
): string => {
  const secure = isHttps({ baseUrl }) ? '; Secure' : '';
  return `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
};

/**
 * Creates a session. Returns the Set-Cookie header, and the token as `sessionTokens` will read it. A log-in names its
 * actor, for the audit log.
 */
export async function startSession(
  db: Db,
  user: Pick<User, 'id' | 'passwordHash'>,
  { baseUrl }: CookieSettings,
  actor?: Actor,
) {
  const [name, boundTo] = isHttps({ baseUrl }) ? [HOST_COOKIE, HOST_BOUND] : [COOKIE, ''];
  const value = await createSessionOf(db, user, { boundTo, actor });
  const headers = { 'Set-Cookie': cookieHeader(name, value, { seconds: SESSION_DAYS * 86_400, baseUrl }) };
  return { headers, token: boundTo + value };
}

/** Clears both cookies: one may be from before the base URL was https. */
export function withoutSession({ baseUrl }: CookieSettings): Record<string, string | string[]> {
  const cleared = (name: string) => cookieHeader(name, '', { seconds: 0, baseUrl });
  return { 'Set-Cookie': isHttps({ baseUrl }) ? [cleared(HOST_COOKIE), cleared(COOKIE)] : cleared(COOKIE) };
}

export function cookieValue({ cookie: header = '' }: IncomingHttpHeaders, name: string): string | undefined {
  const pairs = header.split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([given]) => given === name)?.[1] || undefined;
}

/**
 * Returns the tokens of a request, the preferred first. The old name only finds sessions from before the switch to the
 * host cookie, which last seven days.
 */
export function sessionTokens(headers: IncomingHttpHeaders): string[] {
  const [host, old] = [cookieValue(headers, HOST_COOKIE), cookieValue(headers, COOKIE)];
  return [...(host ? [HOST_BOUND + host] : []), ...(old ? [old] : [])];
}

export const sessionToken = (headers: IncomingHttpHeaders): string | undefined => sessionTokens(headers)[0];
