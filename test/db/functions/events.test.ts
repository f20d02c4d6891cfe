import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { isReservedEvent } from '../../../services/events/reserved.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase, runSql } from '../../support/database-functions.ts';

describe('database functions of events', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  const addEvent = (name: string, columns: object = {}) => {
    const row = { id: newId(), projectId: database.projectId, contactId: newId(), name, ...columns };
    return database
      .db('events')
      .insert(row)
      .then(() => row);
  };
  const changes = () =>
    database
      .db('contactChanges')
      .where({ projectId: database.projectId })
      .orderBy('id')
      .select('contactId', 'dependencies', 'depth');

  const addNames = (...names: string[]) =>
    database.db('eventNames').insert(
      names.map((name) => ({
        projectId: database.projectId,
        name,
        count: 1,
        retained: 1,
        inFeed: 1,
        contacts: 1,
        lastAt: new Date(),
      })),
    );
  const nameCount = () =>
    database.value('select names from event_name_counts where project_id = ?', [database.projectId]);

  describe('activity_type', () => {
    const typeOf = (name: string, data: object = {}) =>
      database.value('select activity_type(?, ?::jsonb)', [name, JSON.stringify(data)]);

    it('names the events that the feed shows', async () => {
      const types = {
        'email.sent': 'email.sent',
        'email.delivery': 'email.delivered',
        'email.open': 'email.opened',
        'email.click': 'email.clicked',
        'email.bounce': 'email.bounced',
        'email.complaint': 'email.complained',
        'email.failed': 'email.failed',
        'contact.subscribed': 'contact.subscribed',
        'contact.unsubscribed': 'contact.unsubscribed',
        'signed up': 'event.triggered',
        'segment.entry': 'event.triggered',
      };
      for (const [name, type] of Object.entries(types)) expect(await typeOf(name), name).to.equal(type);
    });

    it('hides later opens and clicks, membership and unknown events of mail', async () => {
      expect(await typeOf('email.open', { isFirst: true })).to.equal('email.opened');
      expect(await typeOf('email.open', { isFirst: false })).to.equal('hidden');
      expect(await typeOf('email.click', { isFirst: false })).to.equal('hidden');
      for (const name of ['segment.vips.entry', 'segment.vips.exit', 'email.unknown'])
        expect(await typeOf(name), name).to.equal('hidden');
    });
  });

  describe('cascade_depth', () => {
    it('is 0 unless the transaction has set a depth', async () => {
      expect(await database.value('select cascade_depth()')).to.equal(0);
      await database.db.transaction(async (trx) => {
        await runSql(trx, "select set_config('everpost.depth', '4', true)");
        expect(await runSql(trx, 'select cascade_depth() as depth')).to.deep.equal([{ depth: 4 }]);
        await runSql(trx, "select set_config('everpost.depth', '', true)");
        expect(await runSql(trx, 'select cascade_depth() as depth')).to.deep.equal([{ depth: 0 }]);
      });
    });
  });

  describe('is_reserved_event', () => {
    it('equals isReservedEvent of services/events/reserved.ts', async () => {
      const reserved = [
        'email.sent',
        'email.',
        'email.anything',
        'contact.subscribed',
        'contact.unsubscribed',
        'segment.vips.entry',
        'segment.vips.exit',
        'segment.a.b.exit',
      ];
      const free = [
        '',
        'email',
        'emails.sent',
        'my email.sent',
        'contact.updated',
        'contact.subscribed.twice',
        'segment.entry',
        'segment..entry',
        'segment.vips.entry.late',
        'segments.vips.entry',
        'a segment.vips.entry',
        'Email.sent',
        'signed up',
      ];
      for (const name of [...reserved, ...free])
        expect(await database.value('select is_reserved_event(?)', [name]), name).to.equal(isReservedEvent(name));
      expect(reserved.every(isReservedEvent)).to.equal(true);
      expect(free.filter(isReservedEvent)).to.deep.equal([]);
    });
  });

  describe('iso_timestamp', () => {
    const instant = async (text: string | null) => {
      const at = (await database.value('select iso_timestamp(?)', [text])) as Date | null;
      return at === null ? null : at.toISOString();
    };

    it('reads full date-times with an offset, to the millisecond', async () => {
      expect(await instant('2026-01-31T12:00:00Z')).to.equal('2026-01-31T12:00:00.000Z');
      expect(await instant('2026-01-31T12:00:00.987654321Z')).to.equal('2026-01-31T12:00:00.987Z');
      expect(await instant('2026-01-31T12:00:00+02:00')).to.equal('2026-01-31T10:00:00.000Z');
      expect(await instant('2024-02-29T23:59:59-14:00')).to.equal('2024-03-01T13:59:59.000Z');
    });

    it('returns null for anything else', async () => {
      for (const text of [
        null,
        '',
        'soon',
        '2026-01-31',
        '2026-01-31T12:00:00',
        '2026-01-31 12:00:00Z',
        '2026-02-30T12:00:00Z',
        '2023-02-29T12:00:00Z',
        '2026-13-01T12:00:00Z',
        '2026-01-31T24:00:00Z',
        '2026-01-31T12:00:00+15:00',
        ' 2026-01-31T12:00:00Z',
      ])
        expect(await instant(text), String(text)).to.equal(null);
    });
  });

  describe('record_event', () => {
    const record = (depth: number | null) =>
      `select record_event(uuidv7(), '${database.projectId}', uuidv7(), 'contact.subscribed', '{"a": 1}', null, ${depth})`;
    const recorded = () =>
      database
        .db('events')
        .where({ projectId: database.projectId })
        .orderBy('position')
        .select('name', 'data', 'depth');

    it('records the given depth, or that of the transaction', async () => {
      await database.db.transaction(async (trx) => {
        await runSql(trx, "select set_config('everpost.depth', '2', true)");
        await runSql(trx, record(null));
        await runSql(trx, record(0));
        await runSql(trx, record(5));
      });
      expect((await recorded()).map(({ depth }) => depth)).to.deep.equal([2, 0, 5]);
      expect((await recorded())[0]).to.deep.equal({ name: 'contact.subscribed', data: { a: 1 }, depth: 2 });
    });
  });

  describe('process_added_events', () => {
    const deltas = () =>
      database.db('eventDeltas').where({ projectId: database.projectId }).orderBy('name').select('name', 'inFeed');
    const queued = () =>
      database.db('eventQueue').where({ projectId: database.projectId }).orderBy('id').pluck('event_id');

    it('names the event in the delta of an event about a mail only', async () => {
      const contactId = await database.addContact();
      const emailId = await database.addEmail({ contactId });
      const add = (name: string, more = {}) =>
        database
          .db('events')
          .insert({ id: newId(), projectId: database.projectId, contactId, name, data: '{}', ...more })
          .returning('id');
      const [opened] = await add('email.open', { emailId });
      await add('bought');
      await add('x', { emailId });
      const rows = await database.db('eventDeltas').where({ projectId: database.projectId }).whereNotNull('eventId');
      expect(rows.map(({ name, eventId }) => [name, eventId])).to.deep.equal([['email.open', opened?.id]]);
    });

    it('appends one delta per event, with whether the feed shows it', async () => {
      await addEvent('email.open', { data: { isFirst: false } });
      await addEvent('signed up');
      expect(await deltas()).to.deep.equal([
        { name: 'email.open', inFeed: false },
        { name: 'signed up', inFeed: true },
      ]);
    });

    it('queues the contact when a tracked segment of the project depends on the event', async () => {
      await addEvent('before');
      await database.addDependency('event.bought');
      const { contactId } = await addEvent('bought');
      await addEvent('looked');
      expect(await changes()).to.deep.equal([{ contactId, dependencies: ['event.bought'], depth: 0 }]);
      await database.renew();
      await addEvent('bought');
      expect(await changes()).to.deep.equal([]);
    });

    it('queues the events that an enabled workflow starts with', async () => {
      await database.addWorkflow({ enabled: true, triggerConfig: { eventName: 'bought' } });
      await database.addWorkflow({ enabled: false, triggerConfig: { eventName: 'looked' } });
      const { id } = await addEvent('bought');
      await addEvent('looked');
      expect(await queued()).to.deep.equal([id]);
    });

    it('queues the events that an execution of the contact waits for', async () => {
      const contactId = newId();
      await database.addExecution({ contactId, status: 'WAITING', awaitedEvent: 'paid' });
      const { id } = await addEvent('paid', { contactId });
      await addEvent('paid');
      await addEvent('bought', { contactId });
      expect(await queued()).to.deep.equal([id]);
    });

    it('queues an event once when workflows and executions both want it', async () => {
      const contactId = newId();
      await database.addWorkflow({ enabled: true, triggerConfig: { eventName: 'paid' } });
      await database.addWorkflow({ enabled: true, triggerConfig: { eventName: 'paid' } });
      await database.addExecution({ contactId, status: 'WAITING', awaitedEvent: 'paid' });
      const { id } = await addEvent('paid', { contactId });
      expect(await queued()).to.deep.equal([id]);
    });
  });

  describe('process_removed_events', () => {
    it('queues each contact once per event name that a tracked segment depends on', async () => {
      const contactId = newId();
      for (const name of ['bought', 'bought', 'looked']) await addEvent(name, { contactId });
      await database.addDependency('event.bought');
      await database.db('events').where({ contactId }).delete();
      expect(await changes()).to.deep.equal([{ contactId, dependencies: ['event.bought'], depth: 0 }]);
    });

    it('queues nothing where no segment depends on the event', async () => {
      await addEvent('bought');
      await database.db('events').where({ projectId: database.projectId }).delete();
      expect(await changes()).to.deep.equal([]);
    });
  });

  describe('count_added_event_names', () => {
    it('counts new names and leaves reserved ones out', async () => {
      await addNames('bought', 'looked', 'email.sent');
      expect(await nameCount()).to.equal(2);
      await addNames('paid', 'segment.vips.entry');
      expect(await nameCount()).to.equal(3);
    });

    it('makes no row for a project with reserved names only', async () => {
      await addNames('email.sent');
      expect(await nameCount()).to.equal(undefined);
    });
  });

  describe('count_removed_event_names', () => {
    it('subtracts removed names and leaves reserved ones out', async () => {
      await addNames('bought', 'looked', 'paid', 'email.sent');
      await database
        .db('eventNames')
        .where({ projectId: database.projectId })
        .whereIn('name', ['bought', 'email.sent'])
        .delete();
      expect(await nameCount()).to.equal(2);
      await database.db('eventNames').where({ projectId: database.projectId }).delete();
      expect(await nameCount()).to.equal(0);
    });
  });
});
