import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase, runSql } from '../../support/database-functions.ts';

describe('database functions of suppressions', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  const suppress = (email: string, contactId: string | null = null, reason = 'HARD_BOUNCE') =>
    database.rows(
      `insert into suppressions (id, project_id, address_hash, email, contact_id, reason, note)
       values (?, ?, address_hash(?, ?), ?, ?, ?, ?)`,
      [newId(), database.projectId, database.projectId, email, email, contactId, reason, `asked by ${email}`],
    );
  const isSubscribed = (id: string) => database.value('select subscribed from contacts where id = ?', [id]);
  const eventsOf = (contactId: string) => database.db('events').where({ contactId }).select('name', 'data', 'depth');

  describe('address_hash', () => {
    const hash = (projectId: string, email: string) =>
      database.value('select address_hash(?, ?)', [projectId, email]) as Promise<Buffer>;

    it('is the SHA-256 of the project, a space and the address', async () => {
      const expected = createHash('sha256').update(`${database.projectId} jörg@example.com`).digest();
      expect((await hash(database.projectId, 'jörg@example.com')).equals(expected)).to.equal(true);
    });

    it('differs between projects and between addresses', async () => {
      const first = await hash(database.projectId, 'ada@example.com');
      expect(first.equals(await hash(newId(), 'ada@example.com'))).to.equal(false);
      expect(first.equals(await hash(database.projectId, 'ADA@example.com'))).to.equal(false);
    });
  });

  describe('address_suppression', () => {
    const reasonOf = (email: string) => database.value('select address_suppression(?, ?)', [database.projectId, email]);

    it('returns the reason of a suppressed address', async () => {
      await suppress('gone@example.com');
      await suppress('cross@example.com', null, 'COMPLAINT');
      expect(await reasonOf('gone@example.com')).to.equal('HARD_BOUNCE');
      expect(await reasonOf('cross@example.com')).to.equal('COMPLAINT');
    });

    it('returns null for another address, and for the same one in another project', async () => {
      await suppress('gone@example.com');
      expect(await reasonOf('here@example.com')).to.equal(null);
      await database.renew();
      expect(await reasonOf('gone@example.com')).to.equal(null);
    });
  });

  describe('is_suppressed', () => {
    const isSuppressed = (email: string) => database.value('select is_suppressed(?, ?)', [database.projectId, email]);

    it('is true after a hard bounce or by hand, and false after a complaint', async () => {
      await suppress('gone@example.com');
      await suppress('told@example.com', null, 'MANUAL');
      expect(await isSuppressed('told@example.com')).to.equal(true);
      await suppress('cross@example.com', null, 'COMPLAINT');
      expect(await isSuppressed('gone@example.com')).to.equal(true);
      expect(await isSuppressed('cross@example.com')).to.equal(false);
    });

    it('is false for an address that is not on the list', async () => {
      expect(await isSuppressed('here@example.com')).to.equal(false);
    });
  });

  describe('unsubscribe_suppressed_contact', () => {
    it('unsubscribes a new contact with a suppressed address, without an event', async () => {
      await suppress('gone@example.com');
      const id = await database.addContact({ email: 'gone@example.com' });
      expect(await isSubscribed(id)).to.equal(false);
      expect(await eventsOf(id)).to.deep.equal([]);
    });

    it('unsubscribes a new contact whose address complained', async () => {
      await suppress('cross@example.com', null, 'COMPLAINT');
      expect(await isSubscribed(await database.addContact({ email: 'cross@example.com' }))).to.equal(false);
    });

    it('leaves other addresses, and the same address in another project, subscribed', async () => {
      await suppress('gone@example.com');
      expect(await isSubscribed(await database.addContact({ email: 'here@example.com' }))).to.equal(true);
      await database.renew();
      expect(await isSubscribed(await database.addContact({ email: 'gone@example.com' }))).to.equal(true);
    });
  });

  describe('unsubscribe_changed_address', () => {
    const move = (id: string, email: string) => database.db('contacts').where({ id }).update({ email });

    it('unsubscribes a contact that moves to a suppressed address, and records why', async () => {
      await suppress('gone@example.com');
      const id = await database.addContact();
      await move(id, 'gone@example.com');
      expect(await isSubscribed(id)).to.equal(false);
      expect(await eventsOf(id)).to.deep.equal([
        { name: 'contact.unsubscribed', data: { reason: 'suppressed' }, depth: 0 },
      ]);
    });

    it('records nothing when the contact was unsubscribed already or its address stays', async () => {
      const unsubscribed = await database.addContact({ subscribed: false });
      const same = await database.addContact({ email: 'late@example.com' });
      await suppress('gone@example.com');
      await suppress('late@example.com');
      await move(unsubscribed, 'gone@example.com');
      await move(same, 'late@example.com');
      expect(await eventsOf(unsubscribed)).to.deep.equal([]);
      expect(await isSubscribed(same)).to.equal(true);
    });
  });

  describe('erase_suppressed_address', () => {
    const suppressions = () =>
      database
        .db('suppressions')
        .where({ projectId: database.projectId })
        .orderBy('id')
        .select('email', 'contactId', 'note');

    it('keeps only the hash of a deleted contact, found by its id or its address', async () => {
      const byId = await database.addContact({ email: 'new@example.com' });
      await database.addContact({ email: 'byaddress@example.com' });
      await suppress('old@example.com', byId);
      await suppress('byaddress@example.com');
      await suppress('other@example.com');
      await database.db('contacts').where({ projectId: database.projectId }).delete();
      expect(await suppressions()).to.deep.equal([
        { email: null, contactId: null, note: null },
        { email: null, contactId: null, note: null },
        { email: 'other@example.com', contactId: null, note: 'asked by other@example.com' },
      ]);
      expect(
        await database.value('select count(*)::integer from suppressions where address_hash = address_hash(?, ?)', [
          database.projectId,
          'old@example.com',
        ]),
      ).to.equal(1);
    });

    it('keeps address and note while everpost.keep_suppressed_addresses is on', async () => {
      const id = await database.addContact({ email: 'kept@example.com' });
      await suppress('kept@example.com', id);
      await database.db.transaction(async (trx) => {
        await runSql(trx, 'set local everpost.keep_suppressed_addresses = on');
        await runSql(trx, 'delete from contacts where id = ?', [id]);
      });
      expect(await suppressions()).to.deep.equal([
        { email: 'kept@example.com', contactId: null, note: 'asked by kept@example.com' },
      ]);
    });

    it('leaves the list of another project as it is', async () => {
      await suppress('shared@example.com');
      const first = database.projectId;
      await database.renew();
      const id = await database.addContact({ email: 'shared@example.com' });
      await database.db('contacts').where({ id }).delete();
      expect(await database.value('select email from suppressions where project_id = ?', [first])).to.equal(
        'shared@example.com',
      );
    });
  });
});
