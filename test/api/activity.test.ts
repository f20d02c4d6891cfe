import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { recordEvents } from '../../services/events/record.ts';
import { deleteLeftoverExecutions } from '../../services/workflows/executions/remove.ts';
import { type ApiAnswer, type ApiProject, describeApi } from '../support/api.ts';
import { setCampaigns } from '../support/rows/campaigns.ts';
import { addEvents } from '../support/rows/events.ts';
import { addExecutions, setExecutions } from '../support/rows/workflows.ts';
import { eventually } from '../support/waiting.ts';

const HOUR = 3_600_000;

describeApi('activity', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const track = async (email: string, event: string, more: object = {}): Promise<string> =>
    (await project.browser.post('/v1/track', { email, event, ...more })).body.data.contact;
  const record = (contactId: string, name: string, data: Record<string, unknown> = {}) =>
    recordEvents(api.db, [{ projectId: project.id, contactId, name, data }]);
  const typesOf = ({ body }: ApiAnswer): string[] => body.data.map(({ type }: { type: string }) => type);

  /** A workflow with one running and one ended execution. */
  async function executions(contactId: string): Promise<{ workflowId: string; ids: string[] }> {
    const { body: workflow } = await project.server.post('/workflows', { name: 'Welcome', eventName: 'signup' });
    const row = (status: string, more: object) => ({
      id: newId(),
      projectId: project.id,
      workflowId: workflow.id,
      version: 1,
      contactId,
      status,
      afterPosition: 0,
      oncePerContact: false,
      ...more,
    });
    const rows = [
      row('WAITING', { wakeAt: new Date(Date.now() + HOUR) }),
      // After the start of both, however long the database takes to insert them.
      row('EXITED', { exitReason: 'done', completedAt: new Date(Date.now() + HOUR) }),
    ];
    for (const one of rows) await addExecutions(api.db, one);
    return { workflowId: workflow.id, ids: rows.map(({ id }) => id) };
  }

  async function campaign(more: object): Promise<string> {
    const { body } = await project.server.post('/campaigns', {
      name: 'News',
      subject: 'News',
      body: '<p>News</p>',
      from: `hello@${project.senderDomain}`,
      audienceType: 'ALL',
    });
    await setCampaigns(api.db, { id: body.data.id }, more);
    return body.data.id;
  }

  describe('GET /activity', () => {
    it('includes events of any name in its count', async () => {
      for (const name of ['constructor', 'toString', '__proto__', 'segment.entry'])
        await track('ann@example.com', name);
      const { body } = await project.server.get('/activity');
      expect(body).to.include({ total: 4, hasMore: false });
      expect(body.data).to.have.lengthOf(4);
      expect((await project.server.get('/activity/stats')).body.totalEvents).to.equal(4);
    });

    it('lists tracked events, mail, subscriptions, campaigns and executions together, newest first', async () => {
      const ann = await track('ann@example.com', 'signup', { data: { plan: 'pro' } });
      const mail = { emailId: newId(), subject: 'Hello' };
      await record(ann, 'email.sent', mail);
      await record(ann, 'email.delivery', mail);
      await record(ann, 'email.open', { ...mail, isFirst: true });
      await record(ann, 'email.open', { ...mail, isFirst: false });
      await record(ann, 'email.click', { ...mail, isFirst: true, link: 'https://example.com' });
      await record(ann, 'email.click', { ...mail, isFirst: false });
      await record(ann, 'email.bounce', mail);
      await record(ann, 'email.complaint', mail);
      await record(ann, 'email.failed', mail);
      await track('ann@example.com', 'again', { subscribed: false });
      const { workflowId, ids } = await executions(ann);
      const now = Date.now();
      const campaignId = await campaign({
        scheduledAt: new Date(now + 2 * HOUR),
        scheduledFor: new Date(now + 3 * HOUR),
        sentAt: new Date(now + 4 * HOUR),
        status: 'SENT',
      });
      const answer = await project.server.get('/activity?limit=100');
      expect(answer).to.have.status(200);
      expect(typesOf(answer)).to.deep.equal([
        'campaign.sent',
        'campaign.scheduled',
        'workflow.completed',
        'workflow.started',
        'workflow.started',
        'event.triggered',
        'contact.unsubscribed',
        'email.failed',
        'email.complained',
        'email.bounced',
        'email.clicked',
        'email.opened',
        'email.delivered',
        'email.sent',
        'event.triggered',
      ]);
      expect(answer.body).to.include({ total: 15, hasMore: false, cursor: null });
      const items = answer.body.data;
      expect(new Set(items.map(({ id }: { id: string }) => id)).size).to.equal(15);
      for (const item of items)
        expect(item).to.have.all.keys('id', 'type', 'timestamp', 'contactId', 'contactEmail', 'metadata');
      expect(items[0]).to.deep.include({ contactId: null, contactEmail: null });
      expect(items[0].metadata).to.include({ campaignId, name: 'News' });
      expect(items[2]).to.deep.include({ contactId: ann, contactEmail: 'ann@example.com' });
      expect(items[2].metadata).to.include({
        workflowId,
        executionId: ids[1],
        workflowName: 'Welcome',
        status: 'EXITED',
      });
      expect(items[10].metadata).to.include({ ...mail, link: 'https://example.com' });
      expect(items[14].metadata).to.deep.equal({ eventName: 'signup', data: { plan: 'pro' } });
    });

    it('pages without losing or repeating items, also when several have the same time', async () => {
      const ann = await track('ann@example.com', 'a');
      await track('bob@example.com', 'b', { subscribed: false });
      const { workflowId } = await executions(ann);
      const at = new Date();
      await setExecutions(api.db, { workflowId }, { startedAt: at });
      await setExecutions(api.db, { workflowId, status: 'EXITED' }, { completedAt: at });
      await campaign({ scheduledAt: at, scheduledFor: at, sentAt: at, status: 'SENT' });
      const whole = (await project.server.get('/activity?limit=100')).body.data;
      expect(whole).to.have.lengthOf(7);
      for (const limit of [1, 2, 3]) {
        const seen: unknown[] = [];
        let cursor: string | null = '';
        while (cursor !== null) {
          const { body }: ApiAnswer = await project.server.get(
            `/activity?limit=${limit}${cursor && `&cursor=${cursor}`}`,
          );
          expect(body.total).to.equal(cursor ? 0 : 7);
          seen.push(...body.data);
          cursor = body.cursor;
        }
        expect(seen).to.deep.equal(whole);
      }
    });

    it('filters by types, contact and range', async () => {
      const ann = await track('ann@example.com', 'a');
      await track('bob@example.com', 'b');
      await track('bob@example.com', 'b', { subscribed: false });
      await executions(ann);
      const types = await project.server.get('/activity?types=contact.unsubscribed,workflow.completed');
      expect(typesOf(types)).to.deep.equal(['workflow.completed', 'contact.unsubscribed']);
      expect(types.body.total).to.equal(2);
      const contact = await project.server.get(`/activity?contactId=${ann}`);
      expect(typesOf(contact)).to.deep.equal([
        'workflow.completed',
        'workflow.started',
        'workflow.started',
        'event.triggered',
      ]);
      expect(contact.body.total).to.equal(4);
      const middle = (await project.server.get('/activity?types=contact.unsubscribed')).body.data[0].timestamp;
      const since = await project.server.get(`/activity?startDate=${middle}&types=event.triggered`);
      expect(since.body.total).to.equal(since.body.data.length);
      const until = await project.server.get(`/activity?endDate=${middle}`);
      expect(typesOf(until)).to.deep.equal(['event.triggered', 'event.triggered']);
      expect(until.body.total).to.equal(2);
      expect((await project.server.get('/activity?endDate=2024-01-01')).body).to.include({ total: 0 });
      expect((await project.server.get(`/activity?contactId=${newId()}`)).body).to.include({ total: 0 });
    });

    it('keeps the items of a deleted contact, without its address', async () => {
      const ann = await track('ann@example.com', 'a', { data: { secret: 'x' } });
      await record(ann, 'email.open', { subject: 'For Ann', isFirst: true });
      await record(ann, 'email.open', { subject: 'For Ann', isFirst: false });
      expect(await project.server.delete(`/contacts/${ann}`)).to.have.status(204);
      const { body } = await project.server.get('/activity');
      expect(body.total).to.equal(2);
      expect(body.data.map(({ type }: { type: string }) => type)).to.deep.equal(['email.opened', 'event.triggered']);
      for (const item of body.data) expect(item).to.include({ contactId: ann, contactEmail: null });
      expect(JSON.stringify(body)).to.not.include('For Ann').and.not.include('secret');
    });

    it('counts executions of a deleted workflow neither in total nor in recent-count, but in the statistics', async () => {
      const kept = await executions(await track('ann@example.com', 'a'));
      const { workflowId, ids } = await executions(await track('bob@example.com', 'a'));
      await setExecutions(api.db, { id: ids[0] }, { status: 'COMPLETED', completedAt: new Date() });
      const query = '/activity?types=workflow.started,workflow.completed';
      const recent = async () => (await project.server.get('/activity/recent-count?minutes=180')).body.count;
      expect((await project.server.get(query)).body.total).to.equal(7);
      const before = await recent();
      expect(await project.server.delete(`/workflows/${workflowId}`)).to.have.status(204);
      await eventually(async () => (await deleteLeftoverExecutions(api.db)) === 0);
      for (const range of ['', `&startDate=${new Date(Date.now() - 7_200_000).toISOString()}`]) {
        const { body } = await project.server.get(`${query}${range}`);
        expect(body.total).to.equal(3);
        expect(
          new Set(body.data.map(({ metadata }: { metadata: { workflowId: string } }) => metadata.workflowId)),
        ).to.deep.equal(new Set([kept.workflowId]));
      }
      expect(await recent()).to.equal(before - 4);
      expect((await project.server.get('/activity/stats')).body.totalWorkflowsStarted).to.equal(4);
    });

    it('shows nothing of another project and rejects its cursors', async () => {
      for (const event of ['a', 'b']) await track('ann@example.com', event);
      const { cursor } = (await project.server.get('/activity?limit=1')).body;
      const other = await api.project();
      expect((await other.server.get('/activity')).body).to.deep.include({ data: [], total: 0 });
      expect(await other.server.get(`/activity?cursor=${cursor}`)).to.be.envelope(400, 'BAD_REQUEST');
    });

    for (const query of ['types=email.read', 'types=', 'contactId=ann', 'startDate=yesterday', 'limit=x', 'cursor=x'])
      it(`rejects ${query} with 400`, async () => {
        expect(await project.server.get(`/activity?${query}`)).to.be.envelope(400, 'BAD_REQUEST');
      });
  });

  it('lists all types on GET /activity/types', async () => {
    const { types } = (await project.server.get('/activity/types')).body;
    expect(types).to.have.lengthOf(17).and.include.members(['event.triggered', 'email.opened', 'workflow.completed']);
  });

  describe('GET /activity/recent-count', () => {
    it('counts the items of the feed in the last 5 or given minutes', async () => {
      const ann = await track('ann@example.com', 'a');
      await record(ann, 'email.open', { isFirst: false });
      const old = {
        id: newId(),
        projectId: project.id,
        contactId: ann,
        name: 'a',
        createdAt: new Date(Date.now() - 7_200_000),
      };
      await addEvents(api.db, old);
      expect((await project.server.get('/activity/recent-count')).body).to.deep.equal({ count: 1, minutes: 5 });
      expect((await project.server.get('/activity/recent-count?minutes=180')).body).to.deep.equal({
        count: 2,
        minutes: 180,
      });
      expect(await project.server.get('/activity/recent-count?minutes=0')).to.be.envelope(400, 'BAD_REQUEST');
    });
  });

  describe('GET /activity/upcoming', () => {
    it('lists scheduled campaigns and delayed steps with their times, the next one first', async () => {
      const ann = await track('ann@example.com', 'a');
      const { workflowId, ids } = await executions(ann);
      const scheduledFor = new Date(Date.now() + HOUR / 2);
      const campaignId = await campaign({ status: 'SCHEDULED', scheduledFor });
      const { data } = (await project.server.get('/activity/upcoming')).body;
      expect(data).to.have.lengthOf(2);
      expect(data[0]).to.include({ type: 'campaign.scheduled', campaignId, scheduledFor: scheduledFor.toISOString() });
      expect(data[1]).to.include({
        type: 'workflow.step',
        executionId: ids[0],
        workflowId,
        contactEmail: 'ann@example.com',
      });
      expect((await project.server.get('/activity/upcoming?limit=1')).body.data).to.have.lengthOf(1);
    });

    it('groups waiting contacts by workflow, step and day', async () => {
      const { workflowId, ids } = await executions(await track('ann@example.com', 'a'));
      const stepId = newId();
      const day = new Date(Date.UTC(2090, 0, 1));
      await setExecutions(api.db, { id: ids[0] }, { wakeAt: day, currentStepId: stepId });
      for (const [n, name] of ['bob', 'cem'].entries())
        await addExecutions(api.db, {
          id: newId(),
          projectId: project.id,
          workflowId,
          version: 1,
          contactId: await track(`${name}@example.com`, 'a'),
          status: 'WAITING',
          afterPosition: 0,
          oncePerContact: false,
          wakeAt: new Date(day.getTime() + (n + 1) * 20 * HOUR),
          currentStepId: stepId,
        });
      const scheduledFor = new Date(Date.now() + HOUR / 2);
      const campaignId = await campaign({ status: 'SCHEDULED', scheduledFor, audienceCount: 7 });
      const { data } = (await project.server.get('/activity/upcoming?grouped=true')).body;
      expect(data.map(({ name, ...item }: { name: string }) => ({ ...item, isNamed: name !== '' }))).to.deep.equal([
        { type: 'campaign', id: campaignId, stepId: null, at: scheduledFor.toISOString(), count: 7, isNamed: true },
        { type: 'workflow', id: workflowId, stepId, at: day.toISOString(), count: 2, isNamed: true },
        {
          type: 'workflow',
          id: workflowId,
          stepId,
          at: new Date(day.getTime() + 40 * HOUR).toISOString(),
          count: 1,
          isNamed: true,
        },
      ]);
      expect(await project.server.get('/activity/upcoming?grouped=x')).to.be.envelope(400, 'BAD_REQUEST');
    });
  });
});
