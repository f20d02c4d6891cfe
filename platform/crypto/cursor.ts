import { badRequest } from '../errors.ts';
import { openToken, type SigningKeys, signToken } from './signed-token.ts';

/**
 * Encodes a position in a list, signed against changes. `boundTo` (project, list, order) is signed but not included, so
 * the cursor opens only in the same list.
 */
export const signCursor = (keys: SigningKeys, boundTo: string[], position: unknown): string =>
  signToken(keys, purposeOf(boundTo), JSON.stringify(position));

/** Returns the position given to `signCursor`. Throws a 400 for a cursor that was not signed for this list. */
export function openCursor(keys: SigningKeys, boundTo: string[], cursor: string): unknown {
  const position = openToken(keys, purposeOf(boundTo), cursor);
  if (!position) throw badRequest('The cursor is invalid, or belongs to another list, sort order or project.');
  return JSON.parse(position.toString());
}

/** JSON escapes NUL. */
const purposeOf = (boundTo: string[]): string => JSON.stringify(['cursor', ...boundTo]);
