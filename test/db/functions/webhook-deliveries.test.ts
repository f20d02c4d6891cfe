import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase } from '../../support/database-functions.ts';

describe('database functions of webhook deliveries', () => {
  let database: FunctionTestDatabase;
  let endpointId: string;
  const createdAt = new Date();
  const now = new Date(createdAt.getTime() + 60_000);
  const FIRST_ID = '00000000-0000-0000-0000-000000000000';

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(async () => {
    await database.renew();
    endpointId = newId();
  });
  after(() => database.close());

  const addDelivery = async (columns: object = {}, data: object = { plan: 'pro' }): Promise<string> => {
    const id = newId();
    const eventId = newId();
    const shared = { projectId: database.projectId, type: 'event.bought', createdAt };
    await database.db('webhookEvents').insert({ ...shared, id: eventId, data, happenedAt: createdAt });
    await database
      .db('webhookDeliveries')
      .insert({ ...shared, id, eventId, endpointId, nextAttemptAt: createdAt, ...columns });
    return id;
  };
  const delivery = (id: string) => database.db('webhookDeliveries').where({ id }).first();

  describe('due_webhook_deliveries', () => {
    const due = (after = FIRST_ID, limit = 10, after_due = '-infinity') =>
      database.rows('select * from due_webhook_deliveries(?, ?, ?, ?, ?)', [endpointId, now, after_due, after, limit]);

    it('returns due deliveries of the endpoint in their order, a page at a time', async () => {
      const early = new Date(createdAt.getTime() - 1_000);
      const ids = [await addDelivery(), await addDelivery()];
      const first = await addDelivery({ nextAttemptAt: early, attempts: 2 });
      await addDelivery({ nextAttemptAt: new Date(now.getTime() + 1) });
      await addDelivery({ status: 'DELIVERED' });
      await addDelivery({ endpointId: newId() });
      await addDelivery({ nextAttemptAt: null });
      expect((await due()).map(({ id }) => id)).to.deep.equal([first, ...ids]);
      expect((await due(FIRST_ID, 1))[0]).to.include({ id: first, attempts: 2, happened_at: createdAt.toISOString() });
      const rest = await due(first, 10, early.toISOString());
      expect(rest.map(({ id }) => id)).to.deep.equal(ids);
    });

    it('returns the payload as text, and whether it was truncated', async () => {
      await addDelivery();
      await addDelivery({}, { truncated: true });
      expect((await due()).map(({ data, truncated }) => [JSON.parse(String(data)), truncated])).to.deep.equal([
        [{ plan: 'pro' }, false],
        [{ truncated: true }, true],
      ]);
    });
  });

  describe('write_webhook_results', () => {
    const write = (id: string, { attempts = 0, status = 'DELIVERED', longestLog = 3, number = 1 } = {}) =>
      database.rows(
        `select write_webhook_results(array[?::uuid], array[?::timestamptz], array[?::integer], array[?], array[null::timestamptz],
           array[200], array[null::text], array[?::timestamptz], array[?::jsonb], ?)`,
        [id, createdAt, attempts, status, now, JSON.stringify({ number }), longestLog],
      );

    it('writes the result and adds the attempt to the log', async () => {
      const id = await addDelivery();
      await write(id);
      const { status, attempts, lastStatusCode, deliveredAt, attemptLog, nextAttemptAt } = await delivery(id);
      expect({ status, attempts, lastStatusCode, nextAttemptAt }).to.deep.equal({
        status: 'DELIVERED',
        attempts: 1,
        lastStatusCode: 200,
        nextAttemptAt: null,
      });
      expect(deliveredAt).to.deep.equal(now);
      expect(attemptLog).to.deep.equal([{ number: 1 }]);
    });

    it('drops a result of a delivery that has changed since', async () => {
      const retried = await addDelivery({ attempts: 1 });
      const ended = await addDelivery({ status: 'FAILED' });
      await write(retried);
      await write(ended);
      expect(await delivery(retried)).to.include({ status: 'PENDING', attempts: 1 });
      expect(await delivery(ended)).to.include({ status: 'FAILED', attempts: 0 });
    });

    it('drops the oldest entry of a full log', async () => {
      const id = await addDelivery({
        attempts: 3,
        attemptLog: JSON.stringify([1, 2, 3].map((number) => ({ number }))),
      });
      await write(id, { attempts: 3, number: 4 });
      expect((await delivery(id)).attemptLog).to.deep.equal([2, 3, 4].map((number) => ({ number })));
    });
  });
});
