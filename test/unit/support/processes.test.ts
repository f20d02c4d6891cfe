import { expect } from 'chai';
import { createDatabase, type TestDatabase } from '../../support/postgres.ts';
import { startApi, startWorker } from '../../support/processes.ts';
import { startSmtp } from '../../support/smtp.ts';
import { devServer } from '../../support/temporal.ts';

describe('API and worker processes of tests', () => {
  let database: TestDatabase;

  before(async () => {
    database = await createDatabase();
  });

  after(() => database.drop());

  it('can be killed and restarted on the same port', async () => {
    const smtp = await startSmtp();
    const { address } = await devServer();
    const env = { DATABASE_URL: database.url, TEMPORAL_ADDRESS: address, SMTP_URL: smtp.url };
    const [api, worker] = await Promise.all([startApi(env), startWorker(env)]);
    expect((await fetch(`${api.url}/ready`)).status).to.equal(200);
    expect((await api.kill()).signal).to.equal('SIGKILL');
    expect(await fetch(api.url).catch(() => 'unavailable')).to.equal('unavailable');
    const again = await startApi({ ...env, PORT: String(api.port) });
    expect(again.url).to.equal(api.url);
    expect((await again.stop()).code).to.equal(0);
    expect((await worker.stop()).code).to.equal(0);
    await smtp.close();
  });

  it('fail with the reason when they cannot start', async () => {
    const failing = startApi({ DATABASE_URL: 'nonsense' });
    const error = await failing.catch((reason: Error) => reason);
    expect(error).to.be.an('error').with.property('message').that.contains('"DATABASE_URL" must be');
  });
});
