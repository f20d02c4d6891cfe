import { useState } from 'react';
import type { StepTypeInfo } from '../../../api/types.ts';
import { t } from '../../../texts/index.ts';
import { showDone } from '../../../ui/notify.ts';
import { branchName } from '../steps.ts';
import { nameOf } from './add-panel.tsx';
import { type GraphTransition, NEXT, newId, type Place, START } from './graph.ts';
import { placeSteps } from './layout.ts';
import {
  addStep,
  branchOf,
  type CopiedSteps,
  changeStep,
  connect,
  copySteps,
  type DraftGraph,
  type DraftStep,
  disconnect,
  exitsOf,
  exitToExtend,
  neighbourOf,
  pasteSteps,
  removeSteps,
  type StepTypes,
} from './model.ts';
import type { DraftEditing } from './use-draft.ts';

/** An exit that is being connected by the keyboard. */
export interface Connecting {
  fromStepId: string;
  exit: string;
}

/** Copies for the time of the visit: of one workflow into another too. */
let clipboard: CopiedSteps | undefined;
/** What the system's clipboard has of them. */
const CLIPBOARD_MARK = 'everpost.steps';

/** The copied steps as a text for the system's clipboard; undefined when nothing was copied. */
export const clipboardText = (): string | undefined => clipboard && JSON.stringify({ [CLIPBOARD_MARK]: clipboard });

export type Editor = ReturnType<typeof useEditor>;

