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

  it('are all pending in an empty database, and none after they ran', async () => {
    const db = connectDb({ databaseUrl: database.url, poolSize: 2 });
    const before = await pendingMigrations(db);
    const applied = await migrate(database.url);
    expect(before).to.deep.equal(applied);
    expect(await pendingMigrations(db)).to.deep.equal([]);
    await db.destroy();
  });

  it('run once when four processes start them concurrently', async () => {
    const applied = await Promise.all([1, 2, 3, 4].map(() => migrate(database.url)));
    expect(applied.filter((names) => names.length > 0)).to.have.lengthOf(1);
  });

  it('run after a process died and left the lock row of knex locked', async () => {
    await migrate(database.url);
    const db = connectDb({ databaseUrl: database.url, poolSize: 2 });
    await db('knex_migrations_lock').update({ isLocked: 1 });
    await migrate(database.url);
    expect(await db('knex_migrations_lock').select('isLocked')).to.deep.equal([{ isLocked: 0 }]);
    await db.destroy();
  });
});
