import { expect } from 'chai';
import { sliceMs } from '../../../activities/jobs.ts';

describe('a slice of a job', () => {
  it('lasts so long that the way to its place in the file is a fifth of it at most', () => {
    for (const wayMs of [0, 10, 1_000, 9_000]) expect(wayMs / sliceMs(wayMs)).to.be.at.most(0.2);
    // And so short that its progress can be followed.
    expect(sliceMs(0)).to.equal(sliceMs(1_000));
  });
});
