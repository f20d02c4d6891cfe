import { expect } from 'chai';
import { coalesceWrites } from '../../db/coalesce-writes.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { eventually } from '../support/waiting.ts';

describe('coalesced writes', () => {
  let database: ConnectedDatabase;

  before(async () => {
    database = await connectTestDatabase();
    await database.db.raw("create table items (team text not null, item text not null check (item <> 'bad'))");
  });
  beforeEach(() => database.db.raw('truncate items'));
  after(() => database.close());

  function writer() {
    const statements: string[][] = [];
    const write = coalesceWrites(
      async (db: Db, team: string, items: string[]) => {
        statements.push(items);
        await db('items').insert(items.map((item) => ({ team, item })));
        return items.map((item) => `${team}: ${item}`);
      },
      { key: (team) => team },
    );
    return { statements, write };
  }

  it('writes concurrent items of one group in one statement', async () => {
    const { statements, write } = writer();
    const writes = [['red', 'a'] as const, ['red', 'b'] as const, ['blue', 'c'] as const];
    const results = await Promise.all(writes.map(([team, item]) => write(database.db, team, item)));
    expect(results).to.deep.equal(['red: a', 'red: b', 'blue: c']);
    expect(statements).to.have.deep.members([['a', 'b'], ['c']]);
  });

  it('rejects only the invalid item of a shared statement', async () => {
    const { write } = writer();
    const items = ['a', 'bad', 'c'];
    const results = await Promise.allSettled(items.map((item) => write(database.db, 'red', item)));
    expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    const rows = await database.db('items').orderBy('item');
    expect(rows.map(({ item }) => item)).to.deep.equal(['a', 'c']);
  });

  it('retries no item after an error that leaves the outcome unknown', async () => {
    const { statements, write } = writer();
    const lock = await database.db.transaction();
    await lock.raw('lock table items');
    const results = Promise.allSettled(['a', 'b', 'c'].map((item) => write(database.db, 'red', item)));
    const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await eventually(async () => (await database.db.raw(terminate)).rowCount > 0);
    expect((await results).map(({ status }) => status)).to.deep.equal(['rejected', 'rejected', 'rejected']);
    await lock.rollback();
    expect(statements).to.deep.equal([['a', 'b', 'c']]);
  });

  it('writes in the transaction of the caller', async () => {
    const { write } = writer();
    const rolledBack = inTransaction(database.db, async (trx) => {
      await write(trx, 'red', 'a');
      throw new Error('never mind');
    });
    await rolledBack.catch(() => {});
    await write(database.db, 'red', 'b');
    expect((await database.db('items')).map(({ item }) => item)).to.deep.equal(['b']);
  });
});
