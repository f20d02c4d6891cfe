import { expect } from 'chai';
import type { Db } from '../../../db/connect.ts';
import { saveContact } from '../../../services/contacts/save.ts';
import { type ContactWrite, writeContacts } from '../../../services/contacts/write.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../../support/connected-database.ts';
import { storedContacts } from '../../support/rows/contacts.ts';

describe('writing many contacts', () => {
  let database: ConnectedDatabase;
  let db: Db;

  before(async () => {
    database = await connectTestDatabase();
    ({ db } = database);
  });
  after(() => database.close());

  const one = (n: number, rest: Partial<ContactWrite> = {}): ContactWrite => ({
    email: `c${n}@example.com`,
    subscribedWhenNew: true,
    patch: { n },
    deletes: [],
    ...rest,
  });

  it('returns whether each contact is new, changed or unchanged', async () => {
    const { access, id } = await makeProject(db);
    await saveContact(db, access, { email: 'c1@example.com', data: { n: 1 } });
    await saveContact(db, access, { email: 'c2@example.com', subscribed: false, data: { n: 7, old: true } });
    const { written, refused } = await writeContacts(db, id, [one(0), one(1), one(2, { deletes: ['old'] })]);
    expect(refused).to.deep.equal([]);
    const outcomes = Object.fromEntries(written.map(({ email, isNew, isChanged }) => [email, { isNew, isChanged }]));
    expect(outcomes).to.deep.equal({
      'c0@example.com': { isNew: true, isChanged: true },
      'c1@example.com': { isNew: false, isChanged: false },
      'c2@example.com': { isNew: false, isChanged: true },
    });
    const rows = await storedContacts(db, { projectId: id });
    expect(rows.map(({ data, subscribed }) => ({ data, subscribed }))).to.deep.equal([
      { data: { n: 0 }, subscribed: true },
      { data: { n: 1 }, subscribed: true },
      { data: { n: 2 }, subscribed: false },
    ]);
  });

  it('writes 1,000 contacts in one transaction', async () => {
    const { id } = await makeProject(db);
    const writes = Array.from({ length: 1_000 }, (_, n) => one(n));
    expect((await writeContacts(db, id, writes)).written).to.have.lengthOf(1_000);
    const by = await db('contacts').where({ projectId: id }).distinct(db.raw('xmin::text'));
    expect(by).to.have.lengthOf(1);
    const { written } = await writeContacts(db, id, writes);
    expect(written.some(({ isChanged }) => isChanged)).to.equal(false);
  });

  it('refuses a contact whose data is too large and writes the others, also inside a transaction', async () => {
    const { access, id } = await makeProject(db);
    const large = { text: 'x'.repeat(90_000) };
    await writeContacts(db, id, [one(3, { patch: { before: 'x'.repeat(90_000) } })]);
    await db.transaction(async (trx) => {
      await saveContact(trx, access, { email: 'first@example.com' });
      const { written, refused } = await writeContacts(trx, id, [
        one(1),
        one(2),
        one(3, { patch: large }),
        one(4),
        one(5),
      ]);
      expect(written.map(({ email }) => email)).to.have.members([1, 2, 4, 5].map((n) => `c${n}@example.com`));
      expect(refused).to.have.lengthOf(1);
      expect(refused[0]).to.include({ email: 'c3@example.com' });
      expect(refused[0]?.error).to.match(/128 KB/);
    });
    const rows = await storedContacts(db, { projectId: id }).pluck('email');
    expect(rows).to.deep.equal([...[1, 2, 3, 4, 5].map((n) => `c${n}@example.com`), 'first@example.com']);
  });

  it('succeeds when others write the same contacts concurrently in another order', async () => {
    const { id } = await makeProject(db);
    const writes = Array.from({ length: 60 }, (_, n) => one(n));
    const rounds = Array.from({ length: 8 }, (_, n) =>
      writeContacts(
        db,
        id,
        (n % 2 ? writes : [...writes].reverse()).map((write) => ({ ...write, patch: { [`by${n}`]: true } })),
      ),
    );
    await Promise.all(rounds);
    const rows = await storedContacts(db, { projectId: id });
    expect(rows).to.have.lengthOf(60);
    for (const { data } of rows) expect(Object.keys(data)).to.have.lengthOf(8);
  });

  it('writes nothing for an unknown project or an empty list', async () => {
    const { id } = await makeProject(db);
    expect(await writeContacts(db, id, [])).to.deep.equal({ written: [], refused: [] });
    const unknownProject = '00000000-0000-7000-8000-000000000000';
    expect(await writeContacts(db, unknownProject, [one(1)])).to.deep.equal({ written: [], refused: [] });
    expect(await storedContacts(db, { projectId: unknownProject })).to.deep.equal([]);
  });
});
