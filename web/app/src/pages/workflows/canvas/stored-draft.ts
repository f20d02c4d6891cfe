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
    const { base, content } = draft;
    const hidden = { ...draft, base: hideHeaders(base, base), content: hideHeaders(content, base), tab: tabId() };
    localStorage.setItem(keyOf(userId, workflowId), JSON.stringify(hidden));
  } catch {
    // The storage is full or forbidden: the server still gets the draft.
  }
}

export function clearStored(userId: string, workflowId: string): void {
  if (readStored(userId, workflowId)?.tab === tabId()) localStorage.removeItem(keyOf(userId, workflowId));
}

/** As the API hides values. */
const HIDDEN = '•••';

/** Takes out the values of headers, which are often tokens: hidden where they are those of the base, empty otherwise. */
export const hideHeaders = (content: DraftContent, base: DraftContent): DraftContent =>
  mapHeaders(content, (value, known) => (value === known ? HIDDEN : ''), base);

/** Puts the values that the server has in place of hidden ones. */
export const fillHeaders = (content: DraftContent, server: DraftContent): DraftContent =>
  mapHeaders(content, (value, known) => (value === HIDDEN ? (known ?? '') : value), server);

/** Whether values of headers were typed that were not saved: they have to be entered again. */
export function hasLostHeaders(content: DraftContent): boolean {
  let found = false;
  mapHeaders(content, (value) => {
    found ||= value === '';
    return value;
  });
  return found;
}

/** Changes each value of a header. `known` is the value of the same header of the same step in `other`. */
function mapHeaders(
  content: DraftContent,
  change: (value: string, known: string | undefined) => string,
  other?: DraftContent,
): DraftContent {
  const steps = content.graph.steps.map((step) => {
    const headers = headersOf(step.config);
    if (!headers) return step;
    const known = headersOf(other?.graph.steps.find(({ id }) => id === step.id)?.config);
    const changed = Object.entries(headers).map(([name, value]) => [name, change(value, known?.[name])]);
    return { ...step, config: { ...step.config, headers: Object.fromEntries(changed) } };
  });
  return { ...content, graph: { ...content.graph, steps } };
}

function headersOf(config: Record<string, unknown> | undefined): Record<string, string> | undefined {
  const headers = config?.headers;
  return typeof headers === 'object' && headers !== null ? (headers as Record<string, string>) : undefined;
}
