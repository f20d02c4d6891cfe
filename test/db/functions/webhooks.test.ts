import { expect } from 'chai';
import { presentContact } from '../../../api/presenters/contact.ts';
import { presentExecution } from '../../../api/presenters/execution.ts';
import { presentJob } from '../../../api/presenters/job.ts';
import { Contact } from '../../../db/models/contact.ts';
import { Execution } from '../../../db/models/execution.ts';
import { Job } from '../../../db/models/job.ts';
import { newId } from '../../../platform/ids.ts';
import { isTypePattern, webhookTypes } from '../../../services/webhooks/types.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase, runSql } from '../../support/database-functions.ts';
import { webhookEvents } from '../../support/webhooks.ts';

describe('database functions of webhooks', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  const want = async (...types: string[]) => {
    const id = newId();
    await database
      .db('webhookEndpoints')
      .insert({ id, projectId: database.projectId, url: 'https://a.example', types, secret: 'x' });
    await database.rows('select renew_wanted_webhook_types(?)', [database.projectId]);
    return id;
  };
  const events = () => webhookEvents(database.db, database.projectId);
  const types = async () => (await events()).map(({ type }) => type);
  const queue = () => database.db('webhookQueue').where({ projectId: database.projectId }).orderBy('id');
  const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));
  const addJob = async (columns: object = {}) => {
    const id = newId();
    const row = { id, projectId: database.projectId, type: 'IMPORT', total: 3, result: '{"errors": []}', ...columns };
    await database.db('jobs').insert(row);
    return id;
  };

  describe('json_time', () => {
    it('shows a time as JSON does, cut to milliseconds', async () => {
      expect(await database.value("select json_time('2026-11-15T12:00:00.123999+02')")).to.equal(
        '2026-11-15T10:00:00.123Z',
      );
      expect(await database.value('select json_time(null)')).to.equal(null);
    });
  });

  describe('contact_json', () => {
    it('agrees with the API', async () => {
      const id = await database.addContact({ data: { plan: 'pro' }, createdAt: '2026-01-02T03:04:05.678901Z' });
      const contact = (await Contact.query(database.db).findById(id)) as Contact;
      expect(await database.value('select contact_json(c) from contacts c where id = ?', [id])).to.deep.equal(
        asJson(presentContact(contact)),
      );
    });
  });

  describe('execution_json', () => {
    it('agrees with the API', async () => {
      const id = await database.addExecution({
        context: { total: 3 },
        completedAt: new Date(),
        status: 'EXITED',
        exitReason: 'done',
      });
      const execution = (await Execution.query(database.db).findById(id)) as Execution;
      expect(await database.value('select execution_json(e) from executions e where id = ?', [id])).to.deep.equal(
        asJson(presentExecution(execution)),
      );
    });
  });

  describe('job_json', () => {
    it('agrees with the API, at any progress', async () => {
      for (const columns of [
        { processed: 1 },
        { total: 0, status: 'COMPLETED' },
        { total: 0 },
        { processed: 3, status: 'FAILED' },
      ]) {
        const id = await addJob(columns);
        const job = (await Job.query(database.db).findById(id)) as Job;
        expect(await database.value('select job_json(j) from jobs j where id = ?', [id])).to.deep.equal(
          asJson(presentJob(job)),
        );
      }
    });
  });

  describe('webhook_patterns', () => {
    const patterns = (type: string) => database.value('select webhook_patterns(?)', [type]);

    it('lists the name, its prefixes, and * unless a client tracked it', async () => {
      expect(await patterns('email.sent')).to.deep.equal(['email.sent', 'email.*', '*']);
      expect(await patterns('segment.vips.entry')).to.deep.equal([
        'segment.vips.entry',
        'segment.*',
        'segment.vips.*',
        '*',
      ]);
      expect(await patterns('event.order.paid')).to.deep.equal(['event.order.paid', 'event.*', 'event.order.*']);
    });

    it('contains only what an endpoint may ask for', async () => {
      for (const { type } of webhookTypes)
        for (const pattern of (await patterns(type.replace(/<\w+>/, 'some'))) as string[])
          expect(isTypePattern(pattern), pattern).to.equal(true);
    });
  });

  describe('cut_webhook_data', () => {
    const cut = (data: object) => database.value('select cut_webhook_data(?::jsonb)', [JSON.stringify(data)]);

    it('leaves a payload that fits as it is', async () => {
      const data = { id: 'a', text: 'x'.repeat(19_000) };
      expect(await cut(data)).to.deep.equal(data);
    });

    it('empties the largest values until the rest fits', async () => {
      const large = {
        data: { a: 'x'.repeat(30_000) },
        list: ['y'.repeat(15_000)],
        subject: 'z'.repeat(9_000),
        id: 'a',
        position: 1,
      };
      expect(await cut(large)).to.deep.equal({ ...large, data: {}, list: [], truncated: true });
      expect(await cut({ id: 'a', text: 'x'.repeat(20_000) })).to.deep.equal({ id: 'a', text: null, truncated: true });
    });
  });

  describe('renew_wanted_webhook_types', () => {
    const wanted = () =>
      database.db('wantedWebhookTypes').where({ projectId: database.projectId }).orderBy('pattern').pluck('pattern');

    it('stores each type once, of endpoints and listeners', async () => {
      await want('email.sent', 'contact.*');
      await want('email.sent', '*');
      await database.db('webhookListeners').insert({ id: newId(), projectId: database.projectId, types: ['event.*'] });
      await database.rows('select renew_wanted_webhook_types(?)', [database.projectId]);
      expect(await wanted()).to.have.members(['*', 'contact.*', 'email.sent', 'event.*']);
    });

    it('keeps those of an endpoint that was disabled less than 30 days ago', async () => {
      const recent = await want('email.sent');
      const old = await want('job.failed');
      const disable = (id: string, days: number) =>
        database.rows(
          "update webhook_endpoints set enabled = false, disabled_at = now() - ? * interval '1 day' where id = ?",
          [days, id],
        );
      await disable(recent, 29);
      await disable(old, 31);
      await database.rows('select renew_wanted_webhook_types(?)', [database.projectId]);
      expect(await wanted()).to.deep.equal(['email.sent']);
    });
  });

  describe('wants_webhook', () => {
    const wants = (type: string) => database.value('select wants_webhook(?, ?)', [database.projectId, type]);

    it('asks for the name, its prefixes and *', async () => {
      expect(await wants('email.sent')).to.equal(false);
      await want('email.*', 'event.bought');
      expect(await wants('email.sent')).to.equal(true);
      expect(await wants('event.bought')).to.equal(true);
      expect(await wants('event.sold')).to.equal(false);
      await want('*');
      expect(await wants('job.failed')).to.equal(true);
      expect(await wants('event.sold')).to.equal(false);
    });

    it('is false while the project is erased', async () => {
      await want('*');
      await database.db.transaction(async (trx) => {
        await runSql(trx, "select set_config('everpost.without_webhooks', 'on', true)");
        expect(
          await runSql(trx, 'select wants_webhook(?, ?) as wants', [database.projectId, 'job.failed']),
        ).to.deep.equal([{ wants: false }]);
      });
    });
  });

  describe('queue_webhook', () => {
    it('stores and queues an event that is wanted, with a position', async () => {
      await database.rows("select queue_webhook(?, 'job.failed', null, '{}')", [database.projectId]);
      expect(await events()).to.deep.equal([]);
      await want('job.*');
      await database.rows(`select queue_webhook(?, 'job.failed', null, '{"id": "a"}', true)`, [database.projectId]);
      const [event] = await events();
      expect(event?.data).to.have.keys('id', 'position');
      const [queued] = await queue();
      expect(queued).to.include({ eventId: event?.id, incomplete: true });
    });
  });

  describe('queue_event_webhooks', () => {
    const record = async (name: string, data: object = {}, contactId = newId()) => {
      const row = { id: newId(), projectId: database.projectId, contactId, name, data };
      await database.db('events').insert(row);
      return row;
    };

    it('queues nothing that no endpoint wants', async () => {
      await record('email.sent');
      await want('email.open');
      await record('email.sent');
      await record('bought');
      expect(await events()).to.deep.equal([]);
    });

    it('adds ids, address and position to the data of mail and segment events', async () => {
      await want('*');
      const contactId = await database.addContact({ email: 'ann@example.com' });
      const mail = await record('email.sent', { emailId: 'x', subject: 'Hello' }, contactId);
      const entry = await record('segment.vips.entry', { segmentId: 's', segmentName: 'VIPs' }, contactId);
      const [, sent, entered] = await events();
      const position = async (id: string) =>
        Number(await database.value('select position from events where id = ?', [id]));
      const common = { contactId, email: 'ann@example.com', projectId: database.projectId };
      expect(sent).to.deep.equal({
        id: mail.id,
        type: 'email.sent',
        contactId,
        data: { ...common, emailId: 'x', subject: 'Hello', eventId: mail.id, position: await position(mail.id) },
      });
      expect(entered?.data).to.deep.equal({
        ...common,
        segmentId: 's',
        segmentName: 'VIPs',
        eventId: entry.id,
        position: await position(entry.id),
      });
      expect((await queue()).map(({ eventId }) => eventId)).to.include(mail.id);
    });

    it('nests the data of tracked events, and shows the contact of a change of subscription', async () => {
      const contactId = await database.addContact({ email: 'ann@example.com', data: { plan: 'pro' } });
      await want('*', 'event.*');
      await record('bought', { total: 3 }, contactId);
      await record('contact.unsubscribed', { reason: 'link' }, contactId);
      const [tracked, unsubscribed] = await events();
      expect(tracked?.type).to.equal('event.bought');
      expect(tracked?.data).to.deep.include({
        name: 'bought',
        data: { total: 3 },
        email: 'ann@example.com',
        contactId,
      });
      expect(unsubscribed?.data).to.deep.include({
        id: contactId,
        email: 'ann@example.com',
        data: { plan: 'pro' },
        reason: 'link',
      });
    });
  });

  describe('queue_contact_webhooks', () => {
    it('queues created, updated and deleted contacts, by sets', async () => {
      await want('contact.*');
      const ann = await database.addContact({ email: 'ann@example.com' });
      const bob = await database.addContact();
      await database.rows(`update contacts set data = '{"plan": "pro"}', updated_at = now() where project_id = ?`, [
        database.projectId,
      ]);
      await database.rows('delete from contacts where id = ?', [ann]);
      expect(await types()).to.deep.equal([
        'contact.created',
        'contact.created',
        'contact.updated',
        'contact.updated',
        'contact.deleted',
      ]);
      const [created, , , , deleted] = await events();
      expect(created?.data).to.deep.include({ id: ann, email: 'ann@example.com', subscribed: true, data: {} });
      expect(created?.data.position).to.be.a('number');
      expect(deleted).to.deep.include({ contactId: ann, data: { id: ann } });
      expect((await events()).filter(({ contactId }) => contactId === bob)).to.have.length(2);
    });

    it('queues nothing for an update that changes nothing shown', async () => {
      const id = await database.addContact();
      await want('*');
      await database.rows('update contacts set updated_at = now() where id = ?', [id]);
      expect(await types()).to.deep.equal([]);
    });
  });

  describe('queue_execution_webhooks', () => {
    it('queues the start and the end of executions; an exit completes', async () => {
      await want('execution.*');
      const ids = [];
      for (let n = 0; n < 4; n++) ids.push(await database.addExecution());
      const end = (id: string | undefined, status: string) =>
        database.db('executions').where({ id }).update({ status });
      await database.db('executions').where({ id: ids[0] }).update({ status: 'WAITING' });
      await end(ids[0], 'COMPLETED');
      await end(ids[1], 'EXITED');
      await end(ids[2], 'FAILED');
      await end(ids[3], 'CANCELLED');
      expect(await types()).to.deep.equal([
        ...Array(4).fill('execution.started'),
        'execution.completed',
        'execution.completed',
        'execution.failed',
        'execution.cancelled',
      ]);
      const completed = (await events())[5];
      expect(completed?.data).to.include({ id: ids[1], status: 'EXITED' });
    });
  });

  describe('queue_campaign_webhook', () => {
    it('queues each change of state, to be completed by the relay', async () => {
      await want('campaign.*');
      const id = await database.addCampaign();
      const change = (columns: object) => database.db('campaigns').where({ id }).update(columns);
      await change({ audienceCount: 5 });
      await change({ status: 'SENDING' });
      await change({ paused: true, pausedBy: 'USER', pauseReason: 'wait' });
      await change({ paused: false, pausedBy: null, pauseReason: null });
      await change({ status: 'SENT', sentAt: new Date() });
      await database.addCampaign({ status: 'SENDING' });
      expect(await types()).to.deep.equal([
        'campaign.started',
        'campaign.paused',
        'campaign.resumed',
        'campaign.finished',
      ]);
      expect((await events())[1]?.data).to.include({ id, status: 'SENDING', paused: true, pauseReason: 'wait' });
      expect((await queue()).every(({ incomplete }) => incomplete)).to.equal(true);
      await change({ status: 'CANCELLED' });
      expect((await types()).at(-1)).to.equal('campaign.cancelled');
    });
  });

  describe('queue_domain_webhook', () => {
    it('queues a domain that is verified or lost', async () => {
      await want('domain.*');
      const id = newId();
      await database.db('domains').insert({ id, projectId: database.projectId, domain: `${id}.example` });
      for (const status of ['VERIFIED', 'PENDING']) await database.db('domains').where({ id }).update({ status });
      await database.db('domains').where({ id }).update({ failedChecks: 2 });
      expect(await types()).to.deep.equal(['domain.verified', 'domain.lost']);
      expect((await events())[0]?.data).to.include({ id, status: 'VERIFIED', verified: true });
    });
  });

  describe('queue_job_webhook', () => {
    it('queues a job that completed or failed', async () => {
      await want('job.*');
      const one = await addJob();
      const two = await addJob();
      const three = await addJob();
      await database.db('jobs').where({ id: one }).update({ status: 'RUNNING', processed: 1 });
      await database.db('jobs').where({ id: one }).update({ status: 'COMPLETED', processed: 3 });
      await database.db('jobs').where({ id: two }).update({ status: 'FAILED', failedReason: 'broken' });
      await database.db('jobs').where({ id: three }).update({ status: 'CANCELLED' });
      expect(await types()).to.deep.equal(['job.completed', 'job.failed']);
      expect((await events())[0]?.data).to.include({ id: one, progress: 100 });
      expect((await events())[1]?.data).to.include({ id: two, failedReason: 'broken' });
    });
  });

  describe('queue_project_webhook', () => {
    const change = (columns: object) => database.db('projects').where({ id: database.projectId }).update(columns);

    it('queues a project that is disabled or enabled', async () => {
      await want('*');
      await change({ disabled: true, disabledReason: 'bounces' });
      await change({ disabled: false, disabledReason: null });
      expect((await events()).map(({ type, data }) => [type, data.projectId, data.reason])).to.deep.equal([
        ['project.disabled', database.projectId, 'bounces'],
        ['project.enabled', database.projectId, null],
      ]);
    });

    it('queues nothing for a reset or a deletion', async () => {
      await want('*');
      await change({ disabled: true, disabledReason: 'its data is being wiped' });
      await change({ disabled: false, disabledReason: null });
      await change({ disabled: true, disabledReason: 'deleted', deletedAt: new Date() });
      expect(await types()).to.deep.equal([]);
    });
  });

  describe('queue_unknown_emails', () => {
    it('queues mail whose outcome has become unknown, with the data of other events of mail', async () => {
      await want('email.*');
      const contactId = await database.addContact({ email: 'ann@example.com' });
      const campaignId = await database.addCampaign();
      const id = await database.addEmail({ contactId, campaignId, sourceType: 'CAMPAIGN', status: 'PENDING' });
      const silent = await database.addEmail({ withoutEvents: true });
      await database.db('emails').whereIn('id', [id, silent]).update({ status: 'UNKNOWN', reason: 'cut' });
      await database.db('emails').where({ id }).update({ reason: 'still' });
      const queued = (await events()).filter(({ type }) => type === 'email.unknown');
      expect(queued).to.have.length(1);
      expect(queued[0]?.data).to.include({
        emailId: id,
        contactId,
        campaignId,
        email: 'ann@example.com',
        projectId: database.projectId,
        reason: 'cut',
        subject: 'Hello',
        sourceType: 'CAMPAIGN',
        from: `news@${database.senderDomain}`,
        eventId: queued[0]?.id,
        messageId: `<${id}@${database.senderDomain}>`,
      });
    });
  });

  describe('erase_webhook_payloads', () => {
    it('leaves ids of the contacts, and clears answers and addresses in errors of imports', async () => {
      const endpointId = await want('*', 'event.*');
      const ann = await database.addContact({ email: 'ann@example.com', data: { street: 'Lane' } });
      const bob = await database.addContact({ email: 'bob@example.com' });
      const job = await addJob({
        result: JSON.stringify({ errors: [{ row: 1, email: 'Ann@Example.com', error: 'x' }] }),
      });
      await database.db('jobs').where({ id: job }).update({ status: 'COMPLETED' });
      const created = (await events())[0];
      await database.rows(
        `insert into webhook_deliveries (id, project_id, endpoint_id, event_id, type, created_at, attempt_log)
         select uuidv7(), project_id, ?, id, type, created_at, '[{"number": 1, "answer": "ann@example.com"}]'
         from webhook_events where id = ?`,
        [endpointId, created?.id],
      );
      await database.rows('select erase_webhook_payloads(?, ?::uuid[], ?::text[])', [
        database.projectId,
        [ann],
        ['ann@example.com'],
      ]);
      const [one, two, three] = await events();
      expect(one?.data).to.have.keys('id', 'position');
      expect(two?.data).to.include({ id: bob, email: 'bob@example.com' });
      expect(three?.data.result).to.deep.equal({ errors: [{ row: 1, email: null, error: 'x' }] });
      const [{ attemptLog }] = await database.db('webhookDeliveries').where({ endpointId }).select('attemptLog');
      expect(attemptLog).to.deep.equal([{ number: 1, answer: null }]);
    });

    it('touches nothing of another project', async () => {
      await want('*');
      const ann = await database.addContact({ email: 'ann@example.com' });
      await database.rows('select erase_webhook_payloads(?, ?::uuid[], ?::text[])', [
        newId(),
        [ann],
        ['ann@example.com'],
      ]);
      expect((await events())[0]?.data).to.include({ email: 'ann@example.com' });
    });
  });
});
