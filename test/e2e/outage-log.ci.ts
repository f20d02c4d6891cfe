import { expect } from 'chai';
import { processTimings } from '../../platform/timings.ts';
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts';
import type { ServiceProcess } from '../support/processes.ts';
import { type ProcessStack, startProcessStack } from '../support/stack.ts';
import { type OwnDevServer, ownDevServer } from '../support/temporal.ts';
import { eventually } from '../support/waiting.ts';

interface Line {
  level: string;
  time: string;
  msg: string;
  cause?: string;
  failures?: number;
  err?: { stack?: string };
}

describe('the log of an outage', () => {
  let temporal: OwnDevServer;
  let stack: ProcessStack;
  let proxy: PostgresProxy;
  let worker: ServiceProcess;

  before(async () => {
    temporal = await ownDevServer();
    const address = { address: temporal.address, namespace: 'default' };
    stack = await startProcessStack(address, { RATE_LIMIT_PER_MINUTE: '0' }, async ({ DATABASE_URL = '' }) => {
      proxy = await startPostgresProxy(DATABASE_URL);
      return { DATABASE_URL: proxy.url };
    });
    worker = await stack.startWorker();
  });
  after(async () => {
    await stack?.end();
    await temporal?.kill();
  });

  /** Returns a reader of the warnings and errors from now on. */
  const follow = (service: ServiceProcess) => {
    const start = service.logs().length;
    return (): Line[] =>
      service
        .logs()
        .slice(start)
        .split('\n')
        .flatMap((line) => (line.endsWith('}') ? (JSON.parse(line) as Line) : []))
        .filter(({ level }) => level === 'warn' || level === 'error');
  };

  /** A period may begin with a line of its own and end with a count. */
  const expectFewLines = (lines: Line[]) => {
    const times = lines.map(({ time }) => Date.parse(time));
    const periods = Math.ceil((Math.max(...times) - Math.min(...times)) / processTimings.log.outage) + 1;
    const causes = new Set(lines.map(({ cause = 'none' }) => cause));
    const shown = lines.map((line) => JSON.stringify(line).slice(0, 300)).join('\n');
    expect(lines.length, shown).to.be.at.most(causes.size * periods);
    expect(causes.size, shown).to.be.at.most(6);
    expect(lines.filter(({ err }) => err?.stack)).to.deep.equal([]);
  };

  it('has a line per cause and period while Temporal is down', async () => {
    const lines = follow(worker);
    await temporal.stop();
    await eventually(() => lines().some(({ msg, failures = 0 }) => msg.startsWith('Temporal is') && failures > 0), {
      what: 'a count of failures',
    });
    await temporal.start();
    expectFewLines(lines());
  });

  it('has a line per cause and period while Postgres is down, not one per request or loop', async () => {
    const ofApi = follow(stack.api);
    const ofWorker = follow(worker);
    await proxy.close();
    for (let n = 0; n < 50; n++) expect(await stack.server.get('/contacts')).to.have.status(503);
    for (const lines of [ofApi, ofWorker]) {
      await eventually(() => lines().some(({ msg, failures = 0 }) => msg.startsWith('database is') && failures > 10), {
        what: 'a count of failures',
      });
      expectFewLines(lines());
    }
  });
});
