import { useCallback, useEffect, useRef, useState } from 'react';
import { isSameJson } from '../../../../../platform/merge-graphs.ts';
import { useMe } from '../../api/hooks.ts';
import { ApiProblem, messageOf } from '../../api/problem.ts';
import { useWarnBeforeLeaving } from '../../ui/leaving.tsx';
import { type DraftState, draftChanges, isDirty, type Revised, type SaveState } from './draft-state.ts';
import { clearStored, readStored, writeStored } from './stored-content.ts';

const SAVE_AFTER_MS = 700;
const RETRY_AFTER_MS = 10_000;

export interface DraftOptions<C, S extends Revised> {
  /** Names the draft in the storage of the browser, such as `template.<id>`. */
  name: string;
  /** The newest that a query has read. */
  latest: S;
  contentOf(server: S): C;
  /** Saves the content; a 409 has the present state in its details. */
  save(content: C, expectedRevision: number): Promise<S>;
  /** Puts what the server has into the cache. */
  onServer(server: S): void;
  /** Someone else has replaced the content while nothing here was unsaved. */
  onReplaced?(before: C, server: S): void;
  readOnly: boolean;
}

export interface DraftEditing<C, S extends Revised> {
  content: C;
  server: S;
  save: SaveState;
  conflict: S | undefined;
  /** There are changes that the server does not have. */
  isDirty: boolean;
  /** The key of the editor, which begins anew when the content was replaced. */
  generation: number;
  change(content: C): void;
  /** A change that the editor did not make itself, such as a conversion. */
  replace(content: C): void;
  /** Saves what is unsaved, and returns what the server has. */
  flush(): Promise<S>;
  /** Shows what the server has in place of everything here. */
  load(server: S): void;
  /** Compares with what the server has now. */
  found(server: S): void;
  resolve(choice: 'mine' | 'theirs'): void;
}

/** Edits a content that is saved automatically. What is not saved is kept in the browser, also when the page is left. */
export function useDraft<C, S extends Revised>(options: DraftOptions<C, S>): DraftEditing<C, S> {
  const { name, latest, readOnly } = options;
  const current = useRef(options);
  current.current = options;
  const userId = useMe().data?.id ?? '';
  const changes = useRef(draftChanges<C, S>((server) => current.current.contentOf(server))).current;
  const [state, setState] = useState(() => changes.first(latest, readOnly ? undefined : readStored<C>(userId, name)));
  const [isKept, setKept] = useState(true);
  /** The newest state, for what runs between two renders. */
  const now = useRef(state);
  const running = useRef<Promise<S> | undefined>(undefined);
  const { content, server, conflict, save, generation } = state;

  const set = useCallback(
    (next: DraftState<C, S>, { isRead = false } = {}) => {
      const before = now.current;
      now.current = next;
      setState(next);
      if (!isRead && next.server !== before.server) current.current.onServer(next.server);
      if (!isDirty(next)) {
        clearStored(userId, name);
        setKept(true);
      } else if (next.content !== before.content || next.server.revision !== before.server.revision)
        setKept(writeStored(userId, name, { revision: next.server.revision, content: next.content }));
    },
    [userId, name],
  );

  // What an earlier visit left is this tab's from now on.
  useEffect(() => {
    const { server: known, content: left } = now.current;
    if (isDirty(now.current)) setKept(writeStored(userId, name, { revision: known.revision, content: left }));
  }, [userId, name]);

  const flush = useCallback(async (): Promise<S> => {
    if (running.current) await running.current.catch(() => {});
    if (!isDirty(now.current)) return now.current.server;
    const { content: sent, server: known } = now.current;
    set(changes.notSaved(now.current, { kind: 'saving' }));
    running.current = current.current.save(sent, known.revision);
    try {
      const stored = await running.current;
      set(changes.saved(now.current, stored, sent));
      return stored;
    } catch (error) {
      const theirs = conflictOf<S>(error);
      // The answer of an earlier try was lost: the server has it.
      if (theirs && isSameJson(current.current.contentOf(theirs), sent)) {
        set(changes.saved(now.current, theirs, sent));
        return theirs;
      }
      set(theirs ? changes.found(unsaved(now.current), theirs) : changes.notSaved(now.current, failedSave(error)));
      throw error;
    } finally {
      running.current = undefined;
    }
  }, [changes, set]);

  // Soon after a change, later when the server was not reached.
  useEffect(() => {
    if (readOnly || conflict || (save.kind !== 'unsaved' && save.kind !== 'unreachable')) return undefined;
    const saveNow = () => void flush().catch(() => {});
    const timer = setTimeout(saveNow, save.kind === 'unreachable' ? RETRY_AFTER_MS : SAVE_AFTER_MS);
    window.addEventListener('online', saveNow);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('online', saveNow);
    };
  }, [content, save, conflict, readOnly, flush]);

  // What was not saved when the page is left, or the tab is hidden.
  useEffect(() => {
    const saveNow = () => {
      if (!current.current.readOnly && isDirty(now.current) && !now.current.conflict) void flush().catch(() => {});
    };
    const onHidden = () => {
      if (document.hidden) saveNow();
    };
    document.addEventListener('visibilitychange', onHidden);
    return () => {
      document.removeEventListener('visibilitychange', onHidden);
      saveNow();
    };
  }, [flush]);

  const find = useCallback(
    (newest: S, { isRead = false } = {}) => {
      if (running.current) return;
      const before = now.current;
      const next = changes.found(before, newest);
      set(next, { isRead });
      if (next.generation !== before.generation) current.current.onReplaced?.(before.content, newest);
    },
    [changes, set],
  );
  useEffect(() => find(latest, { isRead: true }), [latest, find]);

  // Kept in the browser, it is there when the user comes back.
  useWarnBeforeLeaving(isDirty(state) && !isKept);

  return {
    content,
    server,
    save,
    conflict,
    isDirty: isDirty(state),
    generation,
    change: (next) => set(changes.changed(now.current, next)),
    replace: (next) => {
      const changed = changes.changed(now.current, next);
      set({ ...changed, generation: changed.generation + 1 });
    },
    flush,
    load: (newest) => set(changes.replaced(now.current, newest)),
    found: (newest) => find(newest),
    resolve: (choice) => set(changes.resolved(now.current, choice)),
  };
}

const unsaved = <C, S extends Revised>(state: DraftState<C, S>): DraftState<C, S> => ({
  ...state,
  save: { kind: 'unsaved' },
});

/** Returns what someone else has saved, if that is why a save was refused. */
const conflictOf = <S extends Revised>(error: unknown): S | undefined =>
  error instanceof ApiProblem && error.status === 409 && 'revision' in error.details
    ? (error.details as unknown as S)
    : undefined;

function failedSave(error: unknown): SaveState {
  const message = messageOf(error);
  if (error instanceof ApiProblem && error.status >= 400 && error.status < 500 && error.status !== 429)
    return { kind: 'refused', message, violations: error.violations };
  return { kind: 'unreachable', message };
}
