import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { isSameJson } from '../../../../../../platform/merge-graphs.ts';
import { unwrap } from '../../../api/client.ts';
import { useApi, useMe, useRights } from '../../../api/hooks.ts';
import { ApiProblem, messageOf } from '../../../api/problem.ts';
import type { WorkflowDraft } from '../../../api/types.ts';
import { t } from '../../../texts/index.ts';
import { showDone } from '../../../ui/notify.ts';
import { addChange, type History, redo, startHistory, undo } from './history.ts';
import { contentOf, type DraftContent, mergeContent } from './model.ts';
import { clearStored, fillHeaders, hasLostHeaders, readStored, writeStored } from './stored-draft.ts';

const SAVE_AFTER_MS = 700;
const RETRY_AFTER_MS = 10_000;
/** How often another editor's changes are looked for. */
const LOOK_EVERY_MS = 8_000;

export type SaveState =
  | { kind: 'saved' }
  | { kind: 'unsaved' }
  | { kind: 'saving' }
  /** The API refused the content: saved again after the next change. */
  | { kind: 'refused'; message: string; violations: ApiProblem['violations'] }
  /** The server was not reached: tried again later. */
  | { kind: 'unreachable'; message: string };

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

/** Edits the draft of a workflow: undo and redo, saving by itself, and conflicts with other editors. */
export function useDraft(latest: WorkflowDraft): DraftEditing {
  const id = latest.workflowId;
  const { client, key } = useApi();
  const { write } = useRights();
  const cache = useQueryClient();
  const userId = useMe().data?.id ?? '';
  const [first] = useState(() => firstState(userId, latest));
  const [history, setHistory] = useState<History>(() => startHistory(first.content));
  const [server, setServer] = useState(first.server);
  const [conflict, setConflict] = useState(first.conflict);
  const [save, setSave] = useState<SaveState>(first.isRestored ? { kind: 'unsaved' } : { kind: 'saved' });
  const content = history.present;
  /** What the server has: the base of merges. The refs are what a running save reads. */
  const saved = useRef(first.base);
  const now = useRef({ history, content, server, conflict });
  now.current = { history, content, server, conflict };
  const running = useRef<Promise<WorkflowDraft> | undefined>(undefined);
  const isDirty = content !== saved.current;

  useEffect(() => {
    if (first.lostHeaders) showDone(t.canvas.enterHeadersAgain);
  }, [first]);

  const accept = useCallback(
    (draft: WorkflowDraft) => {
      now.current.server = draft;
      setServer(draft);
      cache.setQueryData(key(...draftKey(id)), draft);
    },
    [cache, id],
  );

  /** The server has this content. */
  const acceptSaved = useCallback(
    (draft: WorkflowDraft, sent: DraftContent) => {
      saved.current = sent;
      accept(draft);
      const isAll = now.current.content === sent;
      if (isAll) clearStored(userId, id);
      setSave({ kind: isAll ? 'saved' : 'unsaved' });
    },
    [accept, userId, id],
  );

  const saveNow = useCallback(async (): Promise<WorkflowDraft> => {
    if (running.current) await running.current.catch(() => {});
    const { content: sent, server: known } = now.current;
    if (sent === saved.current) return known;
    setSave({ kind: 'saving' });
    const { graph, triggerType, triggerConfig, allowReentry } = sent;
    const { revision: expectedRevision, baseVersion } = known;
    const body = { graph, triggerType, triggerConfig, allowReentry, expectedRevision, baseVersion };
    running.current = unwrap(client.PUT('/workflows/{id}/draft', { params: { path: { id } }, body }));
    try {
      const draft = await running.current;
      acceptSaved(draft, sent);
      return draft;
    } catch (error) {
      const theirs = conflictOf(error);
      // An answer of an earlier try was lost: the server has it.
      if (theirs && isSameJson(contentOf(theirs), sent)) {
        acceptSaved(theirs, sent);
        return theirs;
      }
      if (theirs) setConflict(theirs);
      setSave(failedSave(error));
      throw error;
    } finally {
      running.current = undefined;
    }
  }, [client, id, acceptSaved]);

  // Saves by itself: soon after a change, later when the server was not reached.
  useEffect(() => {
    if (!write || !isDirty || conflict) return undefined;
    if (save.kind !== 'unsaved' && save.kind !== 'unreachable') return undefined;
    const wait = save.kind === 'unreachable' ? RETRY_AFTER_MS : SAVE_AFTER_MS;
    const timer = setTimeout(() => void saveNow().catch(() => {}), wait);
    return () => clearTimeout(timer);
  }, [content, save, conflict, write, isDirty, saveNow]);

  // What was not saved when the user leaves the page.
  useEffect(
    () => () => {
      if (write && now.current.content !== saved.current && !now.current.conflict) void saveNow().catch(() => {});
    },
    [saveNow, write],
  );

  const show = useCallback(
    (next: History) => {
      now.current.history = next;
      setHistory(next);
      if (next.present === now.current.content) return;
      now.current.content = next.present;
      const { revision, baseVersion } = now.current.server;
      if (next.present === saved.current) {
        clearStored(userId, id);
        return setSave({ kind: 'saved' });
      }
      writeStored(userId, id, { revision, baseVersion, base: saved.current, content: next.present });
      setSave({ kind: 'unsaved' });
    },
    [userId, id],
  );

  const load = useCallback(
    (draft: WorkflowDraft) => {
      const fresh = contentOf(draft);
      saved.current = fresh;
      accept(draft);
      show(startHistory(fresh));
      setConflict(undefined);
    },
    [accept, show],
  );

  // A newer draft of the server: shown at once when nothing here is unsaved, otherwise a conflict.
  useEffect(() => {
    if (running.current || latest.revision < now.current.server.revision) return;
    if (latest.revision === now.current.server.revision && latest.baseVersion === now.current.server.baseVersion) {
      setServer(latest);
      now.current.server = latest;
      return;
    }
    const { content: mine } = now.current;
    if (isSameJson(contentOf(latest), mine)) acceptSaved(latest, mine);
    else if (mine === saved.current) {
      load(latest);
      showDone(t.canvas.loadedTheirs(latest.updatedBy ?? t.canvas.someone));
    } else setConflict(latest);
  }, [latest, load, acceptSaved]);

  const resolve = (choice: 'theirs' | 'mine' | 'merge') => {
    if (!conflict) return;
    if (choice === 'theirs') return load(conflict);
    const theirs = contentOf(conflict);
    const mine = now.current.content;
    const merged = choice === 'merge' ? mergeContent(saved.current, mine, theirs) : { ...mine };
    saved.current = theirs;
    accept(conflict);
    setConflict(undefined);
    show(addChange(now.current.history, merged));
  };

  return {
    content,
    server,
    save,
    conflict,
    canUndo: history.past.length > 0,
    canRedo: history.future.length > 0,
    change: (next, name) => show(addChange(now.current.history, next, name)),
    undo: () => show(undo(now.current.history)),
    redo: () => show(redo(now.current.history)),
    flush: saveNow,
    load,
    resolve,
  };
}

interface FirstState {
  content: DraftContent;
  base: DraftContent;
  server: WorkflowDraft;
  conflict: WorkflowDraft | undefined;
  isRestored: boolean;
  /** Values of headers that were typed before are gone. */
  lostHeaders: boolean;
}

/** Continues with what an earlier visit could not save. */
function firstState(userId: string, server: WorkflowDraft): FirstState {
  const content = contentOf(server);
  const plain = { content, base: content, server, conflict: undefined, isRestored: false, lostHeaders: false };
  const stored = readStored(userId, server.workflowId);
  if (!stored) return plain;
  const mine = fillHeaders(stored.content, content);
  if (isSameJson(mine, content)) return plain;
  const { revision, baseVersion } = stored;
  const base = fillHeaders(stored.base, content);
  const isCurrent = revision === server.revision && baseVersion === server.baseVersion;
  return {
    content: mine,
    base: isCurrent ? content : base,
    isRestored: true,
    lostHeaders: hasLostHeaders(stored.content),
    server: { ...server, revision, baseVersion },
    conflict: isCurrent ? undefined : server,
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
