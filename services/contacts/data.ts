import type { Violation } from '../../platform/errors.ts';

/** Names of the service, silently dropped from any `data`. */
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

export const isReservedField = (name: string): boolean => RESERVED.has(name);

export type Data = Record<string, unknown>;

/** The limit of one request. The data of a contact may grow to twice that (constraint contacts_data_size). */
export const MAX_DATA_BYTES = 64 * 1024;
export const MAX_KEY_LENGTH = 256;

export const mergedTooLarge: Violation = {
  field: 'data',
  message: '"data" of this contact would exceed 128 KB',
  code: 'too_big',
};

/** Returns which limit a `data` object exceeds, as the rest of a sentence that begins with its name. */
export function exceededLimit(data: Data): string | undefined {
  if (Object.keys(data).some((key) => key.length > MAX_KEY_LENGTH))
    return `has a key of more than ${MAX_KEY_LENGTH} characters`;
  if (Buffer.byteLength(JSON.stringify(data)) > MAX_DATA_BYTES) return `is larger than ${MAX_DATA_BYTES / 1024} KB`;
  return undefined;
}

/** What a request's `data` changes. */
export interface DataChange {
  /** Stored on the contact. */
  patch: Data;
  /** Keys to remove from the contact. */
  deletes: string[];
  /** The values for this mail or event: those in `patch` and those that are not stored. */
  seen: Data;
}

/** The rules for `data` in every API: null deletes a key, an empty string is ignored, `persistent: false` is not stored. */
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
  // fromEntries defines own properties, also for a key `__proto__`.
  return { patch: Object.fromEntries(patch), deletes, seen: Object.fromEntries(seen) };
}

function unwrap(given: unknown): { value: unknown; persistent: boolean } {
  if (typeof given === 'object' && given !== null && 'value' in given && 'persistent' in given)
    if (typeof given.persistent === 'boolean') return { value: given.value, persistent: given.persistent };
  return { value: given, persistent: true };
}
