// Changes that the server does not have yet, kept in the browser so that neither a reload nor a closed tab loses them.
import type { StoredContent } from './draft-state.ts';

/** The tab that wrote a content: another one must not remove it. */
const TAB = String(Math.random());

const keyOf = (userId: string, name: string): string => `everpost.content.${userId}.${name}`;

export function readStored<C>(userId: string, name: string): StoredContent<C> | undefined {
  try {
    const stored = JSON.parse(localStorage.getItem(keyOf(userId, name)) ?? 'null') as StoredContent<C> | null;
    return typeof stored?.revision === 'number' && stored.content ? stored : undefined;
  } catch {
    return undefined;
  }
}

/** Returns false where the storage is full or forbidden. */
export function writeStored<C>(userId: string, name: string, stored: StoredContent<C>): boolean {
  try {
    localStorage.setItem(keyOf(userId, name), JSON.stringify({ ...stored, tab: TAB }));
    return true;
  } catch {
    return false;
  }
}

export function clearStored(userId: string, name: string): void {
  const stored = readStored(userId, name) as { tab?: string } | undefined;
  if (stored?.tab === TAB) localStorage.removeItem(keyOf(userId, name));
}
