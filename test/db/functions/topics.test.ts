import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase } from '../../support/database-functions.ts';

type State = 'SUBSCRIBED' | 'UNSUBSCRIBED' | 'PENDING';

describe('database functions of topics', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  /** A topic whose contacts without a choice have this state. */
  async function addTopic(columns: object = {}, defaultState: State = 'UNSUBSCRIBED'): Promise<string> {
    const { projectId } = database;
    const id = newId();
    await database.db('topics').insert({
      id,
      projectId,
      key: `t-${id}`,
      name: 'News',
      kind: 'MARKETING',
      defaultState,
      visibility: 'PUBLIC',
      position: 1,
      ...columns,
    });
    await database.rows(
      `insert into topic_defaults (topic_id, since, project_id, state) values (?, '-infinity', ?, ?)`,
      [id, projectId, defaultState],
    );
    return id;
  }

  const choose = (contactId: string, choices: Record<string, State>, context: object = { method: 'API' }) =>
    database.value('select choose_topics(?, ?, ?::jsonb, ?::jsonb)', [
      database.projectId,
      contactId,
      JSON.stringify(choices),
      JSON.stringify(context),
    ]);
  const stateOf = (contactId: string | null, topicId: string, createdAt: string | null = null) =>
    database.value(
      'select topic_state(?, ?, ?::uuid, coalesce(?::timestamptz, (select created_at from contacts where id = ?)))',
      [database.projectId, topicId, contactId, createdAt, contactId],
    );
  const consentsOf = async (contactId: string) =>
    (await database
      .db('consents')
      .where({ contactId })
      .orderBy('id')
      .select('topicId', 'action', 'method', 'email')) as Record<string, unknown>[];
  const actsOn = async (contactId: string) =>
    (await consentsOf(contactId)).map(({ topicId, action, method }) => [topicId, action, method]);
  const actionsOf = async (contactId: string) => (await consentsOf(contactId)).map(({ action }) => action);
  const eventsOf = (contactId: string): Promise<string[]> =>
    database.db('events').where({ contactId }).orderBy('position').pluck('name');
  const emailOf = (contactId: string) => database.value('select email from contacts where id = ?', [contactId]);

  describe('email_refusal', () => {
    interface Facts {
      needsSubscription?: boolean | null;
      suppressed?: boolean;
      subscribed?: boolean;
      snoozedUntil?: string | null;
      topicId?: string | null;
      archived?: boolean | null;
      state?: State | null;
    }
    const refusal = ({
      needsSubscription = true,
      suppressed = false,
      subscribed = true,
      snoozedUntil = null,
      topicId = null,
      archived = false,
      state = null,
    }: Facts) =>
      database.value('select email_refusal(?, ?, ?, ?, ?, ?, ?)', [
        needsSubscription,
        suppressed,
        subscribed,
        snoozedUntil,
        topicId,
        archived,
        state,
      ]);
    const snoozedUntil = '2999-01-01T00:00:00Z';

    it('is null for email that may be sent', async () => {
      expect(await refusal({})).to.equal(null);
      expect(await refusal({ topicId: newId(), state: 'SUBSCRIBED' })).to.equal(null);
      expect(await refusal({ snoozedUntil: '2020-01-01T00:00:00Z' })).to.equal(null);
    });

    it('asks TRANSACTIONAL email for its suppression and its topic only', async () => {
      const transactional = { subscribed: false, snoozedUntil };
      for (const needsSubscription of [false, null]) {
        expect(await refusal({ ...transactional, needsSubscription })).to.equal(null);
        const topic = { topicId: newId(), state: 'UNSUBSCRIBED' } as const;
        expect(await refusal({ ...transactional, needsSubscription, ...topic })).to.equal('topic unsubscribed');
        expect(await refusal({ ...transactional, needsSubscription, suppressed: true })).to.equal('suppressed');
      }
    });

    it('returns the first reason that applies', async () => {
      const all = { suppressed: true, subscribed: false, snoozedUntil, topicId: newId(), archived: true } as const;
      expect(await refusal(all)).to.equal('suppressed');
      expect(await refusal({ ...all, suppressed: false })).to.equal('unsubscribed');
      expect(await refusal({ ...all, suppressed: false, subscribed: true })).to.equal('snoozed');
      const topic = { topicId: newId(), state: 'UNSUBSCRIBED' } as const;
      expect(await refusal({ ...topic, archived: true })).to.equal('topic archived');
      expect(await refusal({ ...topic })).to.equal('topic unsubscribed');
      expect(await refusal({ ...topic, state: 'PENDING' })).to.equal('topic pending');
    });

    it('refuses a topic that no longer exists as archived', async () => {
      expect(await refusal({ topicId: newId(), archived: null })).to.equal('topic archived');
    });
  });

  describe('topic_state', () => {
    it('is the choice, and without one the default in force when the contact was created', async () => {
      const topic = await addTopic({}, 'SUBSCRIBED');
      await database.rows(
        `insert into topic_defaults (topic_id, since, project_id, state) values (?, '2026-03-01', ?, 'UNSUBSCRIBED')`,
        [topic, database.projectId],
      );
      const early = await database.addContact({ createdAt: '2026-02-01' });
      const late = await database.addContact({ createdAt: '2026-04-01' });
      expect(await stateOf(early, topic)).to.equal('SUBSCRIBED');
      expect(await stateOf(late, topic)).to.equal('UNSUBSCRIBED');
      await choose(early, { [topic]: 'UNSUBSCRIBED' });
      expect(await stateOf(early, topic)).to.equal('UNSUBSCRIBED');
      expect(await stateOf(null, topic)).to.equal('UNSUBSCRIBED');
    });
  });

  describe('end_pending_choices', () => {
    const end = (contactId: string, topicIds: string[], action: string) =>
      database.rows(`select end_pending_choices(?, ?, 'ann@example.com', ?::uuid[], ?, '{"method": "FORM"}')`, [
        database.projectId,
        contactId,
        topicIds,
        action,
      ]);
    const choicesOf = (contactId: string) => database.db('contactTopics').where({ contactId }).pluck('state');

    it('restores what pending choices were before, with one record each, and leaves others', async () => {
      const [topic, kept] = [await addTopic(), await addTopic()];
      const contact = await database.addContact();
      await choose(contact, { [topic]: 'UNSUBSCRIBED', [kept]: 'SUBSCRIBED' });
      await choose(contact, { [topic]: 'PENDING' });
      await end(contact, [topic, kept], 'DECLINED');
      expect(await choicesOf(contact)).to.have.members(['UNSUBSCRIBED', 'SUBSCRIBED']);
      expect((await actionsOf(contact)).at(-1)).to.equal('DECLINED');
      const before = (await actionsOf(contact)).length;
      await end(contact, [topic, kept], 'DECLINED');
      expect(await actionsOf(contact)).to.have.lengthOf(before);
    });

    it('removes a choice that was the first', async () => {
      const topic = await addTopic();
      const contact = await database.addContact();
      await choose(contact, { [topic]: 'PENDING' });
      await end(contact, [topic], 'EXPIRED');
      expect(await choicesOf(contact)).to.deep.equal([]);
    });
  });

  describe('choose_topics', () => {
    it('writes each choice once, with a record and an event', async () => {
      const topic = await addTopic({ key: 'news' });
      const contact = await database.addContact();
      expect(await choose(contact, { [topic]: 'SUBSCRIBED' })).to.equal(1);
      expect(await choose(contact, { [topic]: 'SUBSCRIBED' })).to.equal(0);
      expect(await choose(contact, { [topic]: 'UNSUBSCRIBED' })).to.equal(1);
      expect(await actionsOf(contact)).to.deep.equal(['GRANTED', 'WITHDRAWN']);
      expect(await eventsOf(contact)).to.deep.equal(['topic.news.subscribed', 'topic.news.unsubscribed']);
    });

    it('makes SUBSCRIBED PENDING where the topic needs a confirmation, unless the mailbox is proven', async () => {
      const topic = await addTopic({ doubleOptIn: true });
      const [asked, proven] = [await database.addContact(), await database.addContact()];
      await choose(asked, { [topic]: 'SUBSCRIBED' });
      expect(await stateOf(asked, topic)).to.equal('PENDING');
      await choose(asked, { [topic]: 'SUBSCRIBED' }, { method: 'FORM', confirmed: true });
      expect(await actionsOf(asked)).to.deep.equal(['REQUESTED', 'CONFIRMED']);
      await choose(proven, { [topic]: 'SUBSCRIBED' }, { method: 'PAGE', proven: true });
      expect(await stateOf(proven, topic)).to.equal('SUBSCRIBED');
    });

    it('with consent, subscribes the contact and leaves the other MARKETING topics', async () => {
      const [news, other, notices] = [
        await addTopic({}, 'UNSUBSCRIBED'),
        await addTopic({ position: 2 }, 'SUBSCRIBED'),
        await addTopic({ kind: 'NOTIFICATION', position: 3 }, 'SUBSCRIBED'),
      ];
      const contact = await database.addContact({ subscribed: false });
      await choose(contact, { [news]: 'SUBSCRIBED' }, { method: 'API', consent: true });
      expect(await stateOf(contact, news)).to.equal('SUBSCRIBED');
      expect(await stateOf(contact, other)).to.equal('UNSUBSCRIBED');
      expect(await stateOf(contact, notices)).to.equal('SUBSCRIBED');
      expect(await database.value('select subscribed from contacts where id = ?', [contact])).to.equal(true);
      expect(await actsOn(contact)).to.deep.equal([
        [news, 'GRANTED', 'API'],
        [other, 'WITHDRAWN', 'SYSTEM'],
        [null, 'GRANTED', 'API'],
      ]);
    });

    it('changes nothing of a contact of another project', async () => {
      const topic = await addTopic();
      const contact = await database.addContact();
      await database.renew();
      expect(await choose(contact, { [topic]: 'SUBSCRIBED' })).to.equal(0);
    });
  });

  describe('write_topic_choice', () => {
    it('remembers the choice before PENDING and the withdrawal of the person', async () => {
      const topic = await addTopic({ doubleOptIn: true });
      const contact = await database.addContact();
      await choose(contact, { [topic]: 'UNSUBSCRIBED' });
      await choose(contact, { [topic]: 'SUBSCRIBED' });
      const [row] = await database.rows('select * from contact_topics where contact_id = ?', [contact]);
      expect(row).to.include({ state: 'PENDING', before_pending: 'UNSUBSCRIBED', default_state: 'UNSUBSCRIBED' });
      expect(row?.withdrawn_at).to.be.an.instanceOf(Date);
    });

    it('queues the contact for segments that depend on the topic', async () => {
      const topic = await addTopic();
      const contact = await database.addContact();
      await database.addDependency(`topic.${topic}`);
      await choose(contact, { [topic]: 'SUBSCRIBED' });
      const changes = await database.db('contactChanges').where({ contactId: contact }).pluck('dependencies');
      expect(changes).to.deep.equal([[`topic.${topic}`]]);
    });
  });

  describe('write_consent', () => {
    const write = (context: object) =>
      database.value(`select write_consent(?, ?, 'ada@example.com', null, 'GRANTED', ?::jsonb)`, [
        database.projectId,
        newId(),
        JSON.stringify(context),
      ]);

    it('stores every wording once', async () => {
      for (const locale of ['en', 'en', 'de']) await write({ method: 'FORM', text: 'I agree.', locale });
      const texts = await database.db('consentTexts').where({ projectId: database.projectId }).select('text', 'locale');
      expect(texts).to.have.deep.members([
        { text: 'I agree.', locale: 'en' },
        { text: 'I agree.', locale: 'de' },
      ]);
    });

    it('keeps what the context says', async () => {
      const at = '2026-01-02T03:04:05.000Z';
      const id = await write({
        method: 'API',
        at,
        ip: '192.0.2.1',
        actor: { type: 'KEY', id: 'k' },
        evidence: { note: 'fair' },
      });
      const [row] = await database.rows('select * from consents where id = ?', [id]);
      expect(row).to.deep.include({
        method: 'API',
        ip: '192.0.2.1',
        actor: { type: 'KEY', id: 'k' },
        evidence: { note: 'fair' },
      });
      expect(row?.at).to.deep.equal(new Date(at));
    });
  });

  describe('record_subscription_consent', () => {
    it('records every change of subscription and snooze, whatever writes it', async () => {
      const contact = await database.addContact();
      await database.rows('update contacts set subscribed = false where id = ?', [contact]);
      await database.rows(`select * from update_contact(?, ?, null, true, '{}', '[]', ?, ?::jsonb)`, [
        database.projectId,
        contact,
        newId(),
        JSON.stringify({ reason: 'form', consent: { method: 'FORM' } }),
      ]);
      await database.rows(`update contacts set snoozed_until = '2999-01-01' where id = ?`, [contact]);
      await database.rows(`update contacts set data = '{"n": 1}' where id = ?`, [contact]);
      expect(await actsOn(contact)).to.deep.equal([
        [null, 'WITHDRAWN', 'SYSTEM'],
        [null, 'GRANTED', 'FORM'],
        [null, 'SNOOZED', 'SYSTEM'],
      ]);
      const events = await database.db('events').where({ contactId: contact }).pluck('data');
      expect(events).to.deep.equal([{ reason: 'form' }]);
    });
  });

  describe('end_snooze', () => {
    it('ends a snooze when the contact leaves all mail', async () => {
      const contact = await database.addContact({ snoozedUntil: '2999-01-01' });
      await database.rows('update contacts set subscribed = false where id = ?', [contact]);
      expect(await database.value('select snoozed_until from contacts where id = ?', [contact])).to.equal(null);
    });
  });

  describe('refuse_consent_change', () => {
    it('refuses every change but the removal of personal data', async () => {
      const contact = await database.addContact();
      await database.rows('update contacts set subscribed = false where id = ?', [contact]);
      const change = (set: string) => database.rows(`update consents set ${set} where contact_id = ?`, [contact]);
      for (const set of [
        "action = 'GRANTED'",
        "email = 'eve@example.com'",
        'contact_id = project_id',
        "locale = 'de'",
      ]) {
        const error = await change(set).catch((failure: Error) => failure);
        expect(String(error), set).to.contain('append-only');
      }
      await change('email = null, ip = null, user_agent = null, erased_at = now()');
      expect((await consentsOf(contact))[0]).to.include({ email: null });
    });
  });

  describe('count_topic_choices', () => {
    it('counts choices by state, and the defaults that they replace', async () => {
      const topic = await addTopic({}, 'SUBSCRIBED');
      const [one, two, three] = [await database.addContact(), await database.addContact(), await database.addContact()];
      for (const contact of [one, two, three]) await choose(contact, { [topic]: 'UNSUBSCRIBED' });
      await choose(two, { [topic]: 'SUBSCRIBED' });
      await database.rows('delete from contacts where id = ?', [three]);
      const [row] = await database.rows(
        `select coalesce(sum((counts ->> 'subscribed')::int), 0)::int as subscribed,
           sum((counts ->> 'unsubscribed')::int)::int as unsubscribed, sum((counts ->> 'over subscribed')::int)::int as replaced
         from counter_deltas where subject = ?`,
        [`topic/${topic}`],
      );
      expect(row).to.deep.equal({ subscribed: 1, unsubscribed: 1, replaced: 2 });
    });
  });

  describe('keep_withdrawals', () => {
    it('keeps what a deleted contact had left, and its records without personal data', async () => {
      const [left, joined] = [await addTopic(), await addTopic({ position: 2 })];
      const contact = await database.addContact();
      await choose(contact, { [left]: 'UNSUBSCRIBED', [joined]: 'SUBSCRIBED' }, { method: 'PAGE', ip: '192.0.2.1' });
      await database.rows('update contacts set subscribed = false where id = ?', [contact]);
      await database.rows('delete from contacts where id = ?', [contact]);
      const { projectId } = database;
      const topics = await database.db('withdrawals').where({ projectId }).orderBy('topic_id').pluck('topic_id');
      expect(topics).to.deep.equal([left, null]);
      expect(await database.value('select count(*)::int from contact_topics where contact_id = ?', [contact])).to.equal(
        0,
      );
      const rows = await database.rows('select email, ip, erased_at from consents where contact_id = ?', [contact]);
      expect(rows).to.have.length(3);
      for (const row of rows) {
        expect(row).to.include({ email: null, ip: null });
        expect(row.erased_at).to.be.an.instanceOf(Date);
      }
    });

    it('keeps nothing of a contact that was created unsubscribed', async () => {
      const contact = await database.addContact({ subscribed: false });
      await database.rows('delete from contacts where id = ?', [contact]);
      expect(await database.db('withdrawals').where({ projectId: database.projectId })).to.deep.equal([]);
    });
  });

  describe('restore_withdrawals', () => {
    it('starts a contact UNSUBSCRIBED where its address had left', async () => {
      const topic = await addTopic({}, 'SUBSCRIBED');
      const contact = await database.addContact();
      const email = await emailOf(contact);
      await choose(contact, { [topic]: 'UNSUBSCRIBED' });
      await database.rows('delete from contacts where id = ?', [contact]);
      const again = await database.addContact({ email });
      expect(await stateOf(again, topic)).to.equal('UNSUBSCRIBED');
      expect(await database.db('withdrawals').where({ projectId: database.projectId })).to.deep.equal([]);
    });
  });

  describe('has_left_all', () => {
    const create = (email: unknown, subscribed: boolean | null) =>
      database.value(`select subscribed from write_contact(?, ?, ?, ?, true, '{}', '[]', '{}', ?)`, [
        database.projectId,
        email,
        newId(),
        subscribed,
        newId(),
      ]);

    it('keeps an address that had left all mail unsubscribed until a request subscribes it', async () => {
      const contact = await database.addContact();
      const email = await emailOf(contact);
      const hasLeft = () => database.value('select has_left_all(?, ?)', [database.projectId, email]);
      await database.rows('update contacts set subscribed = false where id = ?', [contact]);
      await database.rows('delete from contacts where id = ?', [contact]);
      expect(await hasLeft()).to.equal(true);
      expect(await create(email, null)).to.equal(false);
      await database.rows('delete from contacts where email = ?', [email]);
      expect(await create(email, true)).to.equal(true);
      expect(await hasLeft()).to.equal(false);
    });

    it('is false again for an address that subscribed before its contact was deleted', async () => {
      const contact = await database.addContact();
      const email = await emailOf(contact);
      await database.rows('update contacts set subscribed = false where id = ?', [contact]);
      await database.rows('delete from contacts where id = ?', [contact]);
      expect(await create(email, null)).to.equal(false);
      await database.rows('update contacts set subscribed = true where email = ?', [email]);
      await database.rows('delete from contacts where email = ?', [email]);
      expect(await create(email, null)).to.equal(true);
    });
  });

  describe('erase_former_address', () => {
    it('keeps the hash of the former address, and asks the new mailbox for its confirmation', async () => {
      const [plain, confirmed] = [await addTopic(), await addTopic({ doubleOptIn: true, position: 2 })];
      const contact = await database.addContact();
      await choose(contact, { [plain]: 'SUBSCRIBED', [confirmed]: 'SUBSCRIBED' }, { method: 'PAGE', proven: true });
      await database.rows('update contacts set email = ? where id = ?', [`${newId()}@example.com`, contact]);
      expect(await stateOf(contact, plain)).to.equal('SUBSCRIBED');
      expect(await stateOf(contact, confirmed)).to.equal('PENDING');
      const records = await consentsOf(contact);
      expect(records.map(({ email }) => email)).to.deep.equal([null, null, await emailOf(contact)]);
      const before = 'select before_pending from contact_topics where contact_id = ? and topic_id = ?';
      expect(await database.value(before, [contact, confirmed])).to.equal('UNSUBSCRIBED');
    });
  });

  describe('is_topic_event', () => {
    it('is true only for the topics of the project', async () => {
      await addTopic({ key: 'news' });
      const isTopicEvent = (name: string) => database.value('select is_topic_event(?, ?)', [database.projectId, name]);
      expect(await isTopicEvent('topic.news.subscribed')).to.equal(true);
      for (const name of ['topic.other.subscribed', 'topic.news.pending', 'news', 'topic.news.subscribed.x'])
        expect(await isTopicEvent(name), name).to.equal(false);
    });
  });

  describe('recipient_refusal', () => {
    it('asks the rule for a contact', async () => {
      const topic = await addTopic();
      const contact = await database.addContact();
      const refusal = (projectId = database.projectId) =>
        database.value('select recipient_refusal(?, ?, true, false, ?)', [projectId, contact, topic]);
      expect(await refusal()).to.equal('topic unsubscribed');
      await choose(contact, { [topic]: 'SUBSCRIBED' });
      expect(await refusal()).to.equal(null);
      await database.rows('update contacts set subscribed = false where id = ?', [contact]);
      expect(await refusal()).to.equal('unsubscribed');
    });
  });
});
