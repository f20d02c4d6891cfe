import { expect } from 'chai';
import { coalesced } from '../../../platform/coalesce.ts';

describe('coalesced', () => {
  it('shares one run between calls that arrive during another, each with its own result', async () => {
    const runs: number[][] = [];
    const double = coalesced(async (items: number[]) => {
      runs.push(items);
      await new Promise((resolve) => setImmediate(resolve));
      return items.map((item) => item * 2);
    });
    const first = double(1);
    await new Promise((resolve) => setImmediate(resolve));
    const answers = await Promise.all([first, double(2), double(3), double(4)]);
    expect(answers).to.deep.equal([2, 4, 6, 8]);
    expect(runs).to.deep.equal([[1], [2, 3, 4]]);
  });

  it('splits waiting calls into runs of at most maxItems', async () => {
    const sizes: number[] = [];
    const call = coalesced(
      async (items: number[]) => {
        sizes.push(items.length);
        return items;
      },
      { maxItems: 3 },
    );
    await Promise.all([1, 2, 3, 4, 5, 6, 7].map(call));
    expect(sizes).to.deep.equal([3, 3, 1]);
  });

  it('rejects only the calls of the failed run', async () => {
    let runs = 0;
    const call = coalesced(async (items: string[]) => {
      if (++runs === 1) throw new Error('the first run fails');
      return items;
    });
    const failed = await call('a').catch((error: Error) => error.message);
    expect(failed).to.equal('the first run fails');
    expect(await call('b')).to.equal('b');
  });

  it('delays a run to collect more items, until enough are waiting', async () => {
    const runs: number[][] = [];
    const call = coalesced(
      async (items: number[]) => {
        runs.push(items);
        return items;
      },
      { linger: { ms: 50, enough: 3 } },
    );
    const first = call(1);
    await new Promise((resolve) => setImmediate(resolve));
    const second = call(2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(runs).to.deep.equal([]);
    await Promise.all([first, second, call(3)]);
    expect(runs).to.deep.equal([[1, 2, 3]]);
    expect(await call(4)).to.equal(4);
    expect(runs.at(-1)).to.deep.equal([4]);
  });
});
