import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps } from '@xyflow/react';
import { memo } from 'react';
import { t } from '../../../texts/index.ts';
import type { Place } from './graph.ts';
import { pathOf, type Route } from './layout.ts';
import type { StepEditing } from './step-node.tsx';

export interface StepEdgeData extends Record<string, unknown> {
  /** Where a step can be inserted; missing where none can. */
  place?: Place;
  label?: string | undefined;
  /** Such as how many took it. */
  number?: string | undefined;
  /** Names of the steps that it joins. */
  from: string;
  to: string;
  editing?: StepEditing | undefined;
  route: Route | undefined;
}

export type StepEdgeType = Edge<StepEdgeData, 'step'>;

/** A transition with its branch, its number and a button that inserts a step. */
export const StepEdge = memo(function StepEdge(props: EdgeProps<StepEdgeType>) {
  const { sourceX, sourceY, targetX, targetY, data } = props;
  const { place, label, number, from = '', to = '', editing, route } = data ?? {};
  const path = pathOf({ x: sourceX, y: sourceY }, route?.bends ?? [], { x: targetX, y: targetY });
  const { x, y } = route?.label ?? { x: (sourceX + targetX) / 2, y: (sourceY + targetY) / 2 };
  const text = [label, number].filter(Boolean).join(' · ');
  const insert = place !== undefined && editing && (() => editing.onAdd(place));
  return (
    <>
      <BaseEdge path={path} />
      {(text || insert) && (
        <EdgeLabelRenderer>
          <div
            className="edge-label nodrag nopan"
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
          >
            {text && (
              <span className="edge-text" title={text}>
                {text}
              </span>
            )}
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
