import { expect } from 'chai';
import fc from 'fast-check';
import { exitKey } from '../../../platform/merge-graphs.ts';
import {
  type Layout,
  NODE_WIDTH,
  nodeHeight,
  type Point,
  placeSteps,
  startKey,
} from '../../../web/app/src/pages/workflows/canvas/layout.ts';

describe('the layout of the canvas', () => {
  const steps = (...ids: string[]) => ids.map((id) => ({ id, type: 'DELAY' }));
  const transition = (fromStepId: string, toStepId: string, branch: string | null = null) => ({
    fromStepId,
    toStepId,
    branch,
  });

  it('places steps from left to right in the order of the exits that lead to them', () => {
    const exits = [transition('split', 'a', '1'), transition('split', 'b', '2'), transition('split', 'c', '3')];
    const places = placeSteps(steps('split', 'a', 'b', 'c'), exits, { first: 'start' }).steps;
    const leftToRight = [...places].sort(([, a], [, b]) => a.x - b.x || a.y - b.y).map(([id]) => id);
    expect(leftToRight.filter((id) => ['a', 'b', 'c'].includes(id))).to.deep.equal(['a', 'b', 'c']);
    expect(places.get('b')?.x).to.equal(places.get('split')?.x);
  });

  it('places a step below those that lead to it', () => {
    const transitions = [
      transition('ask', 'yes', 'yes'),
      transition('ask', 'no', 'no'),
      transition('yes', 'end'),
      transition('no', 'end'),
    ];
    const places = placeSteps(steps('end', 'yes', 'no', 'ask'), transitions, { first: 'start' }).steps;
    const topDown = ['start', 'ask', 'yes', 'end'].map((id) => places.get(id)?.y ?? Number.NaN);
    expect(topDown).to.deep.equal([...topDown].sort((a, b) => a - b));
    expect(new Set(topDown).size).to.equal(4);
    expect(places.get('no')?.y).to.equal(places.get('yes')?.y);
  });

  it('leads a line back up beside the steps', () => {
    const transitions = [transition('wait', 'ask'), transition('ask', 'wait', 'no'), transition('ask', 'end', 'yes')];
    const { steps: places, routes } = placeSteps(steps('wait', 'ask', 'end'), transitions);
    const right = Math.max(...[...places.values()].map(({ x }) => x + NODE_WIDTH));
    expect(routes.get('ask no')?.label.x).to.be.greaterThan(right);
  });

  it('keeps labels off each other, off steps, and off the lines of others', () => {
    const graphs = fc
      .array(fc.tuple(fc.nat(9), fc.nat(9), fc.constantFrom('yes', 'no', 'the event came', null)), { maxLength: 16 })
      .map((found) => {
        const byExit = found
          .filter(([from, to]) => from !== to)
          .map(([from, to, branch]) => transition(`s${from}`, `s${to}`, branch));
        return [...new Map(byExit.map((one) => [exitKey(one), one])).values()];
      });
    const types = ['SEND_EMAIL', 'DELAY'];
    const all = Array.from({ length: 10 }, (_, n) => ({ id: `s${n}`, type: types[n % 2] ?? '' }));
    fc.assert(
      fc.property(graphs, (transitions) => {
        const layout = placeSteps(all, transitions, { first: 'start', labelOf: ({ branch }) => branch ?? '' });
        const labels = labelsOf(layout);
        const boxes = all.map(({ id, type }) => boxOf(layout.steps.get(id), NODE_WIDTH, nodeHeight(type)));
        for (const [key, label] of labels) {
          for (const [other, box] of labels)
            if (other !== key) expect(overlap(label, box), `${key}, ${other}`).to.equal(false);
          for (const box of boxes) expect(overlap(label, box), `${key} and a step`).to.equal(false);
        }
        for (const [key, { bends }] of layout.routes)
          for (const [index, bend] of bends.slice(1).entries()) {
            const line = between(bends[index] ?? bend, bend);
            for (const [other, box] of labels)
              if (other !== key) expect(overlap(line, box), `the line ${key} and ${other}`).to.equal(false);
            for (const box of boxes) expect(overlap(line, box), `the line ${key} and a step`).to.equal(false);
          }
      }),
      { numRuns: 200 },
    );
  });

  it('has a line from the start to each step that nothing leads to', () => {
    const { routes } = placeSteps(steps('a', 'b', 'c'), [transition('a', 'b')], { first: 'start' });
    expect([...routes.keys()]).to.have.members([startKey('a'), startKey('c'), 'a ']);
  });
});

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const boxOf = ({ x, y }: Point = { x: 0, y: 0 }, width: number, height: number): Box => ({
  left: x,
  right: x + width,
  top: y,
  bottom: y + height,
});

/** The button that inserts a step is the least that a label has. */
const labelsOf = ({ routes }: Layout): [string, Box][] =>
  [...routes].map(
    ([
      key,
      {
        label: { x, y },
      },
    ]) => [key, boxOf({ x: x - 38, y: y - 13 }, 76, 26)],
  );

const between = (a: Point, b: Point): Box => ({
  left: Math.min(a.x, b.x),
  right: Math.max(a.x, b.x),
  top: Math.min(a.y, b.y),
  bottom: Math.max(a.y, b.y),
});

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5;
