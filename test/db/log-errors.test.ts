import { expect } from 'chai';
import { Contact } from '../../db/models/contact.ts';
import { statement } from '../../db/statement.ts';
import { serializeError } from '../../platform/logger.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../support/connected-database.ts';

const SECRET = 'ann.secret@example.com';

describe('logging a database error', () => {
  let database: ConnectedDatabase;
  let projectId: string;

  before(async () => {
    database = await connectTestDatabase();
    projectId = (await makeProject(database.db)).id;
    await database.db.raw(`
      create table log_errors (email text primary key, note text not null, number integer check (number > 0));
      create function log_errors_fail(given text) returns void language plpgsql as
        $$ begin execute format('insert into log_errors values (%L)', given); end $$;
    `);
    await database.db('log_errors').insert({ email: SECRET, note: 'x' });
  });
  after(() => database.close());

  const failure = async (work: PromiseLike<unknown>): Promise<Error> => {
    try {
      await work;
    } catch (error) {
      return error as Error;
    }
    throw new Error('it did not fail');
  };

  const cases: [string, () => PromiseLike<unknown>, string][] = [
    ['a knex query', () => database.db('log_errors').insert({ email: SECRET, note: 'x' }), '23505'],
    ['raw SQL', () => database.db.raw('insert into log_errors values (?, ?)', [SECRET, 'x']), '23505'],
    [
      'a prepared statement',
      () => statement('t', 'insert into log_errors values ($1)')(database.db, [SECRET]),
      '23502',
    ],
    [
      'a check constraint',
      () => database.db('log_errors').insert({ email: `x${SECRET}`, note: 'x', number: -1 }),
      '23514',
    ],
    [
      'a function, which adds where and internalQuery',
      () => database.db.raw('select log_errors_fail(?)', [SECRET]),
      '23502',
    ],
    ['a value that cannot be read', () => database.db('log_errors').where('number', SECRET), '22P02'],
    ['an Objection query', () => Contact.query(database.db).insert({ id: projectId, email: SECRET }), '23502'],
  ];
  for (const [what, work, code] of cases)
    it(`logs the code and no values for ${what}`, async () => {
      const error = await failure(work());
      const logged = JSON.stringify(serializeError(error));
      expect(logged).not.to.contain(SECRET);
      expect(logged).to.contain(code);
      const wrapped = JSON.stringify(
        serializeError(new AggregateError([new Error('outer', { cause: error })], 'several')),
      );
      expect(wrapped).not.to.contain(SECRET);
      expect(wrapped).to.contain(code);
    });

  it('logs table, constraint, statement and stack', async () => {
    const error = await failure(database.db('log_errors').insert({ email: SECRET, note: 'x' }));
    const logged = serializeError(error) as Record<string, unknown>;
    expect(logged).to.include({ code: '23505', table: 'log_errors', constraint: 'log_errors_pkey' });
    expect(logged.message).to.contain('insert into "log_errors"').and.contain('duplicate key value');
    expect(logged.stack).to.be.a('string');
  });

  it('serializes errors that are the cause of each other', () => {
    const one = new Error('one');
    const other = new Error('other');
    one.cause = other;
    other.cause = one;
    expect(JSON.stringify(serializeError(one))).to.contain('other');
  });
});
