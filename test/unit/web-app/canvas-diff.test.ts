import { expect } from 'chai';
import { changesOf, diffOf, isEmptyDiff } from '../../../web/app/src/pages/workflows/canvas/diff.ts';

describe('the diff of two graphs', () => {
  const step = (id: string, change: object = {}) => ({
    id,
    type: 'DELAY' as const,
    name: id,
    config: {},
    templateId: null,
    position: { x: 0, y: 0 },
    ...change,
  });
  const exit = (fromStepId: string, toStepId: string, branch: string | null = null) => ({
    fromStepId,
    toStepId,
    branch,
  });

  it('lists added, removed and changed steps with old and new values', () => {
    const before = { steps: [step('a', { config: { amount: 1, unit: 'days' } }), step('b')], transitions: [] };
    const after = {
      steps: [step('a', { name: 'A', config: { amount: 2, unit: 'days' } }), step('c')],
      transitions: [],
    };
    const diff = diffOf({ graph: before }, { graph: after });
    expect(diff.added.map(({ id }) => id)).to.deep.equal(['c']);
    expect(diff.removed.map(({ id }) => id)).to.deep.equal(['b']);
    expect(diff.changed.map(({ changes }) => changes)).to.deep.equal([
      [
        { path: 'name', before: 'a', after: 'A' },
        { path: 'amount', before: 1, after: 2 },
      ],
    ]);
  });

  it('ignores the position, and where a template is named', () => {
    const before = { steps: [step('a', { templateId: 't' })], transitions: [] };
    const after = { steps: [step('a', { config: { templateId: 't' }, position: { x: 5, y: 5 } })], transitions: [] };
    expect(isEmptyDiff(diffOf({ graph: before }, { graph: after }))).to.equal(true);
  });

  it('lists exits of steps that both have', () => {
    const steps = [step('a'), step('b'), step('c')];
    const before = { steps, transitions: [exit('a', 'b', 'yes'), exit('b', 'c')] };
    const after = { steps: [...steps, step('d')], transitions: [exit('a', 'c', 'yes'), exit('d', 'c')] };
    expect(diffOf({ graph: before }, { graph: after }).exits).to.deep.equal([
      { exit: exit('a', 'c', 'yes'), before: 'b', after: 'c' },
      { exit: exit('b', 'c'), before: 'c', after: undefined },
    ]);
  });

  it('compares rows of the same number one by one, and other lists as a whole', () => {
    const rows = (...weights: number[]) => ({ branches: weights.map((weight) => ({ weight })) });
    expect(changesOf(rows(1, 2), rows(1, 3))).to.deep.equal([{ path: 'branches.1.weight', before: 2, after: 3 }]);
    expect(changesOf(rows(1), rows(1, 2)).map(({ path }) => path)).to.deep.equal(['branches']);
    expect(changesOf({ days: ['MON'] }, { days: ['MON', 'TUE'] }).map(({ path }) => path)).to.deep.equal(['days']);
    const spans = changesOf({ timeout: { amount: 1, unit: 'days' } }, { timeout: { amount: 3, unit: 'weeks' } });
    expect(spans.map(({ path }) => path)).to.deep.equal(['timeout']);
  });

  it('compares what starts the workflow', () => {
    const graph = { steps: [], transitions: [] };
    const event = { triggerType: 'EVENT' as const, triggerConfig: { eventName: 'a' }, allowReentry: false };
    const diff = diffOf(
      { graph, trigger: event },
      { graph, trigger: { ...event, triggerConfig: { eventName: 'b' }, allowReentry: true } },
    );
    expect(diff.trigger).to.deep.equal([
      { path: 'eventName', before: 'a', after: 'b' },
      { path: 'allowReentry', before: false, after: true },
    ]);
  });
});
