type Value = Record<string, unknown>;

interface Document<Paths> {
  paths: Paths;
}

/** Returns the paths of an OpenAPI document with everything in place of its references. A type inside itself is any object. */
export function pathsInFull<Paths>(document: Document<Paths>): Paths {
  const inFull = (value: unknown, within: string[]): unknown => {
    if (Array.isArray(value)) return value.map((item) => inFull(item, within));
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...rest } = value as Value;
    if (typeof $ref !== 'string') return mapValues(rest, (item) => inFull(item, within));
    if (within.includes($ref)) return { type: 'object', ...rest };
    return { ...(inFull(referred(document, $ref), [...within, $ref]) as Value), ...rest };
  };
  return inFull(document.paths, []) as Paths;
}

const mapValues = (record: Value, change: (value: unknown) => unknown): Value =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

/** Returns what a reference such as `#/components/schemas/Contact` refers to. */
function referred(document: object, reference: string): unknown {
  const keys = reference.split('/').slice(1);
  return keys.reduce<unknown>((value, key) => (value as Value)[key], document);
}
