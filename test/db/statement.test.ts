import { expect } from 'chai';
import { joined, sql, sqlText } from '../../db/sql.ts';
import { queryCount, queryRows, statement } from '../../db/statement.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';

describe('a statement', () => {
  let database: ConnectedDatabase;

  before(async () => {
    database = await connectTestDatabase(2);
  });

  after(() => database.close());

  it('names columns in camelCase, and leaves what is inside a document', async () => {
    const read = statement(
      'test-names',
      `select 1 as project_id, 2 as "workflowId", 3 as sent_24h, null as empty, '{"from_email": 5}'::jsonb as content`,
    );
    const expected = { projectId: 1, workflowId: 2, sent24h: 3, empty: null, content: { from_email: 5 } };
    expect(await read(database.db)).to.deep.equal([expected]);
    expect(await read(database.db)).to.deep.equal([expected]);
  });

  it('counts the rows that it returned or changed', async () => {
    const numbers = statement<{ n: number }>('test-numbers', 'select n from generate_series(1, $1::integer) n');
    expect(await numbers.count(database.db, [3])).to.equal(3);
    expect(await numbers.count(database.db, [0])).to.equal(0);
    expect(await numbers(database.db, [0])).to.deep.equal([]);
  });
});

describe('composed SQL', () => {
  let database: ConnectedDatabase;

  before(async () => {
    database = await connectTestDatabase(2);
  });

  after(() => database.close());

  it('numbers the parameters of all its parts in order', async () => {
    const conditions = joined([sql`n > ${1}`, sql`n < ${4}`, sql`${'a?$1'}::text = ${'a?$1'}`], ' and ');
    const numbers = sql`select n as some_number from generate_series(${0}::integer, ${9}) n where ${conditions}`;
    expect(numbers.toQuery()).to.deep.equal({
      text: 'select n as some_number from generate_series($1::integer, $2) n where n > $3 and n < $4 and $5::text = $6',
      values: [0, 9, 1, 4, 'a?$1', 'a?$1'],
    });
    expect(await queryRows(database.db, numbers)).to.deep.equal([{ someNumber: 2 }, { someNumber: 3 }]);
    expect(await queryCount(database.db, numbers)).to.equal(2);
  });

  it('joins nothing to nothing, and keeps text of the program as it is', () => {
    expect(joined([], ' or ').toQuery()).to.deep.equal({ text: '', values: [] });
    expect(sql`select 1 from ${sqlText('emails')}`.toQuery()).to.deep.equal({
      text: 'select 1 from emails',
      values: [],
    });
  });
});
