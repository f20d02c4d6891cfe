import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { KeyedSlots } from '../../../platform/keyed-slots.ts';

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
