import { expect } from 'chai';
import { ConcurrencyLimit } from '../../api/http/concurrency.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

describe('an API with more requests than it may work on at once', () => {
  const limits = { lasting: 2, peak: 2, peakMs: 0 };
  let api: TestApi;

  before(async () => {
    api = await startTestApi({ concurrency: new ConcurrencyLimit(limits, limits) });
  });
  after(() => api.stop());

  it('counts those that wait for the check of their key, and refuses others at once', async () => {
    const project = await api.project();
    const lock = await api.db.transaction();
    await lock.raw('lock table projects in access exclusive mode');
    // Contacts are heavy work, which does not count while it is done.
    const asked = Array.from({ length: 3 }, () => project.server.get('/contacts'));
    const first = await Promise.race(asked);
    expect(first).to.be.envelope(503, 'INTERNAL_SERVER_ERROR');
    expect(first.headers.get('retry-after')).to.equal('2');
    expect(await api.get('/health')).to.have.status(200);
    await lock.commit();
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.sort()).to.deep.equal([200, 200, 503]);
  });
});
