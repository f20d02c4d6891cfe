import type { DraftContent } from './model.ts';

/** The content with the states that undo and redo lead to. */
export interface History {
  past: readonly DraftContent[];
  present: DraftContent;
  future: readonly DraftContent[];
  /** Names the last change; typing in one field is one change. */
  last: string | undefined;
}

const MAX_STATES = 100;

export const startHistory = (present: DraftContent): History => ({ past: [], present, future: [], last: undefined });

/** Adds a change. Changes in a row with the same name are undone together. */
export function addChange(history: History, present: DraftContent, name?: string): History {
  if (present === history.present) return history;
  const continues = name !== undefined && name === history.last;
  const past = continues ? history.past : [...history.past, history.present].slice(-MAX_STATES);
  return { past, present, future: [], last: name };
}

export function undo({ past, present, future }: History): History {
  const before = past.at(-1);
  if (!before) return { past, present, future, last: undefined };
  return { past: past.slice(0, -1), present: before, future: [present, ...future], last: undefined };
}

export function redo({ past, present, future }: History): History {
  const [after, ...rest] = future;
  if (!after) return { past, present, future, last: undefined };
  return { past: [...past, present], present: after, future: rest, last: undefined };
}
