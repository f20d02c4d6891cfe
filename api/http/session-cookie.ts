import type { IncomingHttpHeaders } from 'node:http';
import type { User } from '../../db/models/user.ts';
import type { Settings } from '../../platform/settings.ts';
import { SESSION_DAYS } from '../../services/sessions/sessions.ts';
import { type SecondFactor, type SignInClient, startSession } from '../../services/users/sign-in.ts';
import type { HandlerContext } from './route.ts';

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

/** Returns the client of a request that starts a session. */
export const signInClient = ({ settings, actor, request: { ip, headers } }: HandlerContext): SignInClient => ({
  actor,
  ip,
  userAgent: headers['user-agent'],
  boundTo: isHttps(settings) ? HOST_BOUND : '',
});

/** Returns the cookie of a new session. */
export const sessionCookie = ({ baseUrl }: CookieSettings, token: string): string =>
  cookieHeader(isHttps({ baseUrl }) ? HOST_COOKIE : COOKIE, token, { seconds: SESSION_DAYS * 86_400, baseUrl });

/** Starts a session of a user who has proved who they are. Returns the header that sets its cookie. */
export async function startedSession(
  call: HandlerContext,
  user: User,
  factor: SecondFactor = {},
): Promise<{ 'Set-Cookie': string }> {
  const token = await startSession(call.db, call.settings.secretKeys, user, factor, signInClient(call));
  return { 'Set-Cookie': sessionCookie(call.settings, token) };
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
  const host = cookieValue(headers, HOST_COOKIE);
  const old = cookieValue(headers, COOKIE);
  return [...(host ? [HOST_BOUND + host] : []), ...(old ? [old] : [])];
}

export const sessionToken = (headers: IncomingHttpHeaders): string | undefined => sessionTokens(headers)[0];
