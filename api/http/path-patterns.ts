const segmentsOf = (pattern: string): string[] => pattern.split('/');
const isParameter = (segment: string): boolean => segment.startsWith(':');

/** Returns whether every path of the pattern `a` is one of `b`, but not the other way: `/contacts/fields`, `/contacts/:id`. */
export function isNarrower(a: string, b: string): boolean {
  const narrow = segmentsOf(a);
  const wide = segmentsOf(b);
  return (
    narrow.length === wide.length &&
    wide.every((segment, n) => isParameter(segment) || segment === narrow[n]) &&
    wide.some((segment, n) => isParameter(segment) && !isParameter(narrow[n] ?? ''))
  );
}

/** Returns an expression for the paths of a pattern. */
export const pathExpression = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')}/?$`);
