import { expect } from 'chai';
import { sliceMs } from '../../../activities/jobs.ts';

describe('a slice of a job', () => {
  it('lasts at least five times as long as skipping the processed rows took', () => {
    for (const skipMs of [0, 10, 1_000, 9_000]) expect(skipMs / sliceMs(skipMs)).to.be.at.most(0.2);
    // Short slices have one length, so that progress is visible.
    expect(sliceMs(0)).to.equal(sliceMs(1_000));
  });
});
