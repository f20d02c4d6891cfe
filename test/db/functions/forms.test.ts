import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase } from '../../support/database-functions.ts';
import { webhookEvents } from '../../support/webhooks.ts';

const EMAIL = 'ann@example.com';
const HOUR_MS = 3_600_000;

describe('database functions of forms', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  async function addForm(columns: object = {}): Promise<string> {
    const id = newId();
    await database.db('forms').insert({
      id,
      projectId: database.projectId,
      key: 'news',
      name: 'News',
      status: 'ACTIVE',
      topicIds: [],
      fields: '[]',
      consentText: '',
      consentRequired: false,
      doubleOptIn: true,
      confirm: 'LINK',
      expiresAfterHours: 168,
      redirects: '{}',
      allowedOrigins: [],
      blockDisposable: false,
      captureTimezone: true,
      captureLocale: true,
      translations: '{}',
      design: '{}',
      ...columns,
    });
    return id;
  }

  async function addTopic(): Promise<string> {
    const id = newId();
    const { projectId } = database;
    const columns = { name: 'Offers', kind: 'MARKETING', defaultState: 'UNSUBSCRIBED', visibility: 'PUBLIC' };
    await database.db('topics').insert({ id, projectId, key: `t-${id}`, position: 1, doubleOptIn: true, ...columns });
    await database.db('topicDefaults').insert({ topicId: id, since: '-infinity', projectId, state: 'UNSUBSCRIBED' });
    return id;
  }

  /** A submission that waits for its confirmation. */
  async function addSubmission(columns: Record<string, unknown> = {}): Promise<string> {
    const id = newId();
    const { projectId } = database;
    const { email = EMAIL } = columns;
    const hash = await database.value('select address_hash(?::uuid, ?)', [projectId, email]);
    const expiresAt = new Date(Date.now() + HOUR_MS);
    const common = { topicIds: [], addressHash: hash, email, status: 'PENDING', expiresAt, dueAt: expiresAt };
    await database.db('formSubmissions').insert({ id, projectId, ...common, ...columns });
    return id;
  }

  /** The choice of a contact of a topic with doubleOptIn, whose confirmation was sent. */
  async function addChoice(): Promise<{ contactId: string; topicId: string; id: string }> {
    const topicId = await addTopic();
    const contactId = await database.addContact({ email: EMAIL });
    await database.rows(`select choose_topics(?, ?, ?::jsonb, '{"method": "API"}')`, [
      database.projectId,
      contactId,
      JSON.stringify({ [topicId]: 'SUBSCRIBED' }),
    ]);
    const [{ id }] = (await database
      .db('formSubmissions')
      .where({ contactId })
      .update({ status: 'PENDING', expiresAt: new Date(Date.now() + HOUR_MS) })
      .returning('id')) as [{ id: string }];
    return { contactId, topicId, id };
  }

  const submission = (id: string) => database.db('formSubmissions').where({ id }).first();
  const statusOf = async (id: string): Promise<string> => (await submission(id)).status;
  const contact = () => database.db('contacts').where({ projectId: database.projectId, email: EMAIL }).first();
  const actsOn = (contactId: string): Promise<string[]> =>
    database.db('consents').where({ contactId }).orderBy('id').pluck('action');
  const stateOf = (contactId: string): Promise<string[]> =>
    database.db('contactTopics').where({ contactId }).pluck('state');
  const want = async (...types: string[]) => {
    const row = { id: newId(), projectId: database.projectId, url: 'https://a.example', types, secret: 'x' };
    await database.db('webhookEndpoints').insert(row);
    await database.rows('select renew_wanted_webhook_types(?)', [database.projectId]);
  };
  const events = () => webhookEvents(database.db, database.projectId);
  const apply = (id: string, context: object = { confirmed: true }, topicIds: string[] | null = null) =>
    database.value('select status from apply_submission(?, ?, ?::uuid[], ?::jsonb)', [
      database.projectId,
      id,
      topicIds,
      JSON.stringify(context),
    ]);

  describe('apply_submission', () => {
    it('makes the contact of a form with its fields, records and event, once', async () => {
      const formId = await addForm();
      const context = JSON.stringify({ ip: '192.0.2.1', text: 'I agree' });
      const id = await addSubmission({ formId, formVersion: 1, data: '{"size": "L"}', context });
      expect(await contact()).to.equal(undefined);
      expect(await apply(id)).to.equal('CONFIRMED');
      expect(await apply(id)).to.equal('CONFIRMED');
      const { id: contactId, subscribed, data } = await contact();
      expect({ subscribed, data }).to.deep.equal({ subscribed: true, data: { size: 'L' } });
      expect(await actsOn(contactId)).to.deep.equal(['REQUESTED', 'CONFIRMED']);
      expect(await database.db('events').where({ contactId }).pluck('name')).to.deep.equal(['form.news.confirmed']);
      expect(await submission(id)).to.include({ status: 'CONFIRMED', contactId, data: null, dueAt: null });
    });

    it('takes only the topics that were chosen on the page', async () => {
      const [wanted, other] = [await addTopic(), await addTopic()];
      const id = await addSubmission({ formId: await addForm(), formVersion: 1, topicIds: [wanted, other] });
      expect(await apply(id, { confirmed: true }, [wanted])).to.equal('CONFIRMED');
      const { id: contactId } = await contact();
      const chosen = await database.db('contactTopics').where({ contactId, state: 'SUBSCRIBED' }).pluck('topic_id');
      expect(chosen).to.deep.equal([wanted]);
    });

    it('expires what is confirmed too late, and leaves what was decided', async () => {
      const formId = await addForm();
      const late = await addSubmission({ formId, expiresAt: new Date(Date.now() - HOUR_MS) });
      expect(await apply(late)).to.equal('EXPIRED');
      expect(await apply(await addSubmission({ formId, status: 'DECLINED' }))).to.equal('DECLINED');
      // What waits for no confirmation is RECEIVED.
      expect(await apply(await addSubmission({ formId }), {})).to.equal('PENDING');
      expect(await contact()).to.equal(undefined);
    });

    it('changes nothing of another project', async () => {
      const id = await addSubmission({ formId: await addForm() });
      const values = [newId(), id];
      expect(await database.value(`select status from apply_submission(?, ?, null, '{}')`, values)).to.equal(null);
      expect(await statusOf(id)).to.equal('PENDING');
    });
  });

  describe('decline_submission', () => {
    const decline = (id: string) =>
      database.value(`select status from decline_submission(?, ?, '{"ip": "192.0.2.1"}')`, [database.projectId, id]);

    it('ends a submission, and nothing that is confirmed', async () => {
      await want('form.*');
      const formId = await addForm();
      const [id, confirmed] = [await addSubmission({ formId }), await addSubmission({ formId, status: 'CONFIRMED' })];
      expect(await decline(id)).to.equal('DECLINED');
      expect(await decline(confirmed)).to.equal('CONFIRMED');
      expect((await events()).map(({ type }) => type)).to.deep.equal(['form.news.declined']);
    });

    it('restores the choice of a contact, with one record', async () => {
      const { id, contactId } = await addChoice();
      expect(await stateOf(contactId)).to.deep.equal(['PENDING']);
      expect(await decline(id)).to.equal('DECLINED');
      expect(await stateOf(contactId)).to.deep.equal([]);
      expect(await actsOn(contactId)).to.deep.equal(['REQUESTED', 'DECLINED']);
    });
  });

  describe('expire_submission', () => {
    const expire = (id: string) => database.rows('select expire_submission(?, ?)', [database.projectId, id]);

    it('ends a submission that waits, and sets when its address is erased', async () => {
      await want('form.*');
      const formId = await addForm();
      const [id, confirmed] = [await addSubmission({ formId }), await addSubmission({ formId, status: 'CONFIRMED' })];
      await expire(id);
      await expire(confirmed);
      expect([await statusOf(id), await statusOf(confirmed)]).to.deep.equal(['EXPIRED', 'CONFIRMED']);
      const { dueAt, settledAt } = await submission(id);
      expect(dueAt.getTime() - settledAt.getTime()).to.equal(7 * 24 * HOUR_MS);
      const [event] = await events();
      expect(event?.type).to.equal('form.news.expired');
      expect(event?.data).to.include({ submissionId: id, email: null });
    });

    it('restores the choice of a contact', async () => {
      const { id, contactId } = await addChoice();
      await expire(id);
      expect(await stateOf(contactId)).to.deep.equal([]);
      expect(await actsOn(contactId)).to.deep.equal(['REQUESTED', 'EXPIRED']);
    });
  });

  describe('erase_submissions', () => {
    it('erases what the address of a deleted contact has submitted, and ends what waits', async () => {
      const formId = await addForm();
      const waiting = await addSubmission({
        formId,
        data: '{"size": "L"}',
        context: '{"ip": "192.0.2.1", "text": "x"}',
      });
      const confirmed = await addSubmission({ formId, status: 'CONFIRMED', pageUrl: 'https://shop.example' });
      const other = await addSubmission({ formId, email: 'bob@example.com' });
      const contactId = await database.addContact({ email: EMAIL });
      await database.rows('delete from contacts where id = ?', [contactId]);
      expect(await submission(waiting)).to.deep.include({ status: 'EXPIRED', email: null, data: null, dueAt: null });
      expect((await submission(waiting)).context).to.deep.equal({ text: 'x' });
      expect(await submission(confirmed)).to.include({ status: 'CONFIRMED', email: null, pageUrl: null });
      expect(await submission(other)).to.include({ status: 'PENDING', email: 'bob@example.com' });
    });
  });

  describe('queue_form_webhook', () => {
    const queue = (id: string, withEmail: boolean) =>
      database.rows(`select queue_form_webhook(?, ?, 'submitted', ?)`, [database.projectId, id, withEmail]);

    it('queues an event with the address only where it may have it', async () => {
      await want('form.*');
      const formId = await addForm();
      const pageUrl = 'https://shop.example';
      const id = await addSubmission({ formId, pageUrl });
      await queue(id, true);
      await queue(id, false);
      const { projectId } = database;
      const data = { formId, key: 'news', submissionId: id, pageUrl, projectId };
      const sent = (await events()).map(({ type, data: { position, ...rest } }) => ({ type, ...rest }));
      expect(sent).to.deep.equal([
        { type: 'form.news.submitted', ...data, email: EMAIL },
        { type: 'form.news.submitted', ...data, email: null },
      ]);
    });

    it('queues nothing for the choice of a contact, which has no form', async () => {
      await want('form.*');
      await queue((await addChoice()).id, true);
      expect(await events()).to.deep.equal([]);
    });
  });

  describe('erase_form_webhooks', () => {
    it('erases address and page of the submissions that are named, and what receivers answered', async () => {
      await want('form.*');
      const formId = await addForm();
      const pageUrl = 'https://shop.example';
      const ids = [await addSubmission({ formId, pageUrl }), await addSubmission({ formId, pageUrl })];
      for (const id of ids)
        await database.rows(`select queue_form_webhook(?, ?, 'submitted', true)`, [database.projectId, id]);
      const { projectId } = database;
      const stored = await database.db('webhookEvents').where({ projectId }).orderBy('id');
      const attemptLog = JSON.stringify([{ number: 1, answer: `hello ${EMAIL}` }]);
      for (const { id: eventId, type, createdAt } of stored)
        await database
          .db('webhookDeliveries')
          .insert({ id: newId(), projectId, endpointId: newId(), eventId, type, createdAt, attemptLog });
      await database.rows('select erase_form_webhooks(?::uuid[])', [[ids[0]]]);
      const kept = (await events()).map(({ data }) => [data.submissionId, data.email, data.pageUrl]);
      expect(kept).to.have.deep.members([
        [ids[0], null, null],
        [ids[1], EMAIL, pageUrl],
      ]);
      const erased = stored.find(({ data }) => data.submissionId === ids[0])?.id;
      const logs = await database.db('webhookDeliveries').where({ projectId }).select('eventId', 'attemptLog');
      for (const {
        eventId,
        attemptLog: [attempt],
      } of logs)
        expect(attempt.answer).to.equal(eventId === erased ? null : `hello ${EMAIL}`);
    });
  });

  describe('is_form_event', () => {
    const ask = (name: string, deleted: boolean, projectId = database.projectId) =>
      database.value('select is_form_event(?, ?, ?)', [projectId, name, deleted]);

    it('is true only for the forms of the project, and for deleted ones where the caller asks for them', async () => {
      await addForm();
      await addForm({ key: 'gone', deletedAt: new Date() });
      expect(await ask('form.news.confirmed', false)).to.equal(true);
      expect(await ask('form.news.submitted', false)).to.equal(false);
      expect(await ask('form.other.confirmed', false)).to.equal(false);
      expect(await ask('form.news.confirmed', false, newId())).to.equal(false);
      expect(await ask('form.gone.confirmed', false)).to.equal(false);
      expect(await ask('form.gone.confirmed', true)).to.equal(true);
    });
  });

  describe('notify_form_attack', () => {
    it('notifies members and endpoints once per attack', async () => {
      await want('form.attacked');
      const id = await addForm();
      for (const attackedSince of [new Date(), new Date(), null])
        await database.db('forms').where({ id }).update({ attackedSince });
      const { projectId } = database;
      const told = await database.db('notifications').where({ projectId, type: 'form.attacked' });
      expect(told.length).to.equal((await database.db('memberships').where({ projectId, status: 'ACTIVE' })).length);
      const sent = await events();
      expect(sent.map(({ type }) => type)).to.deep.equal(['form.attacked']);
      expect(sent[0]?.data).to.include({ formId: id, key: 'news' });
    });
  });

  describe('write_requested', () => {
    it('records what was asked for at the time of the submission, with the text of each topic', async () => {
      const contactId = await database.addContact();
      const topicId = await addTopic();
      const at = '2026-01-02T03:04:05.000Z';
      const context = { method: 'FORM', text: 'I agree', texts: { [topicId]: 'Offers weekly' } };
      const values = [database.projectId, contactId, EMAIL, [topicId], true, at, JSON.stringify(context)];
      await database.rows('select write_requested(?, ?, ?, ?::uuid[], ?, ?::timestamptz, ?::jsonb)', values);
      const rows = await database
        .db('consents')
        .join('consent_texts', 'consent_texts.id', 'text_id')
        .where({ contactId })
        .orderBy('consents.id')
        .select('topicId', 'action', 'at', 'text');
      expect(rows.map((row) => ({ ...row, at: row.at.toISOString() }))).to.deep.equal([
        { topicId, action: 'REQUESTED', at, text: 'Offers weekly' },
        { topicId: null, action: 'REQUESTED', at, text: 'I agree' },
      ]);
    });
  });
});
