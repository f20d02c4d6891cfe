// Changes that the server does not have yet, kept in the browser so that a reload does not lose them.
import { newId } from './graph.ts';
import type { DraftContent } from './model.ts';

export interface StoredDraft {
  /** What the changes were made to. */
  revision: number;
  baseVersion: number;
  base: DraftContent;
  content: DraftContent;
  /** The tab that wrote it: another one must not remove it. */
  tab: string;
}

const keyOf = (userId: string, workflowId: string): string => `everpost.draft.${userId}.${workflowId}`;

/** A name for this tab that a reload keeps. */
export function tabId(): string {
  const known = sessionStorage.getItem('everpost.tab');
  if (known) return known;
  const id = newId();
  sessionStorage.setItem('everpost.tab', id);
  return id;
}

export function readStored(userId: string, workflowId: string): StoredDraft | undefined {
  try {
    const stored = JSON.parse(localStorage.getItem(keyOf(userId, workflowId)) ?? 'null') as StoredDraft | null;
    return Array.isArray(stored?.content.graph.steps) && Array.isArray(stored.base.graph.steps) ? stored : undefined;
  } catch {
    return undefined;
  }
}

export function writeStored(userId: string, workflowId: string, draft: Omit<StoredDraft, 'tab'>): void {
  try {
    localStorage.setItem(keyOf(userId, workflowId), JSON.stringify({ ...draft, tab: tabId() }));
  } catch {
    // The storage is full or forbidden: the server still gets the draft.
  }
}

export function clearStored(userId: string, workflowId: string): void {
  if (readStored(userId, workflowId)?.tab === tabId()) localStorage.removeItem(keyOf(userId, workflowId));
}
