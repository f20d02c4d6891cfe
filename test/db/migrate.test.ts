import { expect } from 'chai';
import { connectDb } from '../../db/connect.ts';
import { migrate, pendingMigrations } from '../../db/migrate.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';

describe('migrations', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createEmptyDatabase();
  });
  afterEach(() => database.drop());

  it('are pending in an empty database, and none after they ran', async () => {
    const db = connectDb({ databaseUrl: database.url, poolSize: 2 });
    const before = await pendingMigrations(db);
    const applied = await migrate(database.url);
    expect(before).to.deep.equal(applied);
    expect(await pendingMigrations(db)).to.deep.equal([]);
    await db.destroy();
  });

  it('run once when several processes start them at once', async () => {
    const applied = await Promise.all([1, 2, 3, 4].map(() => migrate(database.url)));
    expect(applied.filter((names) => names.length > 0)).to.have.lengthOf(1);
  });

  it('go on after a process died while it held the lock row of knex', async () => {
    await migrate(database.url);
    const db = connectDb({ databaseUrl: database.url, poolSize: 2 });
    await db('knex_migrations_lock').update({ isLocked: 1 });
    await migrate(database.url);
    expect(await db('knex_migrations_lock').select('isLocked')).to.deep.equal([{ isLocked: 0 }]);
    await db.destroy();
  });
});
