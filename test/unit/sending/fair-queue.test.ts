import { expect } from 'chai';
import { FairQueue } from '../../../services/sending/fair-queue.ts';

const all = () => true;
/** Items are named after their lane: 'slow1' and 'slow2' may leave together. */
const laneOf = (item: string) => item.replace(/\d+$/, '');

describe('a fair queue', () => {
  const queueOf = (...items: [string, string][]) => {
    const queue = new FairQueue<string>(laneOf);
    for (const [group, item] of items) queue.put(group, item);
    return queue;
  };
  const taken = (queue: FairQueue<string>, mayLeave: (item: string) => boolean = all): string[] => {
    const items: string[] = [];
    for (let item = queue.take(mayLeave); item !== undefined; item = queue.take(mayLeave)) items.push(item);
    return items;
  };

  it('serves groups in turn, and each group first in, first out', () => {
    const queue = queueOf(['a', 'a1'], ['a', 'a2'], ['a', 'a3'], ['b', 'b1'], ['c', 'c1'], ['b', 'b2']);
    expect(queue.size).to.equal(6);
    expect(taken(queue)).to.deep.equal(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(queue.size).to.equal(0);
  });

  it('serves a new group before the one that was served last', () => {
    const queue = queueOf(['a', 'a1'], ['a', 'a2']);
    expect(queue.take(all)).to.equal('a1');
    queue.put('b', 'b1');
    expect(taken(queue)).to.deep.equal(['a2', 'b1']);
  });

  it('passes items that may not leave, and keeps them', () => {
    const queue = queueOf(['a', 'slow1'], ['a', 'a2'], ['b', 'slow2'], ['b', 'b2']);
    expect(taken(queue, (item) => !item.startsWith('slow'))).to.deep.equal(['a2', 'b2']);
    expect(queue.size).to.equal(2);
    expect(taken(queue)).to.deep.equal(['slow1', 'slow2']);
  });

  it('finds an item behind many that may not leave', () => {
    const queue = new FairQueue<string>(laneOf);
    for (let n = 0; n < 300; n++) queue.put('a', 'slow');
    queue.put('a', 'a301');
    queue.put('b', 'b1');
    expect(taken(queue, (item) => item !== 'slow')).to.deep.equal(['a301', 'b1']);
    expect(queue.size).to.equal(300);
  });

  it('asks once for each lane, however many items wait in it', () => {
    const queue = new FairQueue<string>(laneOf);
    for (let n = 0; n < 300; n++) for (const lane of ['a', 'b', 'c']) queue.put('group', `${lane}${n}`);
    const asked: string[] = [];
    queue.take((item) => {
      asked.push(item);
      return false;
    });
    expect(asked).to.deep.equal(['a0', 'b0', 'c0']);
  });

  it('keeps the order of items in different lanes of a group', () => {
    const queue = queueOf(['g', 'a1'], ['g', 'a2'], ['g', 'b3'], ['g', 'a4'], ['g', 'b5'], ['g', 'c6']);
    expect(queue.take((item) => item.startsWith('b'))).to.equal('b3');
    queue.putFirst('g', 'b3');
    queue.put('g', 'a7');
    expect(taken(queue)).to.deep.equal(['b3', 'a1', 'a2', 'a4', 'b5', 'c6', 'a7']);
  });

  it('gives up some items, the last of each group first', () => {
    const queue = queueOf(['a', 'a1'], ['a', 'slow1'], ['b', 'slow2'], ['a', 'slow3'], ['a', 'a2']);
    let most = 2;
    expect(queue.takeThose((item) => item.startsWith('slow') && most-- > 0)).to.deep.equal(['slow3', 'slow1']);
    expect(queue.size).to.equal(3);
    expect(queue.takeThose((item) => item.startsWith('slow'))).to.deep.equal(['slow2']);
    expect(taken(queue)).to.deep.equal(['a1', 'a2']);
  });

  it('takes an item back to the front of its group', () => {
    const queue = queueOf(['a', 'a1'], ['a', 'a2']);
    queue.putFirst('a', queue.take(all) ?? '');
    expect(queue.size).to.equal(2);
    expect(taken(queue)).to.deep.equal(['a1', 'a2']);
  });

  it('gives up the items of one group, or all', () => {
    const queue = queueOf(['a', 'a1'], ['b', 'b1'], ['a', 'a2'], ['c', 'c1']);
    expect(queue.takeGroup('a')).to.deep.equal(['a1', 'a2']);
    expect(queue.takeGroup('none')).to.deep.equal([]);
    expect(queue.size).to.equal(2);
    expect(queue.takeAll()).to.deep.equal(['b1', 'c1']);
    expect(queue.size).to.equal(0);
  });
});
