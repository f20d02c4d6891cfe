// Random and mutated inputs, from a seed.
import type { SeededRandom } from '../random.ts';

/** Pieces that parsers have stumbled over. */
const NASTY = [
  '\0',
  '\r\n',
  '\n.\r\n',
  '\u2028',
  '\ud800',
  '\udfff',
  '\u202e',
  'ﷺ',
  '𝒳',
  '\x7f',
  '%00',
  '%',
  '\\',
  '"',
  "'",
  '`',
  '{{',
  '}}',
  '{%',
  '%}',
  '{#',
  '{{ a.b.c }}',
  '{% for x in range(1e9) %}',
  '{{ "x" * 1e9 }}',
  '{{ constructor }}',
  '<',
  '>',
  '<!--',
  '-->',
  '<![CDATA[',
  '&#x0;',
  '</body>',
  '<a href="',
  'javascript:',
  '=?utf-8?b?',
  '=?x?q?',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  '-0',
  '1e309',
  '-1',
  '9007199254740993',
  '0x10',
  '../',
  'file:///etc/passwd',
  'http://[::1]:0/',
  "' or 1=1 --",
  '$1',
  '$where',
  ';',
  ',',
  '@',
  '@@',
  '..',
  '.',
  ' ',
  '2026-13-45T99:99:99Z',
  '0000-00-00',
  '+275760-09-13T00:00:00.001Z',
  '(',
  '[',
  '{',
  '('.repeat(200),
  '['.repeat(200),
];

/** Returns the text with some bytes changed, removed, doubled, moved or replaced by something nasty. */
export function mutated(text: string, random: SeededRandom, most = 4): string {
  let result = text;
  for (let changes = random.between(1, most); changes > 0; changes--) {
    const at = random.between(0, result.length);
    const length = random.between(0, Math.min(16, result.length - at));
    const part = result.slice(at, at + length);
    const change = random.between(0, 5);
    const put =
      change === 0
        ? ''
        : change === 1
          ? part.repeat(random.between(2, 40))
          : change === 2
            ? String.fromCharCode(random.between(0, 0xffff))
            : change === 3
              ? random.pick(NASTY) + part
              : change === 4
                ? random.pick(NASTY).repeat(random.between(1, 300))
                : part.split('').reverse().join('');
    result = result.slice(0, at) + put + result.slice(at + length);
  }
  return result;
}

/** Any JSON value, up to some depth. */
export function anyJson(random: SeededRandom, depth = 3): unknown {
  const kind = random.between(0, depth > 0 ? 9 : 7);
  if (kind === 0) return null;
  if (kind === 1) return random.next() < 0.5;
  if (kind === 2) return random.pick([0, -0, 1, -1, 1.5, 2 ** 31, 2 ** 53, 1e308, -1e308, 1e-320]);
  if (kind === 3) return random.between(-1_000, 1_000);
  if (kind < 6) return random.pick(NASTY);
  if (kind === 6) return mutated('user@example.com', random);
  if (kind === 7) return 'x'.repeat(random.pick([0, 1, 255, 256, 1_000, 70_000]));
  if (kind === 8) return Array.from({ length: random.between(0, 6) }, () => anyJson(random, depth - 1));
  return Object.fromEntries(
    Array.from({ length: random.between(0, 5) }, (_, n) => [
      random.next() < 0.3 ? random.pick(NASTY) : `k${n}`,
      anyJson(random, depth - 1),
    ]),
  );
}

/** A value with some of its parts replaced, removed or added. */
export function mutatedJson(value: unknown, random: SeededRandom, chance = 0.2): unknown {
  if (random.next() < chance * 0.5) return anyJson(random);
  if (typeof value === 'string') return random.next() < chance ? mutated(value, random) : value;
  if (Array.isArray(value)) {
    const items = value.map((item) => mutatedJson(item, random, chance));
    return random.next() < chance ? [...items, ...items, anyJson(random)] : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(() => random.next() > chance * 0.3)
    .map(([key, item]) => [key, mutatedJson(item, random, chance)]);
  if (random.next() < chance) entries.push([random.pick(NASTY), anyJson(random)]);
  return Object.fromEntries(entries);
}
