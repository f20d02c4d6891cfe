import type { Violation } from '../../platform/errors.ts';
import { fieldPath } from './violations.ts';

/** A condition tree at its limit of 10 nested groups takes 34 levels. */
export const MAX_BODY_DEPTH = 64;
const MAX_VIOLATIONS = 20;

/** A lone surrogate is not a character: Postgres and mail clients reject it. */
const LONE_SURROGATE = /\p{Surrogate}/u;

interface Container {
  value: object;
  path: Path;
}

/** A linked list: copying the path per level would make deep bodies expensive. */
interface Path {
  key: string | number;
  parent: Path | undefined;
  depth: number;
}

const ROOT: Path = { key: '', parent: undefined, depth: 0 };

/**
 * Returns the parts of valid JSON that must be refused: text and numbers that cannot be stored, `__proto__` keys, and
 * nesting that would overflow recursive code, which is why this walk keeps its own stack. Text decoded from UTF-8 can
 * be bad only through a \u escape: a caller that found none skips the check of texts.
 */
export function findRefusedParts(body: object, mayContainBadText = true): Violation[] {
  const violations: Violation[] = [];
  const stack: Container[] = [{ value: body, path: ROOT }];
  for (let container = stack.pop(); container && violations.length < MAX_VIOLATIONS; container = stack.pop()) {
    const { value, path } = container;
    if (path.depth >= MAX_BODY_DEPTH)
      violations.push(violationAt(path, `is nested deeper than ${MAX_BODY_DEPTH} levels`, 'custom'));
    else if (Array.isArray(value))
      for (let index = 0; index < value.length; index++) {
        const item: unknown = value[index];
        if (isContainer(item)) stack.push({ value: item, path: child(path, index) });
        else if (typeof item === 'number') checkNumber(item, index, path, violations);
        else if (mayContainBadText) checkText(item, index, path, violations);
      }
    else
      for (const key of Object.keys(value)) {
        const item = (value as Record<string, unknown>)[key];
        const reason = key === '__proto__' ? 'is not an allowed name' : mayContainBadText && unstorable(key);
        if (reason) violations.push(violationAt(child(path, key), reason, 'custom'));
        else if (isContainer(item)) stack.push({ value: item, path: child(path, key) });
        else if (typeof item === 'number') checkNumber(item, key, path, violations);
        else if (mayContainBadText) checkText(item, key, path, violations);
      }
  }
  return violations.slice(0, MAX_VIOLATIONS);
}

const isContainer = (item: unknown): item is object => typeof item === 'object' && item !== null;

/** JSON.parse turns 1e999 into Infinity, which would be stored as null. */
function checkNumber(item: number, key: string | number, path: Path, violations: Violation[]): void {
  if (!Number.isFinite(item))
    violations.push(violationAt(child(path, key), 'is a number that is too large', 'too_big'));
}

function checkText(item: unknown, key: string | number, path: Path, violations: Violation[]): void {
  const reason = typeof item === 'string' && unstorable(item);
  if (reason) violations.push(violationAt(child(path, key), reason, 'invalid_string'));
}

function unstorable(text: string): string | undefined {
  if (text.includes('\0')) return 'contains a NUL character';
  if (LONE_SURROGATE.test(text)) return 'contains an unpaired surrogate';
  return undefined;
}

const child = (parent: Path, key: string | number): Path => ({ key, parent, depth: parent.depth + 1 });

function violationAt(path: Path, reason: string, code: Violation['code']): Violation {
  const keys: (string | number)[] = [];
  for (let at: Path | undefined = path; at?.parent; at = at.parent) keys.unshift(at.key);
  // Refused characters are not echoed.
  const field = fieldPath(keys).replace(/\0|\p{Surrogate}/gu, '\ufffd');
  return { field, message: `"${field}" ${reason}`, code };
}
