import { expect } from 'chai';
import { lengthsOf } from '../../proof/lengths.ts';

const MINUTE = 60_000;
const all = ['chaos', 'fuzz', 'kills', 'replay', 'backup', 'supply', 'overload'];

describe('the minutes of npm run proof', () => {
  it('divides thirty: ten of overload, three for each outage', () => {
    expect(lengthsOf(30, all)).to.deep.equal({
      chaosMs: 7 * MINUTE,
      fuzzMs: 2 * MINUTE,
      floodMs: 3 * MINUTE,
      overloadMs: 10 * MINUTE,
      outageMs: 3 * MINUTE,
    });
  });

  it('gives each outage an hour of three', () => {
    const { outageMs, chaosMs, fuzzMs, floodMs, overloadMs } = lengthsOf(180, all);
    expect(outageMs).to.equal(60 * MINUTE);
    expect(chaosMs + fuzzMs + floodMs + overloadMs).to.be.closeTo(48 * MINUTE, 1);
  });

  it('gives the minutes to the parts that were asked for', () => {
    expect(lengthsOf(60, ['chaos']).chaosMs).to.be.closeTo(56 * MINUTE, 1);
    const { chaosMs, fuzzMs } = lengthsOf(30, ['chaos', 'fuzz']);
    expect(chaosMs + fuzzMs).to.be.closeTo(28 * MINUTE, 1);
    expect(chaosMs / fuzzMs).to.be.closeTo(3.5, 0.001);
    expect(lengthsOf(30, ['kills', 'replay'])).to.deep.include({ chaosMs: 0, overloadMs: 0 });
  });
});
