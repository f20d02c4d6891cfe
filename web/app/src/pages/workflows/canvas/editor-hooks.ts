import { useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef } from 'react';
import type { WorkflowDraft } from '../../../api/types.ts';
import type { SaveState } from './draft-state.ts';
import { START } from './graph.ts';
import type { DraftStep } from './model.ts';
import { clipboardText, type Editor } from './use-editor.ts';

export interface Faults {
  byStep: Map<string, string[]>;
}

/** What the API found missing, and what it refused to save, by step. */
export function useFaults(
  { faults }: WorkflowDraft,
  save: SaveState,
  steps: DraftStep[],
  /** What is live has none. */
  isLive: boolean,
): Faults {
  return useMemo(() => {
    const byStep = new Map<string, string[]>();
    if (isLive) return { byStep };
    const add = (id: string | null | undefined, message: string) => {
      if (id) byStep.set(id, [...(byStep.get(id) ?? []), message]);
    };
    for (const { stepId, message } of faults) add(stepId, message);
    for (const { field, message } of save.kind === 'refused' ? save.violations : [])
      add(steps[Number(/^graph\.steps\.(\d+)/.exec(field)?.[1] ?? -1)]?.id, message);
    return { byStep };
  }, [faults, save, steps, isLive]);
}

/** The same object at every render, so that steps are not drawn anew with each of them. */
export function useStableEditing(editor: Editor, readOnly: boolean) {
  const current = useRef(editor);
  current.current = editor;
  return useMemo(
    () =>
      readOnly
        ? undefined
        : {
            onAdd: (place: Parameters<Editor['startAdding']>[0]) => current.current.startAdding(place),
            onConnect: (dragged: Parameters<Editor['connectDragged']>[0]) => current.current.connectDragged(dragged),
          },
    [readOnly],
  );
}

/**
 * Shares copied steps with other tabs through the system's clipboard. Its events come from the selected text, of which a
 * canvas has none, so they are listened to on the whole page.
 */
export function useClipboard(
  graph: React.RefObject<HTMLElement | null>,
  paste: ((text: string) => void) | undefined,
): void {
  useEffect(() => {
    const isHere = () => graph.current?.contains(document.activeElement) ?? false;
    const onCopy = (event: ClipboardEvent) => {
      const text = clipboardText();
      if (!isHere() || text === undefined) return;
      event.clipboardData?.setData('text/plain', text);
      event.preventDefault();
    };
    const onPaste = (event: ClipboardEvent) => {
      // What was copied in this tab is pasted by the key.
      if (isHere() && clipboardText() === undefined) paste?.(event.clipboardData?.getData('text/plain') ?? '');
    };
    document.addEventListener('copy', onCopy);
    document.addEventListener('cut', onCopy);
    document.addEventListener('paste', onPaste);
    return () => {
      document.removeEventListener('copy', onCopy);
      document.removeEventListener('cut', onCopy);
      document.removeEventListener('paste', onPaste);
    };
  }, [graph, paste]);
}

const MAX_FRAMES = 60;

/** Gives a step the focus as soon as it is drawn: one outside the view is drawn only when the view has moved. */
export function useFocus(focused: { id: string } | undefined): void {
  useEffect(() => {
    if (!focused) return undefined;
    let frames = 0;
    let request = 0;
    const look = () => {
      const node = document.querySelector<HTMLElement>(`.react-flow__node[data-id="${focused.id}"]`);
      node?.focus({ preventScroll: true });
      if (!node && frames++ < MAX_FRAMES) request = requestAnimationFrame(look);
    };
    request = requestAnimationFrame(look);
    return () => cancelAnimationFrame(request);
  }, [focused]);
}

/** Selects the start when an undo has removed what was selected, and keeps the focus in the canvas if it was there. */
export function useExistingSelection({ selected, select }: Editor, steps: DraftStep[]): void {
  const isGone = [...selected].some((id) => id !== START && !steps.some((step) => step.id === id));
  useEffect(() => {
    if (!isGone) return;
    // The step that had the focus is still drawn, or has just left the page.
    const { activeElement: active, body } = document;
    select([START], active === body || active?.closest('.workflow-graph') !== null);
  });
}

/** Begins at the step of the address, to which the page of its email leads back. */
export function useFirstSelection({ select }: Editor, steps: DraftStep[]): void {
  const { step: wanted } = useSearch({ from: '/signed-in/p/$projectId/workflows/$id' });
  useEffect(() => {
    if (wanted !== undefined && steps.some(({ id }) => id === wanted)) select([wanted], true);
  }, []);
}

/** On a phone the panel is below the graph: it comes into view with what it shows. */
export function usePhonePanel(panel: React.RefObject<HTMLElement | null>, selected: string, isAdding: boolean): void {
  useEffect(() => {
    const isBelow = window.matchMedia('(max-width: 61.99em)').matches;
    if (isBelow && (selected !== '' || isAdding)) panel.current?.scrollIntoView({ block: 'nearest' });
  }, [panel, selected, isAdding]);
}
