import { expect } from 'chai';
import { type Growth, startGrowth } from '../support/growth.ts';
import type { GrowthViolation } from '../support/growth-child.ts';
import { controls, lengthPaths, textPaths } from '../support/text-paths.ts';

const MINUTES = 60_000;

// Guards the main thread against text that takes more than linear time: each path gets long runs of special characters
// (fillers), and four times the text may take about four times the work. Compares two lengths in one process, by the
// least processor time of several runs, so that a slow or busy machine does not affect the result.
describe('text processing takes linear time', () => {
  let growth: Growth;
  before(() => {
    growth = startGrowth();
  });
  after(() => growth.stop());

  for (const path of Object.keys({ ...textPaths, ...lengthPaths }))
    it(path, async function () {
      this.timeout(10 * MINUTES);
      expect((await growth.faultsOf(path)).map(describeGrowth)).to.deep.equal([]);
    });

  it('detects a quadratic pattern and a quadratic loop', async function () {
    this.timeout(10 * MINUTES);
    for (const control of Object.keys(controls)) expect(await growth.faultsOf(control), control).to.have.length(1);
  });
});

const describeGrowth = ({ filler, ratio, length }: GrowthViolation): string =>
  ratio === Number.POSITIVE_INFINITY
    ? `${filler} did not end`
    : `${filler}: four times the text, up to ${length} characters, took ${ratio} times the work`;
