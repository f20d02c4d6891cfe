import { t } from '../../texts/index.ts';

// The order matters: Edge and Chrome call themselves Safari too.
const browsers = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
  ['curl', 'curl'],
] as const;

const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS', 'macOS'],
  ['Linux', 'Linux'],
] as const;

const find = (pairs: readonly (readonly [string, string])[], text: string): string | undefined =>
  pairs.find(([mark]) => text.includes(mark))?.[1];

/** Names browser and system of a user agent as people call them. */
export function browserName(userAgent: string | null): string {
  const browser = find(browsers, userAgent ?? '');
  const system = find(systems, userAgent ?? '');
  if (browser && system) return t.security.browserOn(browser, system);
  return browser ?? system ?? t.security.unknownBrowser;
}
