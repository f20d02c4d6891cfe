import { expect } from 'chai';
import { startBalancer } from '../../dev/cluster/balancer.ts';
import { freePort } from '../../dev/ports.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { type Env, spawnApi, spawnWorker } from '../support/processes.ts';
import { type OwnNamespace, ownNamespace } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

describe('a process that starts without a connection to Postgres', () => {
  let database: ConnectedDatabase;
  let temporal: OwnNamespace;

  before(async () => {
    database = await connectTestDatabase(2);
    temporal = await ownNamespace();
  });
  after(async () => {
    await database.close();
    await temporal.close();
  });

  const start = (change: (url: URL) => void, spawn: (env: Env) => ReturnType<typeof spawnApi> = spawnWorker) => {
    const url = new URL(database.url);
    change(url);
    return spawn({
      DATABASE_URL: url.toString(),
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SMTP_URL: 'smtp://127.0.0.1:1',
    });
  };

  it('says so and waits until there is one', async () => {
    const port = await freePort();
    const worker = await start((url) => {
      url.port = String(port);
    });
    const says = () => worker.logs().includes('cannot connect to the database; waiting for it');
    await eventually(says, { what: 'the message' });
    const door = await startBalancer([Number(new URL(database.url).port)], port);
    await worker.ready();
    expect(worker.logs()).to.include('everpost doctor').and.include('the database answers');
    await worker.stop();
    await door.stop();
  });

  for (const [name, spawn] of Object.entries({ API: spawnApi, worker: spawnWorker }))
    it(`waits, as ${name}, while Postgres has no connection left`, async () => {
      const role = `limited_${name.toLowerCase()}`;
      const { username } = new URL(database.url);
      await database.db.raw("create role ?? login password 'secret' connection limit 0 in role ??", [role, username]);
      const process = await start((url) => {
        url.username = role;
        url.password = 'secret';
      }, spawn);
      const says = () => process.logs().includes('cannot connect to the database; waiting for it');
      await eventually(says, { what: 'the message' });
      expect(process.logs()).to.include('too many connections');
      await database.db.raw('alter role ?? connection limit 50', [role]);
      await process.ready();
      expect(process.logs()).to.include('the database answers');
      await process.stop();
    });

  it('exits at once with a wrong password', async () => {
    const worker = await start((url) => {
      url.password = 'wrong';
    });
    expect((await worker.exited).code).to.equal(1);
    expect(worker.logs()).to.include('password authentication failed').and.not.include('waiting for it');
    expect(worker.logs()).to.include('everpost doctor');
  });
});
