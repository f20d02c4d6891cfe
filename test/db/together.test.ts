import { expect } from 'chai';
import { type Db, inTransaction } from '../../db/connect.ts';
import { together } from '../../db/together.ts';
import { eventually } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

describe('writing together', () => {
  let world: World;

  before(async () => {
    world = await openWorld();
    await world.db.raw("create table notes (team text not null, note text not null check (note <> 'bad'))");
  });
  beforeEach(() => world.db.raw('truncate notes'));
  after(() => world.close());

  function writer() {
    const statements: string[][] = [];
    const write = together(
      async (db: Db, team: string, notes: string[]) => {
        statements.push(notes);
        await db('notes').insert(notes.map((note) => ({ team, note })));
        return notes.map((note) => `${team}: ${note}`);
      },
      { key: (team) => team },
    );
    return { statements, write };
  }

  it('shares a statement between those of one group that come at the same time', async () => {
    const { statements, write } = writer();
    const asked = [['red', 'a'] as const, ['red', 'b'] as const, ['blue', 'c'] as const];
    const answers = await Promise.all(asked.map(([team, note]) => write(world.db, team, note)));
    expect(answers).to.deep.equal(['red: a', 'red: b', 'blue: c']);
    expect(statements).to.have.deep.members([['a', 'b'], ['c']]);
  });

  it('fails the one that cannot be written, and nobody who came with it', async () => {
    const { write } = writer();
    const notes = ['a', 'bad', 'c'];
    const results = await Promise.allSettled(notes.map((note) => write(world.db, 'red', note)));
    expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    const kept = await world.db('notes').orderBy('note');
    expect(kept.map(({ note }) => note)).to.deep.equal(['a', 'c']);
  });

  it('writes none again after an error that the server may have sent after its commit', async () => {
    const { statements, write } = writer();
    const lock = await world.db.transaction();
    await lock.raw('lock table notes');
    const results = Promise.allSettled(['a', 'b', 'c'].map((note) => write(world.db, 'red', note)));
    const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await eventually(async () => (await world.db.raw(terminate)).rowCount > 0);
    expect((await results).map(({ status }) => status)).to.deep.equal(['rejected', 'rejected', 'rejected']);
    await lock.rollback();
    expect(statements).to.deep.equal([['a', 'b', 'c']]);
  });

  it('keeps to the transaction of its caller', async () => {
    const { write } = writer();
    const rolledBack = inTransaction(world.db, async (trx) => {
      await write(trx, 'red', 'a');
      throw new Error('never mind');
    });
    await rolledBack.catch(() => {});
    await write(world.db, 'red', 'b');
    expect((await world.db('notes')).map(({ note }) => note)).to.deep.equal(['b']);
  });
});
