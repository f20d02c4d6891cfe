import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps, getSmoothStepPath } from '@xyflow/react';
import { memo } from 'react';
import { t } from '../../../texts/index.ts';
import type { GraphTransition } from './graph.ts';
import type { StepEditing } from './step-node.tsx';

export interface StepEdgeData extends Record<string, unknown> {
  /** Missing on the line from the start. */
  transition?: GraphTransition;
  label?: string | undefined;
  /** Such as how many took it. */
  number?: string | undefined;
  /** Names of the steps that it joins. */
  from: string;
  to: string;
  editing?: StepEditing | undefined;
}

export type StepEdgeType = Edge<StepEdgeData, 'step'>;

/** A transition with its branch, its number and a button that inserts a step. */
export const StepEdge = memo(function StepEdge(props: EdgeProps<StepEdgeType>) {
  const { sourceX, sourceY, sourcePosition, targetX, targetY, targetPosition, data } = props;
  const ends = { sourceX, sourceY, sourcePosition, targetX, targetY, targetPosition };
  const [path, x, y] = getSmoothStepPath({ ...ends, borderRadius: 10 });
  const { transition, label, number, from = '', to = '', editing } = data ?? {};
  const text = [label, number].filter(Boolean).join(' · ');
  const insert = transition && editing && (() => editing.onAdd(transition));
  return (
    <>
      <BaseEdge path={path} />
      {(text || insert) && (
        <EdgeLabelRenderer>
          <div
            className="edge-label nodrag nopan"
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
          >
            {text && <span className="edge-text">{text}</span>}
            {insert && (
              <button
                type="button"
                className="edge-insert"
                tabIndex={-1}
                aria-label={t.canvas.insertBetween(from, to)}
                onClick={insert}
              >
                +
              </button>
            )}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
});
