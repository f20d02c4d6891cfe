import { expect } from 'chai';
import { connectDb, type Db } from '../../db/connect.ts';
import { changedFunctions, functionsAfterTables, functionsBeforeTables } from '../../db/functions.ts';
import { migrate, pendingMigrations } from '../../db/migrate.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';

describe('migrations', () => {
  let database: TestDatabase;
  let db: Db;

  beforeEach(async () => {
    database = await createEmptyDatabase();
    db = connectDb({ databaseUrl: database.url, poolSize: 2 });
  });
  afterEach(async () => {
    await db.destroy();
    await database.drop();
  });

  it('are pending in an empty database, and none after they ran', async () => {
    const before = await pendingMigrations(db);
    const applied = await migrate(database.url);
    expect(before).to.deep.equal(applied);
    expect(await pendingMigrations(db)).to.deep.equal([]);
  });

  it('run once when four processes start them concurrently', async () => {
    const applied = await Promise.all([1, 2, 3, 4].map(() => migrate(database.url)));
    expect(applied.filter((names) => names.length > 0)).to.have.lengthOf(1);
  });

  it('run after a process died and left the lock row of knex locked', async () => {
    await migrate(database.url);
    await db('knex_migrations_lock').update({ isLocked: 1 });
    await migrate(database.url);
    expect(await db('knex_migrations_lock').select('isLocked')).to.deep.equal([{ isLocked: 0 }]);
  });

  it('refuse a database with an unknown migration and leave it unchanged', async () => {
    await migrate(database.url);
    await db('knex_migrations').insert({ name: '000-older', batch: 1, migrationTime: new Date() });
    await db('databaseFunctions').where({ name: 'workflow_id' }).update({ checksum: 'older' });
    const error = await migrate(database.url).catch((reason: Error) => reason);
    expect(error).to.be.instanceOf(Error);
    expect((error as Error).message).to.equal(
      'This database has migrations of another version of Everpost (000-older): start with an empty one, in development by npm start -- --fresh.',
    );
    expect(await pendingMigrations(db)).to.deep.equal(['function workflow_id']);
  });

  describe('of functions', () => {
    const OTHER_TEXT =
      "create or replace function uuid_floor(at timestamptz) returns uuid language sql immutable strict parallel safe as 'select null::uuid'";
    const isOther = async () => {
      const { rows } = await db.raw('select uuid_floor(now()) is null as other');
      return rows[0].other;
    };
    const applied = () => db('databaseFunctions').orderBy('name').select('name', 'checksum', 'appliedAt');

    beforeEach(() => migrate(database.url));

    it('record the checksum of every file', async () => {
      const files = [...functionsBeforeTables, ...functionsAfterTables].map(({ name, checksum }) => [name, checksum]);
      expect((await applied()).map(({ name, checksum }) => [name, checksum])).to.have.deep.members(files);
    });

    it('apply a function again when its checksum differs, and only that one', async () => {
      const before = await applied();
      await db.raw(OTHER_TEXT);
      await db('databaseFunctions').where({ name: 'uuid_floor' }).update({ checksum: 'older' });
      expect(await migrate(database.url)).to.deep.equal([]);
      expect(await isOther()).to.equal(false);
      const after = await applied();
      expect(after.map(({ name, checksum }) => [name, checksum])).to.deep.equal(
        before.map(({ name, checksum }) => [name, checksum]),
      );
      const renewed = after.filter(({ appliedAt }, n) => appliedAt.getTime() !== before[n].appliedAt.getTime());
      expect(renewed.map(({ name }) => name)).to.deep.equal(['uuid_floor']);
    });

    it('apply no function again when its checksum is the same', async () => {
      const before = await applied();
      await db.raw(OTHER_TEXT);
      await migrate(database.url);
      expect(await isOther()).to.equal(true);
      expect(await applied()).to.deep.equal(before);
    });

    it('are pending when the checksum differs or is missing', async () => {
      await db('databaseFunctions').where({ name: 'data_keys' }).update({ checksum: 'older' });
      await db('databaseFunctions').where({ name: 'write_contact' }).delete();
      expect(await pendingMigrations(db)).to.deep.equal(['function data_keys', 'function write_contact']);
      await migrate(database.url);
      expect(await pendingMigrations(db)).to.deep.equal([]);
    });

    it('apply a trigger again when it was dropped and its checksum differs', async () => {
      await db.raw('drop trigger contacts_count_added on contacts');
      await db('databaseFunctions').where({ name: 'count_added_contact' }).update({ checksum: 'older' });
      await migrate(database.url);
      const { rows } = await db.raw("select 1 from pg_trigger where tgname = 'contacts_count_added'");
      expect(rows).to.have.length(1);
    });
  });
});

describe('the files of db/functions', () => {
  it('are split into those that tables need, and the others with the views first', () => {
    const before = functionsBeforeTables.map(({ name }) => name);
    expect(before).to.deep.equal(['activity_type', 'cascade_depth', 'data_keys']);
    const after = functionsAfterTables.map(({ name }) => name);
    expect(after[0]).to.equal('execution_states');
    expect(new Set([...before, ...after]).size).to.equal(before.length + after.length);
  });

  it('count as changed when the database lacks them or has another checksum', () => {
    const files = ['a', 'b', 'c'].map((name) => ({ name, sql: '', checksum: `${name}1` }));
    const applied = [
      { name: 'a', checksum: 'a1' },
      { name: 'b', checksum: 'b0' },
      { name: 'removed', checksum: 'r1' },
    ];
    expect(changedFunctions(files, applied).map(({ name }) => name)).to.deep.equal(['b', 'c']);
    expect(changedFunctions(files, [])).to.deep.equal(files);
  });
});
