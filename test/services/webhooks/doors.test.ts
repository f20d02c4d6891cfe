import { expect } from 'chai';
import { presentCampaign } from '../../../api/presenters/campaign.ts';
import { presentDomain } from '../../../api/presenters/domain.ts';
import { Domain } from '../../../db/models/domain.ts';
import { readSettings } from '../../../platform/settings.ts';
import { findCampaign } from '../../../services/campaigns/find.ts';
import { sendCampaign } from '../../../services/campaigns/send.ts';
import { cancelCampaign, pauseCampaign, resumeCampaign } from '../../../services/campaigns/steer.ts';
import { viewCampaign } from '../../../services/campaigns/view.ts';
import { saveContact, updateContact } from '../../../services/contacts/save.ts';
import { createDomain } from '../../../services/domains/create.ts';
import { findDomain } from '../../../services/domains/find.ts';
import { sendEmails } from '../../../services/emails/send.ts';
import { trackEvent } from '../../../services/events/track.ts';
import { createImport } from '../../../services/jobs/create.ts';
import { runSlice } from '../../../services/jobs/run.ts';
import { disableProject, enableProject } from '../../../services/projects/disable.ts';
import { deleteContact } from '../../../services/removal/contact.ts';
import { resetProject } from '../../../services/removal/project.ts';
import { createEndpoint } from '../../../services/webhooks/endpoints.ts';
import { cancelExecution } from '../../../services/workflows/executions/cancel.ts';
import { addContacts, makeCampaign } from '../../support/campaigns.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { ExecutionDriver, insertWorkflow } from '../../support/executions.ts';
import { storedEvents } from '../../support/rows/events.ts';
import { queuedWebhookRows, storedEndpoints } from '../../support/rows/webhooks.ts';
import { relayWebhooks, webhookEvents } from '../../support/webhooks.ts';

