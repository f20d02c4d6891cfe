import { expect } from 'chai';
import { BusyQueues } from '../../../worker/busy.ts';

describe('busy queues', () => {
  it('are busy while an activity runs, and not after it has failed or ended', async () => {
    const busy = new BusyQueues();
    let finish = (_error?: Error) => {};
    const work = () =>
      new Promise<string>((resolve, reject) => {
        finish = (error) => (error ? reject(error) : resolve('done'));
      });
    const { activities } = busy.count({ taskQueue: 'queue', activities: { work } });
    const run = (activities as { work: typeof work }).work;
    expect(busy.isBusy()).to.equal(false);
    const first = run();
    expect(busy.isBusy()).to.equal(true);
    finish();
    expect(await first).to.equal('done');
    expect(busy.isBusy()).to.equal(false);
    const second = run().catch((error: Error) => error.message);
    finish(new Error('broken'));
    expect(await second).to.equal('broken');
    expect(busy.isBusy()).to.equal(false);
  });
});
