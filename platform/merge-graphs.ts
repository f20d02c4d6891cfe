// The merge of two edits of a workflow's graph. The API rebases drafts by it, and the canvas merges the edits of two people.
// It runs in browsers too.

interface Graph {
  steps: { id: string }[];
  transitions: { fromStepId: string; toStepId: string; branch: string | null }[];
}

/** Names a transition: an exit leads to one step at most. */
export const exitKey = ({ fromStepId, branch }: Pick<Graph['transitions'][number], 'fromStepId' | 'branch'>): string =>
  `${fromStepId} ${branch ?? ''}`;

/**
 * Applies the changes from `base` to `mine` to `theirs`, by step and by exit: what I have changed is mine, everything else
 * is theirs. Transitions of steps that are gone are dropped.
 */
export function mergeGraphs<G extends Graph>(base: G, mine: G, theirs: G) {
  const steps = merge<G['steps'][number]>(base.steps, mine.steps, theirs.steps, ({ id }) => id);
  const ids = new Set(steps.map(({ id }) => id));
  const transitions = merge<G['transitions'][number]>(base.transitions, mine.transitions, theirs.transitions, exitKey);
  return {
    steps,
    transitions: transitions.filter(({ fromStepId, toStepId }) => ids.has(fromStepId) && ids.has(toStepId)),
  };
}

/** Merges by key: my item where I have changed, added or removed it, else theirs. */
function merge<T>(base: T[], mine: T[], theirs: T[], keyOf: (item: T) => string): T[] {
  const byKey = (items: T[]) => new Map(items.map((item) => [keyOf(item), item]));
  const inBase = byKey(base);
  const inMine = byKey(mine);
  const inTheirs = byKey(theirs);
  return [...new Set([...inTheirs.keys(), ...inMine.keys()])].flatMap((key) => {
    const isUnchanged = isSameJson(inBase.get(key), inMine.get(key));
    return (isUnchanged ? inTheirs : inMine).get(key) ?? [];
  });
}

/** Compares values of JSON, whatever the order of their keys. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const first = a as Record<string, unknown>;
  const second = b as Record<string, unknown>;
  const keys = Object.keys(first);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    keys.length === Object.keys(second).length &&
    keys.every((key) => key in second && isSameJson(first[key], second[key]))
  );
}
