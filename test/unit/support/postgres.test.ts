import { expect } from 'chai';
import { query } from '../../../dev/postgres.ts';
import { createDatabase, startOwnPostgres } from '../../support/postgres.ts';

describe('test databases', () => {
  it('are migrated and independent of each other', async () => {
    const one = await createDatabase();
    const two = await createDatabase();
    await query(one.url, 'create table mine (n int)');
    const tables = `select to_regclass('public.mine') is not null as mine, to_regclass('public.knex_migrations') is not null as migrated`;
    expect((await query(one.url, tables)).rows).to.deep.equal([{ mine: true, migrated: true }]);
    expect((await query(two.url, tables)).rows).to.deep.equal([{ mine: false, migrated: true }]);
    await Promise.all([one.drop(), two.drop()]);
    const message = await query(one.url, 'select 1').catch((error: Error) => error.message);
    expect(message).to.contain('does not exist');
  });

  it('can be a separate server that a test kills and restarts', async () => {
    const own = await startOwnPostgres();
    await query(own.url, 'create table mine (n int); insert into mine values (1)');
    await own.kill();
    expect(await query(own.url, 'select 1').catch(() => 'unavailable')).to.equal('unavailable');
    await own.start();
    expect((await query(own.url, 'select n from mine')).rows).to.deep.equal([{ n: 1 }]);
    await own.stop();
  });
});
