import type { IncomingHttpHeaders } from 'node:http';
import type { Settings } from '../../platform/settings.ts';
import { SESSION_DAYS } from '../../services/sessions/sessions.ts';
import { SESSION_COOKIE } from '../middleware/access.ts';

type CookieSettings = Pick<Settings, 'baseUrl'>;

/** A cookie that no script sees, and that no other site's form brings along. */
export const cookieHeader = (
  name: string,
  value: string,
  { seconds, path = '/', baseUrl }: CookieSettings & { seconds: number; path?: string },
): string => {
  const secure = baseUrl.startsWith('https:') ? '; Secure' : '';
  return `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
};

/** Headers that give the browser a session, or take it away. */
export const withSession = (token: string, { baseUrl }: CookieSettings) => ({
  'Set-Cookie': cookieHeader(SESSION_COOKIE, token, { seconds: SESSION_DAYS * 86_400, baseUrl }),
});
export const withoutSession = ({ baseUrl }: CookieSettings) => ({
  'Set-Cookie': cookieHeader(SESSION_COOKIE, '', { seconds: 0, baseUrl }),
});

export function cookieValue({ cookie: header = '' }: IncomingHttpHeaders, name: string): string | undefined {
  const pairs = header.split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([given]) => given === name)?.[1] || undefined;
}

/** For routes that ask nobody who they are, and still know those who say so. */
export const sessionToken = (headers: IncomingHttpHeaders): string | undefined => cookieValue(headers, SESSION_COOKIE);
