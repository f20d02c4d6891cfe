import { expect } from 'chai';
import { cleanContactIndexes } from '../../../services/contacts/upkeep.ts';
import { writeContacts } from '../../../services/contacts/write.ts';
import { makeProject, openWorld, type World } from '../../support/world.ts';

describe('cleaning the search indexes of contacts', () => {
  let world: World;

  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  it('moves pending entries into the indexes, in one process at a time', async () => {
    const { id } = await makeProject(world.db);
    const writes = Array.from({ length: 100 }, (_, n) => ({
      email: `c${n}@example.com`,
      subscribedWhenNew: true,
      patch: { n },
      deletes: [],
    }));
    await writeContacts(world.db, id, writes);
    await world.db.transaction(async (trx) => {
      expect(await cleanContactIndexes(trx)).to.be.greaterThan(0);
      await writeContacts(world.db, id, [
        { email: 'later@example.com', subscribedWhenNew: true, patch: {}, deletes: [] },
      ]);
      expect(await cleanContactIndexes(world.db)).to.equal(0);
    });
    expect(await cleanContactIndexes(world.db)).to.be.greaterThan(0);
    expect(await cleanContactIndexes(world.db)).to.equal(0);
  });
});
