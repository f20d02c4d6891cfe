import type { Fault } from '../../platform/errors.ts';
import { fieldOf } from './violations.ts';

/** A condition tree at its own limit of 10 takes 34 levels. */
export const MAX_DEPTH = 64;
const MAX_FAULTS = 20;

/** Half of a surrogate pair is no character: Postgres refuses it, and so does every mail client. */
const LONE_SURROGATE = /\p{Surrogate}/u;

interface Place {
  value: object;
  path: Path;
}

/** A linked list, because a copy of the path per level would make a deep body expensive. */
interface Path {
  key: string | number;
  above: Path | undefined;
  depth: number;
}

const ROOT: Path = { key: '', above: undefined, depth: 0 };

/**
 * What is valid JSON and still must not get further: texts and numbers that cannot be stored, keys that reach for prototypes, and
 * nesting that would break whoever walks it by recursion. So this walk keeps its own stack. Text that was decoded from
 * UTF-8 can be bad only by way of a \u escape: a caller that saw none spares the walk the look into each text.
 */
export function uncleanParts(body: object, mayHoldBadText = true): Fault[] {
  const faults: Fault[] = [];
  const stack: Place[] = [{ value: body, path: ROOT }];
  for (let place = stack.pop(); place && faults.length < MAX_FAULTS; place = stack.pop()) {
    const { value, path } = place;
    if (path.depth >= MAX_DEPTH) faults.push(fault(path, `is nested deeper than ${MAX_DEPTH} levels`, 'custom'));
    else if (Array.isArray(value))
      for (let index = 0; index < value.length; index++) {
        const item: unknown = value[index];
        if (isContainer(item)) stack.push({ value: item, path: below(path, index) });
        else if (typeof item === 'number') checkNumber(item, index, path, faults);
        else if (mayHoldBadText) checkText(item, index, path, faults);
      }
    else
      for (const key of Object.keys(value)) {
        const item = (value as Record<string, unknown>)[key];
        const reason = key === '__proto__' ? 'is a name that cannot be used' : mayHoldBadText && unstorable(key);
        if (reason) faults.push(fault(below(path, key), reason, 'custom'));
        else if (isContainer(item)) stack.push({ value: item, path: below(path, key) });
        else if (typeof item === 'number') checkNumber(item, key, path, faults);
        else if (mayHoldBadText) checkText(item, key, path, faults);
      }
  }
  return faults.slice(0, MAX_FAULTS);
}

const isContainer = (item: unknown): item is object => typeof item === 'object' && item !== null;

/** JSON.parse makes Infinity of 1e999, which would be stored as null. */
function checkNumber(item: number, key: string | number, path: Path, faults: Fault[]): void {
  if (!Number.isFinite(item)) faults.push(fault(below(path, key), 'is a number that is too large', 'too_big'));
}

function checkText(item: unknown, key: string | number, path: Path, faults: Fault[]): void {
  const reason = typeof item === 'string' && unstorable(item);
  if (reason) faults.push(fault(below(path, key), reason, 'invalid_string'));
}

function unstorable(text: string): string | undefined {
  if (text.includes('\0')) return 'contains a NUL character';
  if (LONE_SURROGATE.test(text)) return 'contains half of a surrogate pair';
  return undefined;
}

const below = (above: Path, key: string | number): Path => ({ key, above, depth: above.depth + 1 });

function fault(path: Path, reason: string, code: Fault['code']): Fault {
  const keys: (string | number)[] = [];
  for (let at: Path | undefined = path; at?.above; at = at.above) keys.unshift(at.key);
  // A text that is refused for its characters is not sent back either.
  const field = fieldOf(keys).replace(/\0|\p{Surrogate}/gu, '\ufffd');
  return { field, message: `"${field}" ${reason}`, code };
}
