import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase, runSql } from '../../support/database-functions.ts';

describe('database functions of contacts', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  const contact = (id: string) => database.db('contacts').where({ id }).first();
  const eventsOf = (contactId: string) =>
    database.db('events').where({ contactId }).orderBy('position').select('name', 'data', 'depth');

  const deltas = () =>
    database
      .db('contactCountDeltas')
      .where({ projectId: database.projectId })
      .orderBy('at')
      .select('contacts', 'subscribed', 'gained', 'lost');
  const addFields = (...keys: string[]) =>
    database
      .db('contactFields')
      .insert(keys.map((key) => ({ projectId: database.projectId, key, type: 'string', contacts: 1 })));
  const fieldCount = (projectId = database.projectId) =>
    database.value('select fields from contact_counts where project_id = ?', [projectId]);

  interface Write {
    email?: string;
    subscribed?: boolean | null;
    subscribedWhenNew?: boolean;
    patch?: object;
    deletes?: string[];
    defaults?: object;
    eventId?: string;
  }
  const write = async ({
    email = 'ada@example.com',
    subscribed = null,
    subscribedWhenNew = true,
    patch = {},
    deletes = [],
    defaults = {},
    eventId = newId(),
  }: Write = {}) => {
    const [written] = await database.rows(
      'select * from write_contact(?, ?, ?, ?, ?, ?::jsonb, ?::jsonb, ?::jsonb, ?, ?::jsonb, 3)',
      [
        database.projectId,
        email,
        newId(),
        subscribed,
        subscribedWhenNew,
        JSON.stringify(patch),
        JSON.stringify(deletes),
        JSON.stringify(defaults),
        eventId,
        JSON.stringify({ reason: 'test' }),
      ],
    );
    return written as { id: string; subscribed: boolean; is_new: boolean; is_changed: boolean };
  };

  describe('write_contact', () => {
    it('creates an unknown address without an event, with the patch over the defaults', async () => {
      const written = await write({ patch: { plan: 'pro' }, defaults: { plan: 'free', source: 'api' } });
      expect(written).to.include({ subscribed: true, is_new: true, is_changed: true });
      expect(await contact(written.id)).to.deep.include({
        email: 'ada@example.com',
        data: { plan: 'pro', source: 'api' },
      });
      expect(await eventsOf(written.id)).to.deep.equal([]);
    });

    it('uses the subscription for new contacts only where none is given', async () => {
      expect(await write({ email: 'a@example.com', subscribedWhenNew: false })).to.include({ subscribed: false });
      expect(await write({ email: 'b@example.com', subscribed: true, subscribedWhenNew: false })).to.include({
        subscribed: true,
      });
      expect(await write({ email: 'b@example.com', subscribedWhenNew: false })).to.include({ subscribed: true });
    });

    it('patches a known contact: deletes keys, then applies the patch, and keeps values over defaults', async () => {
      const { id } = await write({ patch: { plan: 'free', city: 'Paris', age: 30 } });
      const written = await write({ patch: { plan: 'pro' }, deletes: ['city'], defaults: { age: 1, source: 'form' } });
      expect(written).to.include({ id, is_new: false, is_changed: true });
      expect((await contact(id)).data).to.deep.equal({ plan: 'pro', age: 30, source: 'form' });
    });

    it('leaves the row untouched when nothing changes', async () => {
      const { id } = await write({ patch: { plan: 'pro' } });
      const version = await database.value('select xmin::text from contacts where id = ?', [id]);
      expect(await write({ patch: { plan: 'pro' }, subscribed: true })).to.include({ id, is_changed: false });
      expect(await database.value('select xmin::text from contacts where id = ?', [id])).to.equal(version);
    });

    it('records one event per change of subscription, with the given id, data and depth', async () => {
      const { id } = await write();
      const eventId = newId();
      await write({ subscribed: false, eventId });
      await write({ subscribed: false });
      await write({ subscribed: true });
      expect(await eventsOf(id)).to.deep.equal([
        { name: 'contact.unsubscribed', data: { reason: 'test' }, depth: 3 },
        { name: 'contact.subscribed', data: { reason: 'test' }, depth: 3 },
      ]);
      expect(await database.value('select name from events where id = ?', [eventId])).to.equal('contact.unsubscribed');
    });

    it('creates one contact when several transactions write an unknown address', async () => {
      const written = await Promise.all([1, 2, 3, 4].map((n) => write({ patch: { [`key${n}`]: n } })));
      expect(new Set(written.map(({ id }) => id)).size).to.equal(1);
      expect(written.filter(({ is_new }) => is_new)).to.have.length(1);
      expect((await contact(written[0]?.id ?? '')).data).to.deep.equal({ key1: 1, key2: 2, key3: 3, key4: 4 });
    });
  });

  describe('update_contact', () => {
    const update = async (id: string, email: string | null, subscribed: boolean | null, patch: object = {}) => {
      const [row] = await database.rows(`select * from update_contact(?, ?, ?, ?, ?::jsonb, '[]', ?)`, [
        database.projectId,
        id,
        email,
        subscribed,
        JSON.stringify(patch),
        newId(),
      ]);
      return row;
    };

    it('changes address, data and subscription in one call', async () => {
      const id = await database.addContact({ email: 'old@example.com', data: { a: 1 } });
      expect(await update(id, 'new@example.com', false, { b: 2 })).to.deep.equal({ id, is_changed: true });
      expect(await contact(id)).to.deep.include({
        email: 'new@example.com',
        subscribed: false,
        data: { a: 1, b: 2 },
      });
      expect((await eventsOf(id)).map(({ name }) => name)).to.deep.equal(['contact.unsubscribed']);
    });

    it('reports a change when the address alone changes, and none when nothing does', async () => {
      const id = await database.addContact({ email: 'first@example.com' });
      expect(await update(id, 'second@example.com', null)).to.deep.equal({ id, is_changed: true });
      expect(await update(id, 'second@example.com', true)).to.deep.equal({ id, is_changed: false });
      expect(await update(id, null, null)).to.deep.equal({ id, is_changed: false });
    });

    it('returns nulls for an unknown id and for a contact of another project', async () => {
      const foreign = await database.addContact();
      await database.renew();
      for (const id of [newId(), foreign])
        expect(await update(id, null, false)).to.deep.equal({ id: null, is_changed: null });
      expect((await contact(foreign)).subscribed).to.equal(true);
    });

    it('refuses an address that another contact of the project has', async () => {
      await database.addContact({ email: 'taken@example.com' });
      const id = await database.addContact();
      const error = await update(id, 'taken@example.com', null).catch((reason: Error) => reason);
      expect(String(error)).to.include('contacts_project_id_email_key');
    });
  });

  describe('current_contact', () => {
    it('returns the row as the same statement has just written it', async () => {
      const id = await database.addContact({ data: { n: 1 } });
      const [row] = await database.rows(
        `with written as (
           select * from write_contact(?, (select email from contacts where id = ?), null, false, null, '{"n": 2}',
             '[]', '{}', uuidv7()))
         select c.subscribed, c.data from written, current_contact(written.id) c`,
        [database.projectId, id],
      );
      expect(row).to.deep.equal({ subscribed: false, data: { n: 2 } });
    });

    it('returns no row for an unknown id', async () => {
      expect(await database.rows('select * from current_contact(?)', [newId()])).to.deep.equal([]);
    });
  });

  describe('contact_value_type', () => {
    const typeOf = (value: unknown) =>
      database.value('select contact_value_type(?::jsonb)', [JSON.stringify(value)]) as Promise<string>;

    it('tells numbers, booleans, dates and strings apart', async () => {
      for (const value of [0, -1.5, 1e20]) expect(await typeOf(value), String(value)).to.equal('number');
      for (const value of [true, false]) expect(await typeOf(value), String(value)).to.equal('boolean');
      for (const value of ['2026-01-31', '2026-01-31T12:00:00Z', '2026-01-31T12:00:00.123Z'])
        expect(await typeOf(value), value).to.equal('date');
      for (const value of ['', 'plan', '2026-01-31 12:00', '2026-01-31T12:00:00+02:00', 'on 2026-01-31', '42'])
        expect(await typeOf(value), value).to.equal('string');
    });

    it('takes lists, objects and null for strings', async () => {
      for (const value of [[1], { a: 1 }, null]) expect(await typeOf(value)).to.equal('string');
    });
  });

  describe('data_keys', () => {
    const keysOf = (data: string | null) => database.value('select data_keys(?::jsonb)', [data]);

    it('returns the keys of the first level', async () => {
      expect(await keysOf('{"plan": "pro", "address": {"city": "Paris"}}')).to.have.members(['plan', 'address']);
      expect(await keysOf('{}')).to.deep.equal([]);
      expect(await keysOf(null)).to.equal(null);
    });
  });

  describe('count_added_contact', () => {
    it('appends one delta per contact, with the types of its fields', async () => {
      await database.addContact({ data: { age: 30, born: '1996-01-31' } });
      await database.addContact({ subscribed: false });
      expect(await deltas()).to.deep.equal([
        { contacts: 1, subscribed: 1, gained: { age: 'number', born: 'date' }, lost: null },
        { contacts: 1, subscribed: 0, gained: null, lost: null },
      ]);
    });
  });

  describe('count_changed_contact', () => {
    const changed = async (before: object, change: object) => {
      const id = await database.addContact(before);
      await database.db('contactCountDeltas').where({ projectId: database.projectId }).delete();
      await database.db('contacts').where({ id }).update(change);
      return deltas();
    };

    it('appends the keys that are new and those that are gone', async () => {
      expect(await changed({ data: { a: 1, b: 2 } }, { data: { b: 2, c: true } })).to.deep.equal([
        { contacts: 0, subscribed: 0, gained: { c: 'boolean' }, lost: ['a'] },
      ]);
    });

    it('appends the change of subscription', async () => {
      expect(await changed({}, { subscribed: false })).to.deep.equal([
        { contacts: 0, subscribed: -1, gained: null, lost: null },
      ]);
    });

    it('appends nothing when only the address or the time changes', async () => {
      expect(await changed({ data: { a: 1 } }, { email: 'other@example.com', updatedAt: new Date() })).to.deep.equal(
        [],
      );
    });
  });

  describe('count_removed_contact', () => {
    it('takes back what the contact was counted for', async () => {
      const ids = [await database.addContact({ data: { a: 1 } }), await database.addContact({ subscribed: false })];
      await database.db('contactCountDeltas').where({ projectId: database.projectId }).delete();
      for (const id of ids) await database.db('contacts').where({ id }).delete();
      expect(await deltas()).to.deep.equal([
        { contacts: -1, subscribed: -1, gained: null, lost: ['a'] },
        { contacts: -1, subscribed: 0, gained: null, lost: null },
      ]);
    });

    it('takes back nothing when the transaction rolls back', async () => {
      const id = await database.addContact();
      await database.db
        .transaction(async (trx) => {
          await runSql(trx, 'delete from contacts where id = ?', [id]);
          throw new Error('rolled back');
        })
        .catch(() => {});
      expect(await deltas()).to.have.length(1);
    });
  });

  describe('count_added_fields', () => {
    it('adds the number of new fields to the count of their project only', async () => {
      await database.db('contactCounts').insert({ projectId: database.projectId, contacts: 0, subscribed: 0 });
      const other = database.projectId;
      await addFields('city');
      await database.renew();
      await database
        .db('contactCounts')
        .insert({ projectId: database.projectId, contacts: 0, subscribed: 0, fields: 2 });
      await addFields('age', 'plan', 'city');
      expect(await fieldCount()).to.equal(5);
      expect(await fieldCount(other)).to.equal(1);
    });

    it('changes nothing while the project has no counts', async () => {
      await addFields('age');
      expect(await fieldCount()).to.equal(undefined);
    });
  });

  describe('count_removed_fields', () => {
    it('subtracts the number of removed fields', async () => {
      await database.db('contactCounts').insert({ projectId: database.projectId, contacts: 0, subscribed: 0 });
      await addFields('age', 'plan', 'city');
      await database
        .db('contactFields')
        .where({ projectId: database.projectId })
        .whereIn('key', ['age', 'city'])
        .delete();
      expect(await fieldCount()).to.equal(1);
      await database.db('contactFields').where({ projectId: database.projectId, key: 'unknown' }).delete();
      expect(await fieldCount()).to.equal(1);
    });
  });

  describe('contact_names', () => {
    const namesOf = async (data: object) =>
      (await database.db.raw('select contact_names(?) as names', [JSON.stringify(data)])).rows[0].names;

    it('has the values of fields whose names contain "name", in lower case', async () => {
      expect(await namesOf({ lastName: 'Lee', firstName: 'Ann', plan: 'pro' })).to.equal('ann\nlee');
    });

    it('takes the first 500 characters of each, and is null without one', async () => {
      expect(await namesOf({ Nickname: 'x'.repeat(600) })).to.equal('x'.repeat(500));
      expect(await namesOf({ plan: 'pro', name: null })).to.equal(null);
    });
  });

  describe('addresses_in', () => {
    const addresses = (text: string | null) => database.value('select addresses_in(?)', [text]);

    it('returns the addresses of a text in lower case, without what surrounds them', async () => {
      expect(await addresses('Ann <Ann@Example.com>; "bob@example.com", see carl@example.com.')).to.deep.equal([
        'ann@example.com',
        'bob@example.com',
        'carl@example.com',
      ]);
    });

    it('returns none for a text without an address', async () => {
      expect(await addresses('no address @ all')).to.deep.equal([]);
      expect(await addresses(null)).to.deep.equal([]);
    });
  });

  describe('contact_id_of_address', () => {
    const idOf = (projectId: string, email: string) =>
      database.value('select contact_id_of_address(?, ?)', [projectId, email]);

    it('returns the same id for an address of a project, and another for any other', async () => {
      const id = await idOf(database.projectId, 'ann@example.com');
      expect(await idOf(database.projectId, 'ann@example.com')).to.equal(id);
      expect(await idOf(database.projectId, 'bob@example.com')).not.to.equal(id);
      expect(await idOf(newId(), 'ann@example.com')).not.to.equal(id);
    });
  });
});
