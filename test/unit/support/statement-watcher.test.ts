import { expect } from 'chai';
import { loadModule } from 'libpg-query';
import { analyze, type Catalogue, unbound } from '../../support/sql-scope.ts';
import { StatementWatcher, trust } from '../../support/statement-watcher.ts';

const catalogue: Catalogue = {
  tables: new Map(
    Object.entries({
      projects: ['id', 'secret_key_hash'],
      contacts: ['id', 'project_id', 'email', 'data'],
      emails: ['id', 'project_id', 'contact_id', 'campaign_id', 'status'],
      campaigns: ['id', 'project_id', 'status'],
      email_attempts: ['email_id', 'number'],
    }).map(([name, columns]) => [name, new Set(columns)]),
  ),
  parents: new Map([['email_attempts', 'email_id']]),
  functions: new Map([
    ['write_contact', { takesProject: true }],
    ['current_contact', { takesProject: false }],
  ]),
};

const unboundTables = (sql: string): string[] => unbound(analyze(sql, catalogue)).map(({ name }) => name);

describe('the statement watcher', () => {
  before(loadModule);

  describe('accepts a statement', () => {
    const good = {
      'that compares the project': 'select * from contacts where project_id = $1 and email = $2',
      'with quoted names and aliases': 'select "c".* from "contacts" as "c" where "c"."project_id" = $1 limit $2',
      'that joins a row of the project by its id':
        'select 1 from emails e left join contacts c on c.id = e.contact_id where e.project_id = $1',
      'whose projects are equal, one of them a parameter':
        'select 1 from emails e join contacts c on c.project_id = e.project_id where c.project_id = any ($1::uuid[])',
      'with a common table expression of the project':
        'with cut as (select id from emails where project_id = $1) update emails e set status = $2 from cut where e.id = cut.id',
      'with the project in a common table expression of parameters':
        'with gone as (select $1::uuid as project_id) delete from contacts c using gone where c.project_id = gone.project_id',
      'with a subquery of the project': 'delete from emails where id in (select id from emails where project_id = $1)',
      'with a correlated subquery':
        'select (select count(*) from email_attempts a where a.email_id = e.id) from emails e where e.project_id = $1',
      'that compares tuples': 'select 1 from contacts c where (c.project_id, c.email) = ($1, $2)',
      'of both sides of a union':
        'select id from contacts where project_id = $1 union all select id from emails where project_id = $1',
      'that inserts the project': 'insert into contacts (id, project_id, email) values ($1, $2, $3)',
      'that inserts children of rows of the project':
        'insert into email_attempts (email_id, number) select id, 1 from emails where project_id = $1',
      'that reads the project itself': 'select * from projects where id = $1',
      'that calls a function with the project, and one with its result':
        'select c.* from write_contact($1, $2) as written, current_contact(written.id) as c',
      'with OR in parentheses and the project':
        "select 1 from emails where project_id = $1 and (status = 'SENT' or status = $2)",
      'without a tenant table': 'select pg_notify($1, $2)',
    };
    for (const [title, sql] of Object.entries(good)) it(title, () => expect(unboundTables(sql)).to.deep.equal([]));
  });

  describe('rejects a statement', () => {
    const bad: Record<string, [sql: string, ...tables: string[]]> = {
      'without the project': ['select * from contacts where id = $1', 'contacts'],
      'that only selects the project': ['select project_id = $1 from contacts', 'contacts'],
      'with the project in a comment or a string': [
        "select 1 /* project_id = $1 */ from contacts where email = 'project_id = $1'",
        'contacts',
      ],
      'with the project on one side of OR': ['select 1 from contacts where project_id = $1 or email = $2', 'contacts'],
      'that excludes the project': ['select 1 from contacts where not project_id = $1', 'contacts'],
      'that excludes a list of projects': ['select 1 from contacts where project_id not in ($1, $2)', 'contacts'],
      'with the project only in a CASE': [
        'select 1 from contacts where case when project_id = $1 then true else true end',
        'contacts',
      ],
      'that compares the project with itself': ['select 1 from contacts where project_id = project_id', 'contacts'],
      'that falls back to any project': [
        'select 1 from contacts where project_id = coalesce($1, project_id)',
        'contacts',
      ],
      'whose projects are equal, none of them a parameter': [
        'select 1 from emails e join contacts c on c.project_id = e.project_id',
        'emails',
        'contacts',
      ],
      'that joins by another column than an id': [
        'select 1 from emails e join campaigns c on c.status = e.status where e.project_id = $1',
        'campaigns',
      ],
      'with the project only in an outer join': [
        'select 1 from emails e left join contacts c on c.id = e.contact_id and c.project_id = $1',
        'emails',
      ],
      'with the project only in a subquery of another table': [
        'select (select 1 from contacts c where c.id = e.contact_id and c.project_id = $1) from emails e',
        'emails',
      ],
      'with the project in only one side of a union': [
        'select id from contacts where project_id = $1 union select id from emails',
        'emails',
      ],
      'with a second table in the list': ['select 1 from contacts c, emails e where c.project_id = $1', 'emails'],
      'that updates by id': ['update emails set project_id = $1, status = $2 where id = $3', 'emails'],
      'that deletes by id': [
        'delete from emails using contacts c where c.project_id = $1 and emails.id = $2',
        'emails',
      ],
      'hidden in a common table expression': [
        'with x as (delete from emails returning id) select count(*) from x',
        'emails',
      ],
      'hidden in an argument': ['select coalesce((select max(id) from emails), $1)', 'emails'],
      'that inserts without the project': ['insert into email_attempts (email_id) values ($1)', 'email_attempts'],
      'that calls a function without the project': ['select current_contact($1)', 'current_contact'],
      'that deletes from a table with the name of a common table expression': [
        'with emails as (select $1::uuid as id) delete from emails where id = $1',
        'emails',
      ],
      'whose project equals all of a list, which may be empty': [
        'select 1 from contacts where project_id = all ($1::uuid[])',
        'contacts',
      ],
      'that joins a third table by a column of an unrelated one': [
        'select 1 from campaigns k join emails e using (status) join emails f using (contact_id) where k.project_id = $1',
        'emails',
        'emails',
      ],
      'that merges': [
        'with m as (merge into emails e using contacts c on e.contact_id = c.id when matched then delete returning e.id) select from m',
        'emails',
        'contacts',
      ],
      'of another kind': ['truncate emails', 'emails'],
    };
    for (const [title, [sql, ...tables]] of Object.entries(bad))
      it(title, () => expect(unboundTables(sql)).to.deep.equal(tables));
  });

  const id = '0192f0c1-0000-7000-8000-000000000001';
  const foreign = '0192f0c1-0000-7000-8000-000000000002';
  const byId = 'select * from email_attempts where email_id = $1';

  it('accepts ids that the same request read within the project, and no others', () => {
    const watcher = new StatementWatcher(catalogue, []);
    const trusted = new Set<string>();
    expect(watcher.check({ text: 'select id from emails where project_id = $1' }, 'a test', trusted)).to.equal(true);
    trust({ rows: [{ id, data: { id: foreign } }], command: '', rowCount: 1, oid: 0, fields: [] }, trusted);
    expect(watcher.check({ text: byId, values: [id] }, 'a test', trusted)).to.equal(true);
    const insert = 'insert into email_attempts (number, email_id) values ($1, $2), ($3, $4)';
    expect(watcher.check({ text: insert, values: [1, id, 2, id] }, 'a test', trusted)).to.equal(true);
    expect([...watcher.violations.values()]).to.deep.equal([]);

    expect(watcher.check({ text: insert, values: [1, id, 2, foreign] }, 'a test', trusted)).to.equal(false);
    expect(watcher.check({ text: byId, values: [foreign] }, 'another test', trusted)).to.equal(false);
    expect(watcher.check({ text: byId, values: [id] }, 'another request', new Set())).to.equal(false);
    expect([...watcher.violations.values()].map(({ tables, test }) => [tables, test])).to.deep.equal([
      [['email_attempts'], 'a test'],
      [['email_attempts'], 'another test'],
    ]);
  });

  it('reports a statement that cannot be parsed', () => {
    const watcher = new StatementWatcher(catalogue, []);
    expect(watcher.check({ text: 'select from where' }, 'a test')).to.equal(false);
    expect([...watcher.violations.values()]).to.deep.equal([
      { statement: 'select from where', tables: [], test: 'a test', error: 'syntax error at or near "where"' },
    ]);
  });

  it('accepts an allowed statement for its tables only, and reports unused entries', () => {
    const statement = 'select $n from contacts, emails';
    const allowed = [
      { statement, tables: ['contacts'], reason: 'of a test' },
      { statement: 'attempts', tables: ['email_attempts'], reason: 'of a test' },
    ];
    const watcher = new StatementWatcher(catalogue, allowed);
    watcher.check({ text: 'select $1\n  from contacts, -- all\n emails' }, 'a test');
    expect([...watcher.violations.values()]).to.deep.equal([{ statement, tables: ['emails'], test: 'a test' }]);
    expect(watcher.unused()).to.deep.equal(['attempts']);
    watcher.check({ name: 'attempts', text: byId, values: [id] }, 'a test');
    expect(watcher.violations.size).to.equal(1);
    expect(watcher.unused()).to.deep.equal([]);
  });
});