describe('what webhooks tell of', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  const settings = readSettings({});

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database?.close());
  beforeEach(async () => {
    project = await makeProject(database.db);
  });

  const want = (...types: string[]) =>
    createEndpoint(database.db, project.access, { url: 'https://hooks.example', types }, settings);
  const events = () => webhookEvents(database.db, project.id);
  const types = async () => (await events()).map(({ type }) => type);

  it('costs nothing where no endpoint wants it: no row is stored', async () => {
    await want('job.failed');
    await trackEvent(database.db, project.access, { email: 'ann@example.com', event: 'bought', subscribed: false });
    expect(await events()).to.deep.equal([]);
    expect(await queuedWebhookRows(database.db, project.id)).to.deep.equal([]);
  });

  it('queues nothing when the transaction of what happened is rolled back', async () => {
    await want('*');
    const failed = database.db.transaction(async (trx) => {
      await saveContact(trx, project.access, { email: 'ann@example.com', data: {} });
      throw new Error('rolled back');
    });
    await failed.catch(() => {});
    expect(await events()).to.deep.equal([]);
  });

  it('tells of contacts by every door: API, tracking, sending, import, bulk and deletion', async () => {
    await want('contact.*');
    const { contact } = await saveContact(database.db, project.access, {
      email: 'ann@example.com',
      data: { plan: 'pro' },
    });
    await updateContact(database.db, project.access, contact.id, { subscribed: false });
    await trackEvent(database.db, project.access, { email: 'bob@example.com', event: 'bought' });
    await sendEmails(database.db, project.access, {
      to: [{ email: 'eve@example.com' }],
      from: { email: `shop@${project.senderDomain}` },
      subject: 'Hello',
      body: '<p>Hello</p>',
    } as never);
    const file = Buffer.from('email,plan\nann@example.com,free\nzoe@example.com,pro\n');
    await runSlice(database.db, await createImport(database.db, project.access, file), () => false);
    await deleteContact(database.db, project.access, contact.id);
    expect(await types()).to.have.members([
      'contact.created',
      'contact.updated',
      'contact.unsubscribed',
      'contact.created',
      'contact.created',
      'contact.updated',
      'contact.created',
      'contact.deleted',
    ]);
  });

  it('tells of jobs and executions, which are no events', async () => {
    await want('job.*', 'execution.*');
    await runSlice(
      database.db,
      await createImport(database.db, project.access, Buffer.from('email\nann@example.com\n')),
      () => false,
    );
    const driver = new ExecutionDriver(database.db, project);
    const workflow = await insertWorkflow(database.db, project, {
      steps: { rest: ['DELAY', { amount: 1, unit: 'days' }] },
    });
    const id = await driver.start(workflow, 'ann@example.com');
    await cancelExecution(database.db, project.access, workflow.id, id);
    expect(await types()).to.deep.equal(['job.completed', 'execution.started', 'execution.cancelled']);
    const [job, started] = await events();
    expect(job?.data).to.deep.include({ status: 'COMPLETED', type: 'IMPORT', progress: 100 });
    expect(started?.data).to.deep.include({ id, workflowId: workflow.id, status: 'RUNNING' });
    const recorded = await storedEvents(database.db, { projectId: project.id }).whereLike('name', '%.%');
    expect(recorded).to.deep.equal([]);
    expect(
      await database.db('eventNames').where({ projectId: project.id }).whereLike('name', 'execution.%'),
    ).to.deep.equal([]);
  });

  it('shows campaigns as GET does, without body and document, in the state of each change', async () => {
    await want('campaign.*');
    await addContacts(database.db, project, 2);
    const document = { version: 1, content: [{ type: 'spacer' }] };
    const { id } = await makeCampaign(database.db, project, { body: undefined, document });
    await sendCampaign(database.db, project.access, id, undefined);
    await pauseCampaign(database.db, project.access, id);
    await resumeCampaign(database.db, project.access, id);
    await cancelCampaign(database.db, project.access, id);
    await relayWebhooks(database.db);
    const told = await events();
    expect(told.map(({ type, data }) => [type, data.status, data.paused])).to.deep.equal([
      ['campaign.started', 'SENDING', false],
      ['campaign.paused', 'SENDING', true],
      ['campaign.resumed', 'SENDING', false],
      ['campaign.cancelled', 'CANCELLED', false],
    ]);
    const {
      body: _,
      document: __,
      ...shown
    } = presentCampaign(await viewCampaign(database.db, await findCampaign(database.db, project.id, id)));
    const { position, ...data } = told.at(-1)?.data ?? {};
    expect(position).to.be.a('number');
    expect(data).to.deep.equal(JSON.parse(JSON.stringify(shown)));
    const positions = told.map(({ data: { position: at } }) => Number(at));
    expect(positions).to.deep.equal([...positions].sort((a, b) => a - b));
  });

  it('shows domains as GET does', async () => {
    await want('domain.*');
    const { domain } = await createDomain(database.db, project.access, 'told.example', settings);
    await Domain.query(database.db).findById(domain.id).patch({ status: 'VERIFIED', verifiedAt: new Date() });
    await relayWebhooks(database.db);
    const [{ type, data } = { type: '', data: {} }] = await events();
    expect(type).to.equal('domain.verified');
    const shown = presentDomain(await findDomain(database.db, project.id, domain.id, settings));
    expect(data).to.deep.include(JSON.parse(JSON.stringify(shown)));
  });

  it('tells that the project is disabled and enabled, and still delivers', async () => {
    await want('project.*');
    await disableProject(database.db, project.id, { reason: 'bounces' });
    await enableProject(database.db, project.id);
    expect((await events()).map(({ type, data }) => [type, data.reason])).to.deep.equal([
      ['project.disabled', 'bounces'],
      ['project.enabled', null],
    ]);
  });

  it('erases queue and log by a reset and keeps the endpoints', async () => {
    const { endpoint } = await want('*', 'event.*');
    await trackEvent(database.db, project.access, { email: 'ann@example.com', event: 'bought' });
    await relayWebhooks(database.db);
    await trackEvent(database.db, project.access, { email: 'bob@example.com', event: 'bought' });
    await resetProject(database.db, project.id);
    for (const table of ['webhookEvents', 'webhookDeliveries', 'webhookQueue'])
      expect(await database.db(table).where({ projectId: project.id }), table).to.deep.equal([]);
    expect(await storedEndpoints(database.db, { id: endpoint.id })).to.have.length(1);
    await trackEvent(database.db, project.access, { email: 'zoe@example.com', event: 'bought' });
    expect(await types()).to.have.members(['contact.created', 'event.bought']);
  });
});
