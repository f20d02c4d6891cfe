import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { createProjectWithClients } from '../support/api.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { type ServiceProcess, startApi } from '../support/processes.ts';
import { RawHttp } from '../support/raw-http.ts';
import { lockTable, waitingForLocks } from '../support/rows/tables.ts';
import { eventually } from '../support/waiting.ts';

/** Locks the table that every track writes to; the result releases it. */
async function lockTracking(db: Db): Promise<() => Promise<void>> {
  const trx = await db.transaction();
  await lockTable(trx, 'events');
  return async () => void (await trx.commit());
}

const listening = (service: ServiceProcess) =>
  fetch(`${service.url}/health`).then(
    async (response) => Boolean(await response.text()),
    () => false,
  );

describe('shutdown of an API process', () => {
  let database: ConnectedDatabase;
  let service: ServiceProcess;

  before(async () => {
    database = await connectTestDatabase();
  });
  beforeEach(async () => {
    service = await startApi({ DATABASE_URL: database.url, LOG_LEVEL: 'info' });
  });
  afterEach(() => service.kill());
  after(() => database.close());

  async function trackInFlight(): Promise<{
    answer: Promise<{ status: number; connection: string | null }>;
    release: () => Promise<void>;
  }> {
    const project = await createProjectWithClients(database.db, service.url);
    const release = await lockTracking(database.db);
    const answer = project.browser
      .post('/v1/track', { email: 'a@b.co', event: 'x' })
      .then(({ status, headers }) => ({ status, connection: headers.get('connection') }));
    // Awaited later; it rejects earlier when the process is killed.
    answer.catch(() => {});
    await eventually(async () => {
      const waiting = await waitingForLocks(database.db);
      return waiting.length > 0;
    });
    return { answer, release };
  }

  it('logs the address that it listens on', () => {
    const line = service
      .logs()
      .split('\n')
      .filter((text) => text.startsWith('{'))
      .map((text) => JSON.parse(text))
      .find(({ msg }) => msg === 'listening');
    expect(line).to.include({ port: service.port, part: 'api' });
  });

  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    it(`answers requests in flight on ${signal}, closes connections, accepts no new ones and exits with 0`, async () => {
      const { answer, release } = await trackInFlight();
      service.signal(signal);
      await eventually(async () => !(await listening(service)), { what: 'the port to be closed' });
      await release();
      expect(await answer).to.deep.equal({ status: 200, connection: 'close' });
      expect(await service.exited).to.include({ code: 0 });
    });

  it('does not wait for idle connections', async () => {
    const idle = await RawHttp.open(service.url);
    idle.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await idle.answer()).headers.get('connection')).not.to.equal('close');
    const silent = await RawHttp.open(service.url);
    service.signal('SIGTERM');
    expect(await service.exited).to.include({ code: 0 });
    await Promise.all([idle.closed(), silent.closed()]);
  });

  it('is immediate on a second signal', async () => {
    const { answer, release } = await trackInFlight();
    service.signal('SIGTERM');
    await eventually(async () => !(await listening(service)), { what: 'the port to be closed' });
    service.signal('SIGTERM');
    expect(await service.exited).to.include({ code: 1 });
    await release();
    expect(await answer.catch(() => 'cut')).to.equal('cut');
  });
});
