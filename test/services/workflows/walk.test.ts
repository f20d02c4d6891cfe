import { expect } from 'chai';
import { entriesOf, leave, MAX_STEPS, transitionFor } from '../../../services/workflows/walk.ts';
import { graphOf, type WorkflowSketch } from '../../support/executions.ts';

const graph = (sketch: WorkflowSketch) =>
  graphOf(sketch, Object.fromEntries(Object.keys(sketch.steps).map((name) => [name, name])));

const target = (drawn: ReturnType<typeof graph>, from: string, exit: Parameters<typeof transitionFor>[2]) =>
  transitionFor(drawn, from, exit)?.toStepId;

describe('walking a graph', () => {
  const branching = graph({
    steps: { wait: ['WAIT_FOR_EVENT'], ask: ['CONDITION'], a: ['EXIT'], b: ['EXIT'], c: ['EXIT'] },
    arrows: ['wait -> ask', 'wait -timeout-> c', 'ask -yes-> a', 'ask -no-> b'],
  });

  it('starts at the step that no transition leads to', () => {
    expect(entriesOf(branching).map(({ id }) => id)).to.deep.equal(['wait']);
  });

  it('takes the transition of the branch', () => {
    expect(target(branching, 'ask', 'yes')).to.equal('a');
    expect(target(branching, 'ask', 'no')).to.equal('b');
  });

  it('uses the transition without a branch for both exits of a wait, unless one has its own', () => {
    expect(target(branching, 'wait', 'event')).to.equal('ask');
    expect(target(branching, 'wait', 'timeout')).to.equal('c');
  });

  it('ignores a transition without a branch on a condition', () => {
    const drawn = graph({ steps: { ask: ['CONDITION'], a: ['EXIT'] }, arrows: ['ask -> a'] });
    expect(target(drawn, 'ask', 'yes')).to.equal(undefined);
  });

  it('completes when no transition leaves the step', () => {
    expect(leave(branching, { stepId: 'a', visit: 3 }, 'next')).to.deep.equal({ kind: 'completed' });
    const drawn = graph({ steps: { ask: ['CONDITION'], a: ['EXIT'] }, arrows: ['ask -yes-> a'] });
    expect(leave(drawn, { stepId: 'ask', visit: 1 }, 'no')).to.deep.equal({ kind: 'completed' });
  });

  it('counts visits, and fails after ten thousand', () => {
    const circle = graph({ steps: { a: ['DELAY'], b: ['DELAY'] }, arrows: ['a -> b', 'b -> a'] });
    expect(leave(circle, { stepId: 'a', visit: 1 }, 'next')).to.include({ kind: 'step', visit: 2 });
    expect(leave(circle, { stepId: 'a', visit: MAX_STEPS - 1 }, 'next')).to.include({ kind: 'step', visit: MAX_STEPS });
    expect(leave(circle, { stepId: 'a', visit: MAX_STEPS }, 'next'))
      .to.have.property('reason')
      .that.contains('10000 steps');
  });
});
