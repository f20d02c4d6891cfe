import { expect } from 'chai';
import { ConcurrencyLimit } from '../../api/http/concurrency.ts';
import { ApiError } from '../../platform/errors.ts';

const unlimited = { lasting: 1_000, peak: 1_000, peakMs: 1_000_000 };

describe('the limit of concurrent requests', () => {
  /** Begins requests that last until `finish`. */
  function requests(limit: ConcurrencyLimit) {
    const open: (() => void)[] = [];
    const begin = (projectId?: string) => {
      const work = () => new Promise<string>((done) => open.push(() => done('answered')));
      return limit.run(projectId, work).catch((error: unknown) => error);
    };
    const finish = (count = open.length) => {
      for (const end of open.splice(0, count)) end();
    };
    return { begin, finish, open };
  }

  it('refuses one more than the peak with 503 and Retry-After, and accepts again afterwards', async () => {
    const { begin, finish } = requests(new ConcurrencyLimit({ lasting: 2, peak: 3, peakMs: 1_000_000 }, unlimited));
    const first = [begin(), begin('a'), begin('b')];
    const refused = await begin('c');
    expect(refused).to.be.instanceOf(ApiError).with.property('status', 503);
    expect((refused as ApiError).extras.headers).to.deep.equal({ 'Retry-After': '2' });
    finish(1);
    await first[0];
    const next = begin('c');
    finish();
    expect(await Promise.all([...first, next])).to.deep.equal(Array(4).fill('answered'));
  });

  it('refuses more than the lasting number once that has gone on for too long', async () => {
    const { begin, finish, open } = requests(new ConcurrencyLimit({ lasting: 2, peak: 100, peakMs: -1 }, unlimited));
    const accepted = [begin(), begin()];
    expect(await begin()).to.be.instanceOf(ApiError);
    finish(1);
    await accepted[0];
    accepted.push(begin());
    expect(open).to.have.length(2);
    expect(await begin()).to.be.instanceOf(ApiError);
    finish();
    expect(await Promise.all(accepted)).to.deep.equal(Array(3).fill('answered'));
  });

  it('refuses a project that has too many, and no other', async () => {
    const own = { lasting: 2, peak: 2, peakMs: 1_000_000 };
    const { begin, finish } = requests(new ConcurrencyLimit(unlimited, own));
    const accepted = [begin('a'), begin('a')];
    expect(await begin('a')).to.be.instanceOf(ApiError);
    accepted.push(begin('b'), begin());
    finish();
    expect(await Promise.all(accepted)).to.deep.equal(Array(4).fill('answered'));
    const again = begin('a');
    finish();
    expect(await again).to.equal('answered');
  });

  it('counts requests that fail as ended', async () => {
    const limit = new ConcurrencyLimit({ lasting: 1, peak: 1, peakMs: 1_000_000 }, unlimited);
    for (let n = 0; n < 3; n++) {
      const failure = await limit.run('a', () => Promise.reject(new Error('refused'))).catch((error: Error) => error);
      expect(failure).to.have.property('message', 'refused');
    }
  });
});
