import { IconAlertTriangle, IconPlayerPlay } from '@tabler/icons-react';
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { memo, type ReactNode } from 'react';
import { compact } from '../../../format.ts';
import { t } from '../../../texts/index.ts';
import { branchName } from '../steps.ts';
import { type GraphStep, NEXT, type Place } from './graph.ts';
import { exitOffset, NODE_WIDTH } from './layout.ts';
import { StepIcon } from './step-icon.tsx';
import type { StepSummary } from './summary.ts';

export type StepTone = 'path' | 'current' | 'fault';

export interface StepEditing {
  /** The user wants to add a step here. */
  onAdd(place: Place): void;
}

/** Executions that failed at a step, or try it again and again. */
export interface StepProblem {
  failed: number;
  retrying: number;
  /** The newest error. */
  error: string;
}

export interface StepNodeData extends Record<string, unknown> {
  step: GraphStep;
  /** The name of its type. */
  label: string;
  isStart: boolean;
  exits: readonly string[];
  /** Exits that lead nowhere. */
  open: readonly string[];
  tone: StepTone | undefined;
  faded: boolean;
  badge: ReactNode;
  summary: StepSummary | undefined;
  problem: StepProblem | undefined;
  editing: StepEditing | undefined;
}

export type StepNodeType = Node<StepNodeData, 'step'>;

/** A step as a card, with a dot for each exit. */
export const StepNode = memo(function StepNode({ data }: NodeProps<StepNodeType>) {
  const { step, label, isStart, exits, open, tone, faded, badge, summary, problem, editing } = data;
  const lines = summary?.lines ?? [];
  return (
    <div className="step-card" data-tone={tone} data-faded={faded || undefined} data-start={isStart || undefined}>
      {!isStart && <Handle type="target" position={Position.Top} isConnectable={editing !== undefined} />}
      <div className="step-type">
        {isStart ? <IconPlayerPlay size={14} aria-hidden /> : <StepIcon type={step.type} />}
        <span>{isStart ? t.workflows.trigger : label}</span>
        {problem && <ProblemBadge problem={problem} />}
        {tone === 'fault' && <IconAlertTriangle size={16} className="step-fault" aria-label={t.canvas.hasFaults} />}
      </div>
      <div className="step-name" title={step.name}>
        {step.name}
      </div>
      {problem ? (
        <div className="step-line step-error" title={problem.error}>
          {problem.error || t.workflows.noError}
        </div>
      ) : (
        lines.map((line) => (
          <div key={line} className="step-line" title={line}>
            {line}
          </div>
        ))
      )}
      <div className="step-badge">{badge}</div>
      {isStart ? (
        <Handle type="source" id={NEXT} position={Position.Bottom} isConnectable={false} />
      ) : (
        exits.map((exit, index) => (
          <Handle
            key={exit}
            type="source"
            id={exit}
            position={Position.Bottom}
            isConnectable={editing !== undefined}
            style={{ left: exitOffset(index, exits.length) }}
          />
        ))
      )}
      {editing &&
        open.map((exit) => (
          <button
            key={exit}
            type="button"
            className="open-exit nodrag nopan"
            // The panel has the same for the keyboard; a second stop for each exit would make a long way of a short one.
            tabIndex={-1}
            style={{
              left: exitOffset(exits.indexOf(exit), exits.length),
              maxWidth: Math.max(NODE_WIDTH / exits.length - 4, 28),
            }}
            aria-label={exit === NEXT ? t.canvas.addAfter(step.name) : t.canvas.addAtExit(step.name, branchName(exit))}
            onClick={(event) => {
              event.stopPropagation();
              editing.onAdd(isStart ? null : { fromStepId: step.id, branch: exit === NEXT ? null : exit });
            }}
          >
            {exit === NEXT ? '+' : `+ ${branchName(exit)}`}
          </button>
        ))}
    </div>
  );
});

const ProblemBadge = ({ problem: { failed, retrying } }: { problem: StepProblem }) => (
  <span className="step-problem">
    <IconAlertTriangle size={12} aria-hidden />
    {[
      ...(retrying > 0 ? [t.canvas.retryingCount(compact(retrying))] : []),
      ...(failed > 0 ? [t.canvas.failedCount(compact(failed))] : []),
    ].join(', ')}
  </span>
);
