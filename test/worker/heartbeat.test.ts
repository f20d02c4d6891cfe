import { expect } from 'chai';
import { freePort } from '../../dev/ports.ts';
import { productVersion } from '../../platform/version.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { startApi, startWorker } from '../support/processes.ts';
import { ownNamespace } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

describe('processes', () => {
  let database: ConnectedDatabase;

  before(async () => {
    database = await connectTestDatabase(2);
  });
  after(() => database.close());

  const kinds = (): Promise<string[]> => database.db('processes').orderBy('kind').pluck('kind');

  it('of API and worker show their version and remove themselves when they stop', async () => {
    const temporal = await ownNamespace();
    const env = {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
    };
    const [api, worker] = await Promise.all([startApi(env), startWorker(env)]);
    await eventually(async () => (await kinds()).length === 2, { what: 'both heartbeats' });
    expect(await kinds()).to.deep.equal(['api', 'worker']);
    for (const { pid } of [api, worker])
      expect(await database.db('processes').where({ pid }).first()).to.include({ version: productVersion });
    expect(productVersion).to.match(/^\d+\.\d+\.\d+/);
    await api.stop();
    expect(await kinds()).to.deep.equal(['worker']);
    await worker.stop();
    expect(await kinds()).to.deep.equal([]);
    await temporal.close();
  });
});
