import { isUuid } from './ids.ts';

const MAX_LENGTH = 50;

/** Returns a key (`a-z0-9-`, up to 50 characters) made of a name; a number makes it unique. */
export function keyOf(name: string, { fallback, taken }: { fallback: string; taken: readonly string[] }): string {
  const slug = slugOf(name) || fallback;
  const base = isUuid(slug) ? `${fallback}-${slug}` : slug;
  for (let n = 1; ; n++) {
    const suffix = n === 1 ? '' : `-${n}`;
    const key = `${base.slice(0, MAX_LENGTH - suffix.length)}${suffix}`;
    if (!taken.includes(key)) return key;
  }
}

const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, '');
