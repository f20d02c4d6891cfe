import { expect } from 'chai';
import { placeSteps } from '../../../web/app/src/pages/workflows/canvas/layout.ts';

describe('the layout of the canvas', () => {
  const steps = (...ids: string[]) => ids.map((id) => ({ id }));
  const transition = (fromStepId: string, toStepId: string, branch: string | null = null) => ({
    fromStepId,
    toStepId,
    branch,
  });

  it('places steps from left to right in the order of the exits that lead to them', () => {
    const exits = [transition('split', 'a', '1'), transition('split', 'b', '2'), transition('split', 'c', '3')];
    const places = placeSteps(steps('split', 'a', 'b', 'c'), exits, 'start');
    const leftToRight = [...places].sort(([, a], [, b]) => a.x - b.x || a.y - b.y).map(([id]) => id);
    expect(leftToRight.filter((id) => ['a', 'b', 'c'].includes(id))).to.deep.equal(['a', 'b', 'c']);
    expect(places.get('b')?.x).to.equal(places.get('split')?.x);
  });

  it('places a step below those that lead to it', () => {
    const places = placeSteps(
      steps('end', 'yes', 'no', 'ask'),
      [
        transition('ask', 'yes', 'yes'),
        transition('ask', 'no', 'no'),
        transition('yes', 'end'),
        transition('no', 'end'),
      ],
      'start',
    );
    const topDown = ['start', 'ask', 'yes', 'end'].map((id) => places.get(id)?.y ?? Number.NaN);
    expect(topDown).to.deep.equal([...topDown].sort((a, b) => a - b));
    expect(new Set(topDown).size).to.equal(4);
    expect(places.get('no')?.y).to.equal(places.get('yes')?.y);
  });
});
