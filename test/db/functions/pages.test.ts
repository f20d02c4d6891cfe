import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase } from '../../support/database-functions.ts';

describe('database functions of pages', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  describe('undo_page_change', () => {
    const snoozed = '2099-01-01T00:00:00.000Z';

    /** A contact that unsubscribed, snoozed and wants less on its page. */
    async function addChange(at = new Date()) {
      const contactId = await database.addContact();
      const after = { subscribed: false, frequency: { count: 1, per: 'WEEK' } };
      await database.db('contacts').where({ id: contactId }).update(after);
      await database.db('contacts').where({ id: contactId }).update({ snoozedUntil: snoozed });
      const latest = await database.value('select max(id::text) from consents where contact_id = ?', [contactId]);
      const change = {
        topics: {},
        subscribed: { before: true, after: false },
        snoozedUntil: { before: null, after: snoozed },
        frequency: { before: null, after: after.frequency },
        lastConsentId: latest,
      };
      const changeId = newId();
      await database
        .db('pageChanges')
        .insert({ id: changeId, projectId: database.projectId, contactId, at, change: JSON.stringify(change) });
      return { contactId, changeId };
    }
    const undo = (contactId: string, changeId: string) =>
      database.value(`select undo_page_change(?, ?, ?, '{"method": "PAGE"}', '{}')`, [
        database.projectId,
        contactId,
        changeId,
      ]);
    const stateOf = (id: string) =>
      database.db('contacts').where({ id }).first('subscribed', 'snoozedUntil', 'frequency');

    it('restores what the change has changed', async () => {
      const { contactId, changeId } = await addChange();
      expect(await undo(contactId, changeId)).to.equal(true);
      expect(await stateOf(contactId)).to.deep.equal({ subscribed: true, snoozedUntil: null, frequency: null });
    });

    it('leaves what was changed again since', async () => {
      const { contactId, changeId } = await addChange();
      const later = { subscribed: true, frequency: { count: 2, per: 'DAY' } };
      await database.db('contacts').where({ id: contactId }).update(later);
      await database.db('contacts').where({ id: contactId }).update({ subscribed: false });
      expect(await undo(contactId, changeId)).to.equal(true);
      expect(await stateOf(contactId)).to.deep.include({ subscribed: false, frequency: later.frequency });
    });

    it('is false for a change of another contact, and for one older than a day', async () => {
      const { contactId, changeId } = await addChange();
      expect(await undo(await database.addContact(), changeId)).to.equal(false);
      const old = await addChange(new Date(Date.now() - 25 * 3_600_000));
      expect(await undo(old.contactId, old.changeId)).to.equal(false);
      expect(await stateOf(contactId)).to.include({ subscribed: false });
    });
  });
});
