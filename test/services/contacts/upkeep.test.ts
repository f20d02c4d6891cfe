import { expect } from 'chai';
import { cleanContactIndexes } from '../../../services/contacts/upkeep.ts';
import { writeContacts } from '../../../services/contacts/write.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../../support/connected-database.ts';

describe('cleaning the search indexes of contacts', () => {
  let database: ConnectedDatabase;

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());

  it('moves pending entries into the indexes, in one process at a time', async () => {
    const { id } = await makeProject(database.db);
    const writes = Array.from({ length: 100 }, (_, n) => ({
      email: `c${n}@example.com`,
      subscribedWhenNew: true,
      patch: { n },
      deletes: [],
    }));
    await writeContacts(database.db, id, writes);
    await database.db.transaction(async (trx) => {
      expect(await cleanContactIndexes(trx)).to.be.greaterThan(0);
      await writeContacts(database.db, id, [
        { email: 'later@example.com', subscribedWhenNew: true, patch: {}, deletes: [] },
      ]);
      expect(await cleanContactIndexes(database.db)).to.equal(0);
    });
    expect(await cleanContactIndexes(database.db)).to.be.greaterThan(0);
    expect(await cleanContactIndexes(database.db)).to.equal(0);
  });
});
