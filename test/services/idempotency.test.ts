import { expect } from 'chai';
import { ApiError } from '../../platform/errors.ts';
import { trackEvent } from '../../services/events/track.ts';
import { once, sweepKeys } from '../../services/idempotency/once.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { storedEvents } from '../support/rows/events.ts';
import { ageIdempotencyKeys, setProject } from '../support/rows/projects.ts';
import { breakConnection, countRows, ownConnection } from '../support/rows/tables.ts';

describe('an Idempotency-Key', () => {
  let database: ConnectedDatabase;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase(30);
  });
  after(() => database.close());
  beforeEach(async () => {
    project = await makeProject(database.db);
  });

  const track = (key: string | undefined, by = project, ttlHours = 24) =>
    once(database.db, { projectId: by.id, key, request: 'POST /v1/track', ttlHours }, async (db) => {
      const result = await trackEvent(db, by.access, { email: 'ann@example.com', event: 'e' });
      return { result, statusCode: 200, response: { event: result.eventId } };
    });
  const eventCount = async (by = project) => (await storedEvents(database.db, { projectId: by.id })).length;
  const refusal = (work: Promise<unknown>): Promise<ApiError> =>
    work.then(
      () => expect.fail('it was accepted'),
      (error) => error,
    );

  it('accepts the first request and answers a repeat with 409 and the original response', async () => {
    const first = await track('k');
    const error = await refusal(track('k'));
    expect(error).to.be.instanceOf(ApiError).and.include({ status: 409, code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(error.extras.details).to.deep.include({
      key: 'k',
      originalRequest: 'POST /v1/track',
      originalStatusCode: 200,
      originalResponse: { event: first.eventId },
    });
    expect(await eventCount()).to.equal(1);
  });

  it('is optional: requests without one are all accepted', async () => {
    await track(undefined);
    await track(undefined);
    expect(await eventCount()).to.equal(2);
  });

  it('accepts exactly one of 20 concurrent requests', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => track('same')));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.lengthOf(1);
    expect(await eventCount()).to.equal(1);
  });

  it('answers a repeat during the first request with 409 and no original status', async () => {
    let finish = () => {};
    const begun = new Promise<void>((begin) => {
      const keyed = { projectId: project.id, key: 'slow', request: 'POST /v1/track', ttlHours: 24 };
      void once(database.db, keyed, async () => {
        begin();
        await new Promise<void>((end) => {
          finish = end;
        });
        return { result: null, statusCode: 200, response: {} };
      });
    });
    await begun;
    const error = await refusal(track('slow'));
    finish();
    expect(error.extras.details).to.include({ key: 'slow', originalStatusCode: null });
  });

  it('stays unused when the request is refused', async () => {
    await setProject(database.db, project.id, { disabled: true });
    expect((await refusal(track('again'))).status).to.equal(403);
    await setProject(database.db, project.id, { disabled: false });
    await track('again');
    expect(await eventCount()).to.equal(1);
  });

  it('stays unused when the process dies before the commit', async () => {
    const keyed = { projectId: project.id, key: 'crash', request: 'POST /v1/track', ttlHours: 24 };
    const death = once(database.db, keyed, async (trx) => {
      const result = await trackEvent(trx, project.access, { email: 'ann@example.com', event: 'e' });
      // Simulates a killed process: Postgres loses its connection.
      const pid = await ownConnection(trx);
      await breakConnection(database.db, pid);
      return { result, statusCode: 200, response: {} };
    });
    await refusal(death);
    expect(await eventCount()).to.equal(0);
    await track('crash');
    expect(await eventCount()).to.equal(1);
  });

  it('is separate per project', async () => {
    const other = await makeProject(database.db);
    await track('k', project);
    await track('k', other);
    expect(await eventCount(other)).to.equal(1);
  });

  it('expires after its lifetime and is deleted', async () => {
    await track('old');
    await ageIdempotencyKeys(database.db, 25);
    await track('old');
    expect(await eventCount()).to.equal(2);
    await ageIdempotencyKeys(database.db, 25);
    expect(await sweepKeys(database.db, 24)).to.be.greaterThan(0);
    expect(await countRows(database.db, 'idempotency_keys')).to.equal(0);
  });

  for (const key of ['', 'x'.repeat(256), 'ü', 'a\tb'])
    it(`is rejected with 400 when invalid: ${JSON.stringify(key.slice(0, 10))}`, async () => {
      expect(await refusal(track(key))).to.include({ status: 400, code: 'BAD_REQUEST' });
      expect(await eventCount()).to.equal(0);
    });
});
