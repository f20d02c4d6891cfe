/** Names that belong to the service: silently dropped from any `data`. */
const RESERVED = new Set([
  'id',
  'email',
  'service_id',
  'service_email',
  'everpost_id',
  'everpost_email',
  'unsubscribeUrl',
  'subscribeUrl',
  'manageUrl',
]);

export type Data = Record<string, unknown>;

/** What a request's `data` asks for. */
export interface DataChange {
  /** Stored on the contact. */
  patch: Data;
  /** Keys that go from the contact. */
  deletes: string[];
  /** What this one mail or event sees: the stored values and those that are not to be kept. */
  seen: Data;
}

/** The rules for `data`, the same at every door: null deletes, an empty string says nothing, `persistent` decides. */
export function readData(data: Data | null | undefined): DataChange {
  const patch: [string, unknown][] = [];
  const deletes: string[] = [];
  const seen: [string, unknown][] = [];
  for (const [key, given] of Object.entries(data ?? {})) {
    if (RESERVED.has(key)) continue;
    const { value, persistent } = unwrap(given);
    if (value === '' || value === undefined) continue;
    if (value !== null) seen.push([key, value]);
    if (persistent && value === null) deletes.push(key);
    else if (persistent) patch.push([key, value]);
  }
  // fromEntries defines own properties whatever their names, `__proto__` included.
  return { patch: Object.fromEntries(patch), deletes, seen: Object.fromEntries(seen) };
}

function unwrap(given: unknown): { value: unknown; persistent: boolean } {
  if (typeof given === 'object' && given !== null && 'value' in given && 'persistent' in given)
    if (typeof given.persistent === 'boolean') return { value: given.value, persistent: given.persistent };
  return { value: given, persistent: true };
}
