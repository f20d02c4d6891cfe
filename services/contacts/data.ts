import type { Fault } from '../../platform/errors.ts';

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

/** Of one request. What a contact has gathered may be twice that; the database sees to it (contacts_data_size). */
export const MAX_DATA_BYTES = 64 * 1024;
export const MAX_KEY_LENGTH = 256;

export const mergedTooLarge: Fault = {
  field: 'data',
  message: '"data" of this contact would grow larger than 128 KB',
  code: 'too_big',
};

/** Which limit a `data` object breaks, in words that go on from its name. */
export function limitBrokenBy(data: Data): string | undefined {
  if (Object.keys(data).some((key) => key.length > MAX_KEY_LENGTH))
    return `has a key of more than ${MAX_KEY_LENGTH} characters`;
  if (Buffer.byteLength(JSON.stringify(data)) > MAX_DATA_BYTES) return `is larger than ${MAX_DATA_BYTES / 1024} KB`;
  return undefined;
}

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
