// The state of an editor of a draft, and what happens to it. Nothing here changes its input, saves or shows anything.
import { isSameJson } from '../../../../../../platform/merge-graphs.ts';
import type { Violation } from '../../../api/api-types.ts';
import type { WorkflowDraft } from '../../../api/types.ts';
import { addChange, type History, redo, startHistory, undo } from './history.ts';
import { contentOf, type DraftContent, mergeContent } from './model.ts';
import { fillHeaders, hasLostHeaders, type StoredDraft } from './stored-draft.ts';

export type SaveState =
  | { kind: 'saved' }
  | { kind: 'unsaved' }
  | { kind: 'saving' }
  /** The API refused the content: saved again after the next change. */
  | { kind: 'refused'; message: string; violations: Violation[] }
  /** The server was not reached: tried again later. */
  | { kind: 'unreachable'; message: string };

export interface DraftState {
  history: History;
  /** The content as the server has it: the base of merges. */
  base: DraftContent;
  /** The draft as the server has it. */
  server: WorkflowDraft;
  /** What another editor has saved meanwhile. */
  conflict: WorkflowDraft | undefined;
  save: SaveState;
  /** Values of headers that were typed in an earlier visit are gone. */
  lostHeaders: boolean;
}

export type DraftAction =
  /** `name` joins changes in a row, such as the letters of one field. */
  | { kind: 'change'; content: DraftContent; name?: string | undefined }
  | { kind: 'undo' }
  | { kind: 'redo' }
  | { kind: 'saving' }
  | { kind: 'saved'; draft: WorkflowDraft; sent: DraftContent }
  /** `theirs`: the draft that another editor has saved, if that is why. */
  | { kind: 'notSaved'; save: SaveState; theirs: WorkflowDraft | undefined }
  /** The server has this draft now, whichever user saved it. */
  | { kind: 'found'; draft: WorkflowDraft }
  /** Shows another draft of the server in place of this one. */
  | { kind: 'load'; draft: WorkflowDraft }
  /** Ends a conflict: drop mine, overwrite theirs, or apply my changes to theirs. */
  | { kind: 'resolve'; choice: 'theirs' | 'mine' | 'merge' };

export const isDirty = ({ history, base }: DraftState): boolean => history.present !== base;

/** Starts with the draft of the server, and with what an earlier visit could not save. */
export function firstState(server: WorkflowDraft, stored: StoredDraft | undefined): DraftState {
  const content = contentOf(server);
  const mine = stored && fillHeaders(stored.content, content);
  if (!mine || isSameJson(mine, content))
    return {
      history: startHistory(content),
      base: content,
      server,
      conflict: undefined,
      save: { kind: 'saved' },
      lostHeaders: false,
    };
  const { revision, baseVersion } = stored;
  const isCurrent = revision === server.revision && baseVersion === server.baseVersion;
  return {
    history: startHistory(mine),
    base: isCurrent ? content : fillHeaders(stored.base, content),
    server: { ...server, revision, baseVersion },
    conflict: isCurrent ? undefined : server,
    save: { kind: 'unsaved' },
    lostHeaders: hasLostHeaders(stored.content),
  };
}

export function nextState(state: DraftState, action: DraftAction): DraftState {
  const { history, base, conflict } = state;
  switch (action.kind) {
    case 'change':
      return show(state, addChange(history, action.content, action.name));
    case 'undo':
      return show(state, undo(history));
    case 'redo':
      return show(state, redo(history));
    case 'saving':
      return { ...state, save: { kind: 'saving' } };
    case 'saved':
      return saved(state, action.draft, action.sent);
    case 'notSaved':
      return { ...state, save: action.save, conflict: action.theirs ?? conflict };
    case 'found':
      return found(state, action.draft);
    case 'load':
      return load(state, action.draft);
    case 'resolve': {
      if (!conflict) return state;
      if (action.choice === 'theirs') return load(state, conflict);
      const theirs = contentOf(conflict);
      const mine = history.present;
      const content = action.choice === 'merge' ? mergeContent(base, mine, theirs) : { ...mine };
      return show({ ...state, base: theirs, server: conflict, conflict: undefined }, addChange(history, content));
    }
  }
}

function show(state: DraftState, history: History): DraftState {
  if (history.present === state.history.present) return { ...state, history };
  return { ...state, history, save: { kind: history.present === state.base ? 'saved' : 'unsaved' } };
}

/** There may be changes since `sent`. */
const saved = (state: DraftState, server: WorkflowDraft, sent: DraftContent): DraftState => ({
  ...state,
  base: sent,
  server,
  save: { kind: state.history.present === sent ? 'saved' : 'unsaved' },
});

function load(state: DraftState, server: WorkflowDraft): DraftState {
  const base = contentOf(server);
  return { ...state, history: startHistory(base), base, server, conflict: undefined, save: { kind: 'saved' } };
}

/** A newer draft is shown at once when nothing here is unsaved, otherwise it is a conflict. */
function found(state: DraftState, draft: WorkflowDraft): DraftState {
  const { server, history } = state;
  if (draft.revision < server.revision) return state;
  if (draft.revision === server.revision && draft.baseVersion === server.baseVersion)
    return { ...state, server: draft };
  // An answer was lost: the server has it.
  if (isSameJson(contentOf(draft), history.present)) return saved(state, draft, history.present);
  return isDirty(state) ? { ...state, conflict: draft } : load(state, draft);
}
