import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { explainForContact } from '../../../services/conditions/facts.ts';
import { requireCondition } from '../../../services/conditions/parse.ts';
import { resolveCondition } from '../../../services/conditions/resolve.ts';
import type { Data } from '../../../services/contacts/data.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../../support/connected-database.ts';
import { addMember, addSegment } from '../../support/rows/contacts.ts';
import { addEvents } from '../../support/rows/events.ts';
import { NOW, tree } from './population.ts';

describe('evaluating a condition for one stored contact', () => {
  let database: ConnectedDatabase;
  let projectId: string;
  let contactId: string;

  before(async () => {
    database = await connectTestDatabase();
    projectId = (await makeProject(database.db)).id;
    contactId = newId();
    const data = JSON.stringify({ plan: 'pro' });
    await database
      .db('contacts')
      .insert({ id: contactId, projectId, email: 'ann@example.com', subscribed: true, data });
    const at = (createdAt: string) => ({ id: newId(), projectId, contactId, name: 'login', createdAt });
    await addEvents(
      database.db,
      ['01', '10', '20', '28', '30', '31'].map((day) => at(`2026-03-${day}T00:00:00Z`)),
    );
  });
  after(() => database.close());

  async function decide(filter: object, context: Data = {}): Promise<boolean> {
    const resolved = await resolveCondition(
      database.db,
      projectId,
      requireCondition(tree(filter), { inExecution: true }),
    );
    return (await explainForContact(database.db, resolved, { projectId, contactId, now: NOW, context })).holds;
  }

  it('evaluates contact data and the context of the execution', async () => {
    expect(await decide({ field: 'data.plan', operator: 'equals', value: 'pro' })).to.equal(true);
    expect(await decide({ field: 'data.plan', operator: 'equals', value: 'free' })).to.equal(false);
    const large = { field: 'event.amount', operator: 'greaterThan', value: 5 };
    expect(await decide(large, { amount: 6 })).to.equal(true);
    expect(await decide(large, { amount: 5 })).to.equal(false);
  });

  it('loads as many old and new events as the condition needs', async () => {
    const login = { field: 'login', unit: 'days' };
    expect(await decide({ ...login, operator: 'triggered', count: 6 })).to.equal(true);
    expect(await decide({ ...login, operator: 'triggered', count: 7 })).to.equal(false);
    expect(await decide({ ...login, operator: 'triggeredWithin', value: 2, count: 2 })).to.equal(true);
    expect(await decide({ ...login, operator: 'triggeredWithin', value: 2, count: 3 })).to.equal(false);
    expect(await decide({ ...login, operator: 'triggeredOlderThan', value: 11, count: 3 })).to.equal(true);
    expect(await decide({ ...login, operator: 'triggeredOlderThan', value: 11, count: 4 })).to.equal(false);
    expect(await decide({ ...login, operator: 'notTriggeredWithin', value: 0.1 })).to.equal(true);
    expect(await decide({ field: 'logout', operator: 'notTriggered' })).to.equal(true);
  });

  it('evaluates referenced static and dynamic segments, including their events', async () => {
    const fixed = newId();
    const active = newId();
    const base = { projectId, name: 'x', memberCount: 0 };
    await addSegment(database.db, { ...base, id: fixed, slug: 'fixed', type: 'STATIC' });
    const condition = tree({ field: 'login', operator: 'triggered', count: 6 });
    await addSegment(database.db, {
      ...base,
      id: active,
      slug: 'active',
      type: 'DYNAMIC',
      condition: JSON.stringify(condition),
    });
    const member = (id: string) => ({ field: `segment.${id}`, operator: 'memberOfSegment' });
    expect(await decide(member(active))).to.equal(true);
    expect(await decide(member(fixed))).to.equal(false);
    await addMember(database.db, fixed, contactId);
    expect(await decide(member(fixed))).to.equal(true);
    expect(await decide(member(newId()))).to.equal(false);
  });

  it('does not match a contact of another project', async () => {
    const resolved = await resolveCondition(
      database.db,
      projectId,
      requireCondition(tree({ field: 'data.x', operator: 'notExists' })),
    );
    const asked = { contactId, now: NOW };
    expect((await explainForContact(database.db, resolved, { ...asked, projectId })).holds).to.equal(true);
    expect((await explainForContact(database.db, resolved, { ...asked, projectId: newId() })).holds).to.equal(false);
  });
});
