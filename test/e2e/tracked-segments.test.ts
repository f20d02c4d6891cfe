import { expect } from 'chai';
import { readEventNames } from '../support/reading.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

describe('a tracked segment with a running worker', () => {
  let temporal: OwnNamespace;
  let stack: Stack;

  before(async () => {
    temporal = await ownNamespace();
    stack = await startStack(temporal);
    await stack.startWorker();
  });
  after(async () => {
    await stack?.end();
    await temporal?.close();
  });

  const eventNames = () => readEventNames(stack);

  it('records entries and exits without an API call', async () => {
    const filter = { field: 'data.plan', operator: 'equals', value: 'pro' };
    const condition = { logic: 'AND', groups: [{ filters: [filter] }] };
    const created = await stack.server.post('/segments', { name: 'Pro users', trackMembership: true, condition });
    expect(created.status).to.equal(201);
    const contact = { email: 'ann@example.com', data: { plan: 'pro' } };
    expect((await stack.server.post('/contacts', contact)).status).to.equal(201);
    await eventually(async () => (await eventNames()).length === 1, { what: 'the entry' });
    expect((await stack.server.post('/contacts', { ...contact, data: { plan: 'free' } })).status).to.equal(200);
    await eventually(async () => (await eventNames()).length === 2, { what: 'the exit' });
    expect(await eventNames()).to.deep.equal(['segment.pro-users.entry', 'segment.pro-users.exit']);
  });

  it('has a Schedule for its sweep only while a tracked segment depends on time', async () => {
    const schedule = temporal.client.schedule.getHandle('segments/sweep');
    const exists = () =>
      schedule.describe().then(
        () => true,
        () => false,
      );
    expect(await exists()).to.equal(false);
    const condition = {
      logic: 'AND',
      groups: [{ filters: [{ field: 'createdAt', operator: 'within', value: 1, unit: 'days' }] }],
    };
    const created = await stack.server.post('/segments', { name: 'New', trackMembership: true, condition });
    expect(created, JSON.stringify(created.body)).to.have.status(201);
    await eventually(exists, { what: 'the Schedule' });
    expect((await stack.server.delete(`/segments/${created.body.id}`)).status).to.be.oneOf([200, 204]);
    await eventually(async () => !(await exists()), { what: 'the end of the Schedule' });
    const again = await stack.server.post('/segments', { name: 'New again', trackMembership: true, condition });
    expect(again).to.have.status(201);
    await eventually(exists, { what: 'the Schedule again' });
  });

  for (const [what, id] of [
    ['its sweep', 'segments/sweep'],
    ['the retention of old events and bodies', 'retention'],
  ] as const)
    it(`runs ${what} on a Temporal Schedule`, async () => {
      const schedule = temporal.client.schedule.getHandle(id);
      await schedule.trigger();
      const runs = await eventually(
        async () => {
          const { recentActions } = (await schedule.describe()).info;
          return recentActions.length > 0 && recentActions;
        },
        { what: `a run of ${id}` },
      );
      const [first] = runs;
      const { workflowId } = first?.action.workflow ?? { workflowId: '' };
      await temporal.client.workflow.getHandle(workflowId).result();
      expect(workflowId.startsWith(id)).to.equal(true);
    });
});
