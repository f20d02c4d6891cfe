import { expect } from 'chai';
import { addContactSeries, storedContacts } from '../support/rows/contacts.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

const CONTACTS = 15_000;

describe('killing a worker that updates a tracked segment', () => {
  let temporal: OwnNamespace;
  let stack: Stack;

  before(async () => {
    temporal = await ownNamespace();
    stack = await startStack(temporal);
  });
  after(async () => {
    await stack?.end();
    await temporal?.close();
  });

  const count = async (table: string): Promise<number> => {
    const [row] = await stack.database.db(table).where({ projectId: stack.project.id }).count();
    return Number(row?.count);
  };
  const setPlan = (value: string) =>
    stack.database.db.raw(`update contacts set data = jsonb_build_object('plan', ?::text) where project_id = ?`, [
      value,
      stack.project.id,
    ]);

  it('records every entry and exit once, with two workers running', async () => {
    const filter = { field: 'data.plan', operator: 'equals', value: 'pro' };
    const condition = { logic: 'AND', groups: [{ filters: [filter] }] };
    const { body } = await stack.server.post('/segments', { name: 'Pro', trackMembership: true, condition });
    await addContactSeries(stack.database.db, stack.project.id, CONTACTS, {
      prefix: 'user',
      data: `'{"plan": "pro"}'`,
    });
    // A worker skips a locked contact, so it cannot be done before it is killed.
    const lock = await stack.database.db.transaction();
    await storedContacts(lock, { projectId: stack.project.id }).forUpdate().limit(1);
    const victim = await stack.startWorker();
    await eventually(async () => (await count('events')) > 0, { what: 'the first entries' });
    await victim.kill();
    await lock.rollback();
    const recorded = await count('events');
    expect(recorded).to.be.lessThan(CONTACTS);
    await Promise.all([stack.startWorker(), stack.startWorker()]);
    await eventually(async () => (await count('contact_changes')) === 0, { what: 'all entries' });
    await setPlan('free');
    await eventually(async () => (await count('contact_changes')) === 0, { what: 'all exits' });
    const { rows } = await stack.database.db.raw(
      `select name, count(*)::integer as events, count(distinct contact_id)::integer as contacts from events
       where project_id = ? group by name order by name`,
      [stack.project.id],
    );
    expect(rows).to.deep.equal([
      { name: 'segment.pro.entry', events: CONTACTS, contacts: CONTACTS },
      { name: 'segment.pro.exit', events: CONTACTS, contacts: CONTACTS },
    ]);
    await eventually(async () => (await stack.server.get(`/segments/${body.id}`)).body.memberCount === 0, {
      what: 'the count',
    });
  });
});
