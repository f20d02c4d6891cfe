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
    let [used, maxUsed] = [0, 0];
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

  it('keeps slots free for other domains', async () => {
    const slots = new Slots(10);
    const many = Array.from({ length: 12 }, () => slots.take(0, undefined, 'big.example'));
    expect(await slots.take(0, undefined, 'small.example')).to.equal(true);
    await Promise.all(many.slice(0, 8));
    let ninth = false;
    void many[8]?.then(() => {
      ninth = true;
    });
    await slots.take(0);
    expect(ninth, 'the ninth waits for a slot of its domain').to.equal(false);
    slots.give('big.example');
    await many[8];
    expect(ninth).to.equal(true);
  });

  it('allows reuse of a slot only while no caller waits and the domain has room', async () => {
    const slots = new Slots(5);
    for (let taken = 0; taken < 4; taken++) await slots.take(2, undefined, 'a.example');
    await slots.take(2, undefined, 'b.example');
    expect(slots.mayPass('b.example')).to.equal(true);
    expect(slots.mayPass('a.example'), 'one domain never gets all slots').to.equal(false);
    slots.pass('a.example', 'b.example');
    expect(slots.mayPass('a.example')).to.equal(true);
    const other = slots.take(0);
    expect(slots.mayPass('a.example')).to.equal(false);
    slots.give('b.example');
    await other;
    expect(slots.mayPass('a.example')).to.equal(true);
    expect(new Slots(1, { next: () => Promise.resolve() }).mayPass()).to.equal(false);
  });

  it('gives each permit of a pace to the caller that is first when it arrives', async () => {
    const permits: (() => void)[] = [];
    const slots = new Slots(5, { next: () => new Promise((resolve) => permits.push(resolve)) });
    const served: string[] = [];
    const waiting = [
      slots.take(2).then(() => served.push('campaign')),
      slots.take(0).then(() => served.push('receipt')),
      slots.take(1).then(() => served.push('workflow')),
    ];
    for (let n = 0; n < 3; n++) {
      while (permits.length === 0) await new Promise((resolve) => setImmediate(resolve));
      expect(served).to.have.length(n);
      permits.shift()?.();
      while (served.length === n) await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(waiting);
    expect(served).to.deep.equal(['receipt', 'workflow', 'campaign']);
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
