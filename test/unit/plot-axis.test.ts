import { expect } from 'chai';
import { niceMaximum } from '../../web/app/src/ui/plot-axis.ts';

describe('the axis of a plot', () => {
  it('ends at most two thirds above the largest value, with four whole steps', () => {
    for (let value = 4; value < 30_000; value += 1 + (value >> 4)) {
      const end = niceMaximum(value);
      expect(end, String(value)).to.be.within(value, (value * 5) / 3);
      expect(end % 4, String(value)).to.equal(0);
    }
  });

  it('has four steps where nothing happened', () => {
    expect([0, 1, 4].map(niceMaximum)).to.deep.equal([4, 4, 4]);
  });
});
