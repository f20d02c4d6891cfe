const MAX_KEYS = 30;

/**
 * `.key` up to the next dot, or `["key"]`, where the key is a JSON string (single quotes will do too). A bracket without
 * a quote is a character like any other.
 */
const STEP = /\.((?:[^.[]|\[(?!["']))+)|\[("(?:[^"\\]|\\.)*")\]|\['([^']*)'\]/gy;

/** The keys that a path such as `.a.b` or `["a b"].c` names, or undefined when it is none. */
export function keysOf(path: string): string[] | undefined {
  const keys: string[] = [];
  STEP.lastIndex = 0;
  for (let end = 0; end < path.length; end = STEP.lastIndex) {
    const step = STEP.exec(path);
    const key = step?.[1] ?? step?.[3] ?? unquoted(step?.[2]);
    if (!key || keys.push(key) > MAX_KEYS) return undefined;
  }
  return keys.length > 0 ? keys : undefined;
}

function unquoted(text: string | undefined): string | undefined {
  try {
    return text && JSON.parse(text);
  } catch {
    return undefined;
  }
}
