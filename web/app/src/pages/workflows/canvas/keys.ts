import type { KeyboardEvent } from 'react';
import type { DraftEditing } from './use-draft.ts';
import type { Editor } from './use-editor.ts';

interface KeyActions {
  editor: Editor;
  draft: DraftEditing;
  readOnly: boolean;
  /** Moves the focus into the panel. */
  openPanel(): void;
  showKeys(): void;
}

const arrows = { ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'left', ArrowRight: 'right' } as const;

/**
 * The keys of the canvas. They work while the focus is in the canvas only, so that letters never act where a person
 * types.
 */
export function onCanvasKey(event: KeyboardEvent, actions: KeyActions): void {
  const action = actionOf(event, actions);
  if (!action) return;
  // The browser still copies: it fills the system's clipboard.
  const isCopying = event.ctrlKey || event.metaKey ? ['c', 'x'].includes(event.key) : false;
  if (!isCopying) event.preventDefault();
  event.stopPropagation();
  action();
}

function actionOf(event: KeyboardEvent, actions: KeyActions): (() => void) | undefined {
  const { editor, draft, readOnly, openPanel, showKeys } = actions;
  const { key, shiftKey, altKey, ctrlKey, metaKey, target } = event;
  if (altKey) return undefined;
  if (ctrlKey || metaKey) {
    if (key === 'a') return editor.selectAll;
    if (key === 'c') return editor.copy;
    if (readOnly) return undefined;
    if (key === 'x') return editor.cut;
    if (key === 'v') return editor.hasCopied() ? () => editor.paste() : undefined;
    const isRedo = key.toLowerCase() === 'y' || (shiftKey && key.toLowerCase() === 'z');
    return isRedo ? draft.redo : key === 'z' ? draft.undo : undefined;
  }
  if (key in arrows) return () => editor.move(arrows[key as keyof typeof arrows], shiftKey);
  if (key === '?') return showKeys;
  if (key === 'Escape') return editor.connecting ? editor.stopConnecting : () => editor.select([]);
  // Buttons and links of a step act by themselves.
  if (target instanceof Element && target.closest('a, button, input')) return undefined;
  if (key === 'Enter') return editor.connecting ? editor.finishConnecting : openPanel;
  if (readOnly) return undefined;
  if (key === 'a' || key === '+') return () => editor.startAdding();
  if (key === 'c') return editor.startConnecting;
  return key === 'Delete' || key === 'Backspace' ? editor.remove : undefined;
}