/** Selection, and the actions of the editor on the draft. `shown` is another graph, which can be looked at only. */
export function useEditor(draft: DraftEditing, types: StepTypes, shown: DraftGraph = draft.content.graph) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState<{ id: string } | undefined>();
  const [place, setPlace] = useState<{ at: Place } | undefined>();
  const [connecting, setConnecting] = useState<Connecting | undefined>();
  const { content } = draft;
  const { graph } = content;
  const byId = (id: string | undefined): DraftStep | undefined => shown.steps.find((step) => step.id === id);
  const only = selected.size === 1 ? [...selected][0] : undefined;
  const changeGraph = (next: DraftGraph, name?: string) => draft.change({ ...content, graph: next }, name);

  const select = (ids: string[], focus = false) => {
    setSelected(new Set(ids));
    setPlace(undefined);
    const id = ids.at(-1);
    setFocused(focus && id !== undefined ? { id } : undefined);
  };

  const selectFromCanvas = (id: string | undefined, { extend }: { extend: boolean }) => {
    if (id === undefined) return select([]);
    if (!extend || id === START || selected.has(START)) return select([id]);
    const others = [...selected].filter((other) => other !== id);
    select(selected.has(id) ? others : [...others, id]);
  };

  /** Opens the choice of a type for a new step. */
  const startAdding = (at?: Place) => {
    if (at !== undefined) return setPlace({ at });
    const step = byId(only);
    const exit = step && exitToExtend(graph, types, step);
    if (step && exit !== undefined) return setPlace({ at: { fromStepId: step.id, branch: branchOf(exit) } });
    const last = step ? undefined : graph.steps.findLast((one) => exitToExtend(graph, types, one) !== undefined);
    if (only === START || !last) return setPlace({ at: null });
    setPlace({ at: { fromStepId: last.id, branch: branchOf(exitToExtend(graph, types, last) ?? NEXT) } });
  };

  const add = (type: StepTypeInfo) => {
    if (!place) return;
    const id = newId();
    const step: DraftStep = {
      id,
      type: type.type,
      name: freeName(graph, nameOf(type)),
      config: structuredClone(type.newConfig),
      templateId: null,
      position: { x: 0, y: 0 },
    };
    changeGraph(addStep(graph, types, place.at, step));
    select([id], true);
  };

  const remove = () => {
    const ids = new Set([...selected].filter((id) => id !== START));
    if (ids.size === 0) return;
    const before = graph.transitions.find(({ fromStepId, toStepId }) => ids.has(toStepId) && !ids.has(fromStepId));
    changeGraph(removeSteps(graph, types, ids));
    select([before?.fromStepId ?? START], true);
  };

  const copy = (): boolean => {
    const copied = copySteps(shown, selected);
    if (copied.steps.length === 0) return false;
    clipboard = copied;
    showDone(t.canvas.copied(copied.steps.length));
    return true;
  };

  const paste = (text = '') => {
    const copied = copiedOf(text) ?? clipboard;
    if (!copied) return;
    const known = { ...copied, steps: copied.steps.filter(({ type }) => types.has(type)) };
    const { graph: next, ids } = pasteSteps(graph, types, known, { after: only, newId });
    changeGraph(next);
    select(ids, true);
  };

  const connectExit = (exit: Exclude<Place, null>, toStepId: string | undefined) =>
    changeGraph(toStepId === undefined ? disconnect(graph, exit) : connect(graph, { ...exit, toStepId }));

  /** Starts connecting by the keyboard, or continues with the next exit. */
  const startConnecting = () => {
    if (connecting) {
      const from = byId(connecting.fromStepId);
      const exits = from ? exitsOf(types, from) : [];
      const exit = exits[(exits.indexOf(connecting.exit) + 1) % exits.length];
      if (exit !== undefined) setConnecting({ ...connecting, exit });
      return;
    }
    const step = byId(only);
    const exit = step && exitToExtend(graph, types, step);
    if (step && exit !== undefined) setConnecting({ fromStepId: step.id, exit });
  };

  const finishConnecting = () => {
    if (!connecting || only === undefined || only === START || only === connecting.fromStepId) return;
    connectExit({ fromStepId: connecting.fromStepId, branch: branchOf(connecting.exit) }, only);
    setConnecting(undefined);
  };

  const move = (direction: 'up' | 'down' | 'left' | 'right', extend: boolean) => {
    const { steps: positions } = placeSteps(shown.steps, shown.transitions, { first: START });
    const from = [...selected].at(-1) ?? START;
    const next = neighbourOf(positions, from, direction);
    if (next === undefined) return select([from], true);
    select(
      extend && next !== START ? [...[...selected].filter((id) => id !== next && id !== START), next] : [next],
      true,
    );
  };

  return {
    selected,
    /** The step that has just been chosen by the keyboard or added: it gets the focus. */
    focused,
    adding: place,
    connecting,
    connectingText: connecting && connectingText(byId(connecting.fromStepId), connecting.exit),
    step: byId(only),
    isStartSelected: only === START,
    select,
    selectFromCanvas,
    selectAll: () => select(shown.steps.map(({ id }) => id)),
    startAdding,
    cancelAdding: () => {
      setPlace(undefined);
      if (only !== undefined) setFocused({ id: only });
    },
    add,
    remove,
    copy,
    paste,
    hasCopied: () => clipboard !== undefined,
    cut: () => {
      if (copy()) remove();
    },
    connectExit,
    connectDragged: ({ fromStepId, branch, toStepId }: GraphTransition) =>
      connectExit({ fromStepId, branch }, toStepId),
    startConnecting,
    finishConnecting,
    stopConnecting: () => setConnecting(undefined),
    move,
    changeStep: (id: string, change: Parameters<typeof changeStep>[3], name: string) =>
      changeGraph(changeStep(graph, types, id, change), `${id}.${name}`),
    refocus: () => setFocused(only === undefined ? undefined : { id: only }),
  };
}

const connectingText = (from: DraftStep | undefined, exit: string): string =>
  t.canvas.connectingFrom(from?.name ?? '', exit === NEXT ? t.workflows.leadsTo : branchName(exit));

/** A name that no other step has. */
function freeName({ steps }: DraftGraph, name: string): string {
  const taken = new Set(steps.map((step) => step.name));
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? name : `${name} ${n}`;
    if (!taken.has(candidate)) return candidate;
  }
}

function copiedOf(text: string): CopiedSteps | undefined {
  try {
    const copied = (JSON.parse(text) as Record<string, CopiedSteps | undefined>)[CLIPBOARD_MARK];
    return Array.isArray(copied?.steps) && Array.isArray(copied.transitions) ? copied : undefined;
  } catch {
    return undefined;
  }
}
