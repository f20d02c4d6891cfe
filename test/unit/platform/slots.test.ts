import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { KeyedSlots, Slots } from '../../../platform/slots.ts';

describe('Slots', () => {
  it('serves waiting callers by priority, then in order of arrival', async () => {
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

  it('never gives more slots than its size', async () => {
    const slots = new Slots(3);
    let used = 0;
    let maxUsed = 0;
    const useSlot = async () => {
      await slots.take();
      maxUsed = Math.max(maxUsed, ++used);
      await new Promise((resolve) => setImmediate(resolve));
      used--;
      slots.give();
    };
    await Promise.all(Array.from({ length: 20 }, useSlot));
    expect(maxUsed).to.equal(3);
  });

  it('does not lose a slot to a caller that stopped waiting', async () => {
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

describe('KeyedSlots', () => {
  it('gives a key at most its share when other keys wait', async () => {
    const slots = new KeyedSlots(4, 2);
    const taken: string[] = [];
    const take = async (key: string) => {
      await slots.take(key);
      taken.push(key);
    };
    for (let n = 0; n < 100; n++) void take('noisy');
    await take('b');
    await take('c');
    expect(taken).to.deep.equal(['noisy', 'noisy', 'b', 'c']);
  });

  it('serves a new key after at most one share of each other key', async () => {
    const slots = new KeyedSlots(2, 2);
    const taken: string[] = [];
    const take = async (key: string) => {
      await slots.take(key);
      taken.push(key);
    };
    await take('noisy');
    await take('noisy');
    for (let n = 0; n < 50; n++) void take('noisy');
    const other = take('other');
    await nextTick();
    slots.give('noisy');
    await other;
    expect(taken).to.deep.equal(['noisy', 'noisy', 'other']);
  });

  it('releases the slot of a key that stops waiting for a shared one', async () => {
    const slots = new KeyedSlots(1, 1);
    expect(await slots.take('a')).to.equal(true);
    const stop = new AbortController();
    const waiting = slots.take('b', stop.signal);
    const behind = slots.take('b', stop.signal);
    stop.abort();
    expect([await waiting, await behind]).to.deep.equal([false, false]);
    slots.give('a');
    expect(await slots.take('b')).to.equal(true);
    slots.give('b');
    expect(await slots.take('a')).to.equal(true);
  });
});
