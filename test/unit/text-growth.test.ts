import { expect } from 'chai';
import { type Growth, startGrowth } from '../support/growth.ts';
import type { GrowthFault } from '../support/growth-child.ts';
import { controls, lengthPaths, textPaths } from '../support/text-paths.ts';

const MINUTES = 60_000;

/**
 * No text may keep a main thread busy for longer than its length accounts for: each path gets long runs of every special
 * character, and four times the text may cost about four times the work. Compared are two lengths in one process, by
 * processor time and by the least of several runs, so neither a slow machine nor a busy one decides.
 */
describe('work on text grows no faster than the text', () => {
  let growth: Growth;
  before(() => {
    growth = startGrowth();
  });
  after(() => growth.stop());

  for (const path of Object.keys({ ...textPaths, ...lengthPaths }))
    it(path, async function () {
      this.timeout(10 * MINUTES);
      expect((await growth.faultsOf(path)).map(inWords)).to.deep.equal([]);
    });

  it('would find a pattern that takes quadratic time, and a loop over all that came before', async function () {
    this.timeout(10 * MINUTES);
    for (const control of Object.keys(controls)) expect(await growth.faultsOf(control), control).to.have.length(1);
  });
});

const inWords = ({ filler, ratio, length }: GrowthFault): string =>
  ratio === Number.POSITIVE_INFINITY
    ? `${filler} never came to an end`
    : `${filler}: four times the text, up to ${length} characters, took ${ratio} times the work`;
