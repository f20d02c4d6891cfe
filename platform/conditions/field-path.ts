const MAX_KEYS = 30;

/**
 * `.key` up to the next dot, or `["key"]` with a JSON string (single quotes are accepted too). A bracket without a quote
 * is part of the key.
 */
const STEP = /\.((?:[^.[]|\[(?!["']))+)|\[("(?:[^"\\]|\\.)*")\]|\['([^']*)'\]/gy;

/** Returns the keys of a path such as `.a.b` or `["a b"].c`, or undefined for an invalid path. */
export function keysOf(path: string): string[] | undefined {
  const keys: string[] = [];
  STEP.lastIndex = 0;
  for (let end = 0; end < path.length; end = STEP.lastIndex) {
    const step = STEP.exec(path);
    const key = step?.[1] ?? step?.[3] ?? parseString(step?.[2]);
    if (!key || keys.push(key) > MAX_KEYS) return undefined;
  }
  return keys.length > 0 ? keys : undefined;
}

function parseString(text: string | undefined): string | undefined {
  try {
    return text && JSON.parse(text);
  } catch {
    return undefined;
  }
}
