import { expect } from 'chai';
import { Slots } from '../../../platform/slots.ts';

describe('slots', () => {
  it('are given to those who wait by priority, then in the order of asking', async () => {
    const slots = new Slots(1);
    await slots.take();
    const served: string[] = [];
    const waiting = [
      ['later', 1],
      ['later still', 1],
      ['first', 0],
      ['second', 0],
    ].map(async ([name, priority]) => {
      await slots.take(Number(priority));
      served.push(String(name));
      slots.give();
    });
    slots.give();
    await Promise.all(waiting);
    expect(served).to.deep.equal(['first', 'second', 'later', 'later still']);
  });

  it('are never more than there are', async () => {
    const slots = new Slots(3);
    let [used, most] = [0, 0];
    const one = async () => {
      await slots.take();
      most = Math.max(most, ++used);
      await new Promise((resolve) => setImmediate(resolve));
      used--;
      slots.give();
    };
    await Promise.all(Array.from({ length: 20 }, one));
    expect(most).to.equal(3);
  });

  it('are not lost on somebody who has stopped waiting', async () => {
    const slots = new Slots(1);
    const stop = new AbortController();
    await slots.take();
    const waiting = slots.take(0, stop.signal);
    stop.abort();
    expect(await waiting).to.equal(false);
    expect(await slots.take(0, stop.signal)).to.equal(false);
    slots.give();
    expect(await slots.take()).to.equal(true);
  });
});
