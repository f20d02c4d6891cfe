// The state of an editor that saves automatically, and its transitions. Nothing here saves or shows anything.
import { isSameJson } from '../../../../../platform/merge-graphs.ts';
import type { Violation } from '../../api/api-types.ts';

export type SaveState =
  | { kind: 'saved' }
  | { kind: 'unsaved' }
  | { kind: 'saving' }
  /** The API refused the content: saved again after the next change. */
  | { kind: 'refused'; message: string; violations: Violation[] }
  /** The server was not reached: tried again later. */
  | { kind: 'unreachable'; message: string };

/** What the API stores. `revision` rises with every change. */
export interface Revised {
  revision: number;
}

export interface DraftState<C, S extends Revised> {
  content: C;
  /** The content as the server has it. */
  base: C;
  server: S;
  /** What someone else has saved meanwhile. */
  conflict: S | undefined;
  save: SaveState;
  /** Rises when the content was not changed in the editor but replaced: the editor begins anew with it. */
  generation: number;
}

/** What an earlier visit could not save, and the revision that it was written to. */
export interface StoredContent<C> {
  revision: number;
  content: C;
}

export const isDirty = <C, S extends Revised>({ content, base }: DraftState<C, S>): boolean => content !== base;

/** The changes of a draft whose server answers `contentOf(server)`. */
export function draftChanges<C, S extends Revised>(contentOf: (server: S) => C) {
  type State = DraftState<C, S>;

  const replaced = (state: State, server: S): State => {
    const content = contentOf(server);
    const generation = state.generation + 1;
    return { content, base: content, server, conflict: undefined, save: { kind: 'saved' }, generation };
  };

  const saved = (state: State, server: S, sent: C): State => ({
    ...state,
    base: sent,
    server,
    conflict: undefined,
    save: { kind: state.content === sent ? 'saved' : 'unsaved' },
  });

  /** Something newer is on the server. */
  const found = (state: State, server: S): State => {
    if (server.revision < state.server.revision) return state;
    if (server.revision === state.server.revision) return { ...state, server };
    const theirs = contentOf(server);
    // An answer was lost: the server has it.
    if (isSameJson(theirs, state.content)) return saved(state, server, state.content);
    // Something else was changed, such as the sender of a template. The API completes what it stores, so the content that was
    // sent is no measure.
    if (isSameJson(theirs, contentOf(state.server)))
      return { ...state, server, save: isDirty(state) ? { kind: 'unsaved' } : state.save };
    return isDirty(state) ? { ...state, conflict: server } : replaced(state, server);
  };

  return {
    /** Starts with what the server has, and with what an earlier visit could not save. */
    first(server: S, stored: StoredContent<C> | undefined): State {
      const base = contentOf(server);
      const start: State = { content: base, base, server, conflict: undefined, save: { kind: 'saved' }, generation: 0 };
      if (!stored || isSameJson(stored.content, base)) return start;
      const mine: State = { ...start, content: stored.content, save: { kind: 'unsaved' } };
      return stored.revision === server.revision ? mine : { ...mine, conflict: server };
    },
    changed: (state: State, content: C): State => ({
      ...state,
      content,
      save: { kind: content === state.base ? 'saved' : 'unsaved' },
    }),
    saved,
    found,
    replaced,
    notSaved: (state: State, save: SaveState): State => ({ ...state, save }),
    /** Ends a conflict: mine is saved over theirs, or dropped. */
    resolved(state: State, choice: 'mine' | 'theirs'): State {
      const { conflict } = state;
      if (!conflict) return state;
      if (choice === 'theirs') return replaced(state, conflict);
      return { ...state, base: contentOf(conflict), server: conflict, conflict: undefined, save: { kind: 'unsaved' } };
    },
  };
}
