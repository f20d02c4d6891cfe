import type { IncomingHttpHeaders } from 'node:http';
import type { Settings } from '../../platform/settings.ts';
import { SESSION_DAYS } from '../../services/sessions/sessions.ts';
import { SESSION_COOKIE } from '../middleware/access.ts';

type CookieSettings = Pick<Settings, 'baseUrl'>;

const cookie = (value: string, seconds: number, { baseUrl }: CookieSettings): Record<string, string> => ({
  'Set-Cookie': `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${
    baseUrl.startsWith('https:') ? '; Secure' : ''
  }`,
});

/** Headers that give the browser a session, or take it away. */
export const withSession = (token: string, settings: CookieSettings) => cookie(token, SESSION_DAYS * 86_400, settings);
export const withoutSession = (settings: CookieSettings) => cookie('', 0, settings);

/** For routes that ask nobody who they are, and still know those who say so. */
export function sessionToken({ cookie: header = '' }: IncomingHttpHeaders): string | undefined {
  const pairs = header.split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([name]) => name === SESSION_COOKIE)?.[1] || undefined;
}
