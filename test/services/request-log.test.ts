import { expect } from 'chai';
import { pino } from 'pino';
import { newId } from '../../platform/ids.ts';
import { RequestLog } from '../../services/request-log/requests.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';

describe('the log of failed requests', () => {
  let database: ConnectedDatabase;

  before(async () => {
    database = await connectTestDatabase(4);
  });
  after(() => database.close());

  it('is cut by two processes at once', async () => {
    const { db } = database;
    const projects = Array.from({ length: 20 }, newId);
    const warnings: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
    const record = (some: string[]): Promise<void> => {
      const failed = new RequestLog(db, log);
      for (const projectId of some)
        failed.add({
          projectId,
          at: new Date(),
          requestId: 'new',
          method: 'GET',
          route: '/x',
          status: 400,
          code: null,
          message: 'm',
          keyName: null,
          keyId: null,
          userId: null,
        });
      return failed.stop();
    };
    for (let round = 0; round < 5; round++) {
      await db.raw(
        `insert into failed_requests (id, project_id, at, request_id, method, route, status, message)
         select uuidv7(), p.id, now(), 'old', 'GET', '/x', 400, 'm'
         from unnest(?::uuid[]) as p (id), generate_series(1, 1200) order by random()`,
        [projects],
      );
      await Promise.all([record(projects), record(projects.toReversed())]);
    }
    expect(warnings).to.deep.equal([]);
    const kept = await db('failedRequests').groupBy('projectId').count('* as count');
    expect(kept.map(({ count }) => Number(count))).to.deep.equal(projects.map(() => 1_000));
  });
});
