import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { recordEvents } from '../../../services/events/record.ts';
import { trackEvent } from '../../../services/events/track.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { queuedEvents, storedEvents } from '../../support/rows/events.ts';
import { outboxMessages } from '../../support/rows/outbox.ts';
import { addExecutions, addWorkflowRow } from '../../support/rows/workflows.ts';

describe('recording events', () => {
  let database: ConnectedDatabase;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());
  beforeEach(async () => {
    project = await makeProject(database.db);
  });

  const events = () => storedEvents(database.db, { projectId: project.id });

  it('writes events in the given order, with rising positions', async () => {
    const contactId = newId();
    const names = Array.from({ length: 50 }, (_, n) => `e${n}`);
    const ids = await recordEvents(
      database.db,
      names.map((name) => ({ projectId: project.id, contactId, name, data: { name } })),
    );
    const rows = await events();
    expect(rows.map(({ name }) => name)).to.deep.equal(names);
    expect(rows.map(({ id }) => id)).to.deep.equal(ids);
    expect(rows[3]).to.deep.include({ contactId, data: { name: 'e3' }, emailId: null, depth: 0 });
  });

  it('stores the mail of an event, and the given depth or that of the transaction', async () => {
    const contactId = newId();
    const emailId = newId();
    await recordEvents(database.db, [{ projectId: project.id, contactId, name: 'a', emailId, depth: 3 }]);
    await database.db.transaction(async (trx) => {
      await trx.raw(`set local everpost.depth = '7'`);
      await recordEvents(trx, [{ projectId: project.id, contactId, name: 'b' }]);
      await trackEvent(trx, project.access, { email: 'a@example.com', event: 'c' });
    });
    const rows = await events();
    expect(rows.map(({ name, depth }) => [name, depth])).to.deep.equal([
      ['a', 3],
      ['b', 7],
      ['c', 7],
    ]);
    expect(rows[0]).to.include({ emailId });
  });

  it('stores the reason of a change of subscription', async () => {
    const { contactId } = await trackEvent(database.db, project.access, { email: 'a@example.com', event: 'a' });
    await database.db.raw(`select * from update_contact(?, ?, null, false, '{}', '[]', ?, '{"reason": "bounce"}', 2)`, [
      project.id,
      contactId,
      newId(),
    ]);
    const [, change] = await events();
    expect(change).to.deep.include({ name: 'contact.unsubscribed', data: { reason: 'bounce' }, depth: 2 });
  });

  it('returns no ids for an empty list', async () => {
    expect(await recordEvents(database.db, [])).to.deep.equal([]);
  });

  it('queues nothing for 5,000 events that no workflow waits for', async () => {
    const workflow = { id: newId(), projectId: project.id, name: 'W', enabled: true, validVersion: 1 };
    await addWorkflowRow(database.db, { ...workflow, triggerConfig: { eventName: 'wanted' } });
    const { contactId } = await trackEvent(database.db, project.access, { email: 'u0@example.com', event: 'unwanted' });
    const execution = { id: newId(), projectId: project.id, workflowId: workflow.id, version: 1, contactId };
    const waiting = { status: 'WAITING', awaitedEvent: 'awaited', afterPosition: 0, oncePerContact: false };
    await addExecutions(database.db, { ...execution, ...waiting });
    const one = (n: number) =>
      trackEvent(database.db, project.access, {
        email: `u${n % 500}@example.com`,
        event: n % 2 ? 'unwanted' : 'other',
      });
    for (let n = 0; n < 5_000; n += 250) await Promise.all(Array.from({ length: 250 }, (_, m) => one(n + m)));
    expect(await events()).to.have.lengthOf(5_001);
    expect(await outboxMessages(database.db, { projectId: project.id })).to.have.lengthOf(0);
    expect(await queuedEvents(database.db, { projectId: project.id })).to.have.lengthOf(0);
    // Events that a workflow waits for are queued.
    await trackEvent(database.db, project.access, { email: 'u1@example.com', event: 'wanted' });
    await trackEvent(database.db, project.access, { email: 'u0@example.com', event: 'awaited' });
    expect(await queuedEvents(database.db, { projectId: project.id })).to.have.lengthOf(2);
  });
});
