import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { isSameJson } from '../../../../../../platform/merge-graphs.ts';
import { unwrap } from '../../../api/client.ts';
import { useApi, useMe, useRights } from '../../../api/hooks.ts';
import { ApiProblem, messageOf } from '../../../api/problem.ts';
import type { WorkflowDraft } from '../../../api/types.ts';
import { t } from '../../../texts/index.ts';
import { showDone } from '../../../ui/notify.ts';
import { type DraftAction, type DraftState, firstState, isDirty, nextState, type SaveState } from './draft-state.ts';
import { contentOf, type DraftContent } from './model.ts';
import { clearStored, readStored, writeStored } from './stored-draft.ts';

const SAVE_AFTER_MS = 700;
const RETRY_AFTER_MS = 10_000;
/** How often another editor's changes are looked for. */
const LOOK_EVERY_MS = 8_000;

export interface DraftEditing {
  content: DraftContent;
  /** The draft as the server has it. */
  server: WorkflowDraft;
  save: SaveState;
  /** What another editor has saved meanwhile. */
  conflict: WorkflowDraft | undefined;
  canUndo: boolean;
  canRedo: boolean;
  /** `name` joins changes in a row, such as the letters of one field. */
  change(content: DraftContent, name?: string): void;
  undo(): void;
  redo(): void;
  /** Saves what is unsaved, and returns the draft of the server. */
  flush(): Promise<WorkflowDraft>;
  /** Shows another draft of the server in place of this one. */
  load(draft: WorkflowDraft): void;
  /** Ends a conflict: drop mine, overwrite theirs, or apply my changes to theirs. */
  resolve(choice: 'theirs' | 'mine' | 'merge'): void;
}

export const draftKey = (id: string): [string, string] => ['workflow-draft', id];

export function useDraftQuery(id: string) {
  const { client, key } = useApi();
  return useQuery({
    queryKey: key(...draftKey(id)),
    queryFn: () => unwrap(client.GET('/workflows/{id}/draft', { params: { path: { id } } })),
    refetchInterval: LOOK_EVERY_MS,
  });
}

/** Edits the draft of a workflow: undo and redo, automatic saving, and conflicts with other editors. */
export function useDraft(latest: WorkflowDraft): DraftEditing {
  const id = latest.workflowId;
  const { client, key } = useApi();
  const { write } = useRights();
  const cache = useQueryClient();
  const userId = useMe().data?.id ?? '';
  const [state, setState] = useState(() => firstState(latest, readStored(userId, id)));
  /** The newest state, for what runs between two renders. */
  const now = useRef(state);
  const running = useRef<Promise<WorkflowDraft> | undefined>(undefined);
  const { history, server, conflict, save, lostHeaders } = state;

  useEffect(() => {
    if (lostHeaders) showDone(t.canvas.enterHeadersAgain);
  }, [lostHeaders]);

  const dispatch = useCallback(
    (action: DraftAction): DraftState => {
      const before = now.current;
      const next = nextState(before, action);
      now.current = next;
      setState(next);
      // What was found is in the cache already.
      if (next.server !== before.server && action.kind !== 'found')
        cache.setQueryData(key(...draftKey(id)), next.server);
      if (!isDirty(next)) clearStored(userId, id);
      else if (next.history.present !== before.history.present) {
        const { revision, baseVersion } = next.server;
        writeStored(userId, id, { revision, baseVersion, base: next.base, content: next.history.present });
      }
      return next;
    },
    [cache, userId, id],
  );

  const saveNow = useCallback(async (): Promise<WorkflowDraft> => {
    if (running.current) await running.current.catch(() => {});
    const { history: edited, server: known } = now.current;
    if (!isDirty(now.current)) return known;
    const sent = edited.present;
    dispatch({ kind: 'saving' });
    const { graph, triggerType, triggerConfig, allowReentry } = sent;
    const { revision: expectedRevision, baseVersion } = known;
    const body = { graph, triggerType, triggerConfig, allowReentry, expectedRevision, baseVersion };
    running.current = unwrap(client.PUT('/workflows/{id}/draft', { params: { path: { id } }, body }));
    try {
      const draft = await running.current;
      dispatch({ kind: 'saved', draft, sent });
      return draft;
    } catch (error) {
      const theirs = conflictOf(error);
      // An answer of an earlier try was lost: the server has it.
      if (theirs && isSameJson(contentOf(theirs), sent)) {
        dispatch({ kind: 'saved', draft: theirs, sent });
        return theirs;
      }
      dispatch({ kind: 'notSaved', save: failedSave(error), theirs });
      throw error;
    } finally {
      running.current = undefined;
    }
  }, [client, id, dispatch]);

  // Saves automatically: soon after a change, later when the server was not reached.
  useEffect(() => {
    if (!write || conflict || (save.kind !== 'unsaved' && save.kind !== 'unreachable')) return undefined;
    const wait = save.kind === 'unreachable' ? RETRY_AFTER_MS : SAVE_AFTER_MS;
    const timer = setTimeout(() => void saveNow().catch(() => {}), wait);
    return () => clearTimeout(timer);
  }, [history.present, save, conflict, write, saveNow]);

  // What was not saved when the user leaves the page.
  useEffect(
    () => () => {
      if (write && isDirty(now.current) && !now.current.conflict) void saveNow().catch(() => {});
    },
    [saveNow, write],
  );

  useEffect(() => {
    if (running.current) return;
    const before = now.current;
    const isReplaced = dispatch({ kind: 'found', draft: latest }).history !== before.history;
    if (isReplaced) showDone(t.canvas.loadedTheirs(latest.updatedBy ?? t.canvas.someone));
  }, [latest, dispatch]);

  return {
    content: history.present,
    server,
    save,
    conflict,
    canUndo: history.past.length > 0,
    canRedo: history.future.length > 0,
    change: (content, name) => void dispatch({ kind: 'change', content, name }),
    undo: () => void dispatch({ kind: 'undo' }),
    redo: () => void dispatch({ kind: 'redo' }),
    flush: saveNow,
    load: (draft) => void dispatch({ kind: 'load', draft }),
    resolve: (choice) => void dispatch({ kind: 'resolve', choice }),
  };
}

/** Returns the draft that another editor has saved, if that is why a save was refused. */
const conflictOf = (error: unknown): WorkflowDraft | undefined =>
  error instanceof ApiProblem && error.status === 409 && 'revision' in error.details
    ? (error.details as unknown as WorkflowDraft)
    : undefined;

function failedSave(error: unknown): SaveState {
  const message = messageOf(error);
  if (error instanceof ApiProblem && error.status >= 400 && error.status < 500 && error.status !== 429)
    return { kind: 'refused', message, violations: error.violations };
  return { kind: 'unreachable', message };
}
