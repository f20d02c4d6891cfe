import { expect } from 'chai';
import type { Knex } from 'knex';
import type { Db } from '../../../db/connect.ts';
import { Contact, type ContactRecord } from '../../../db/models/contact.ts';
import type { SigningKeys } from '../../../platform/crypto/signed-token.ts';
import { ApiError } from '../../../platform/errors.ts';
import { type ContactsQuery, listContacts } from '../../../services/contacts/list.ts';
import { saveContact } from '../../../services/contacts/save.ts';
import { cleanContactIndexes } from '../../../services/contacts/upkeep.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { analyzeTables } from '../../support/rows/tables.ts';
import { statementsOf } from '../../support/sent-statements.ts';

const keys: SigningKeys = ['a key of the tests'];
const defaults = { limit: 100, sort: 'createdAt', dir: 'desc' } as const;

describe('listing contacts', () => {
  let database: ConnectedDatabase;
  let db: Db;

  before(async () => {
    database = await connectTestDatabase();
    ({ db } = database);
  });
  after(() => database.close());

  const list = (project: TestProject, query: Partial<ContactsQuery> = {}) =>
    listContacts(db, project.id, keys, { ...defaults, ...query });

  /** Reads all pages, and returns the total of the first one. */
  async function walk(project: TestProject, query: Partial<ContactsQuery>) {
    const contacts: ContactRecord[] = [];
    let { data, cursor, hasMore, total } = await list(project, query);
    const first = total;
    for (contacts.push(...data); hasMore; contacts.push(...data)) {
      expect(cursor).to.be.a('string');
      ({ data, cursor, hasMore, total } = await list(project, { ...query, cursor: cursor ?? '' }));
      expect(total).to.equal(0);
      expect(data).not.to.deep.equal([]);
    }
    expect(cursor).to.equal(null);
    return { contacts, total: first };
  }

  /** Creates contacts in one statement. Several have the same time, so that the order depends on ids. */
  async function populate(count: number): Promise<TestProject> {
    const project = await makeProject(db);
    await db.raw(
      `insert into contacts (id, project_id, email, subscribed, data, created_at)
       select gen_random_uuid(), ?, md5(n::text) || case when n % 7 = 0 then '.needle' else '' end || '@example.com', n % 3 <> 0,
         jsonb_build_object('n', n, 'even', n % 2 = 0, 'plan', case when n % 5 = 0 then 'pro' else 'free' end,
           'age', case when n % 2 = 0 then to_jsonb(n % 4) else to_jsonb((n % 4)::text) end, 'old', n <= ? / 3),
         timestamptz '2026-01-01' + (n / 3) * interval '1 microsecond'
       from generate_series(1, ?) n`,
      [project.id, count, count],
    );
    return project;
  }

  const read = new Map<string, Promise<Contact[]>>();

  /** Returns all contacts in this order, read once. */
  function allContacts({ id }: TestProject, { sort, dir }: Partial<ContactsQuery>): Promise<Contact[]> {
    const name = [id, sort, dir].join();
    const column = sort === 'email' ? 'email' : 'createdAt';
    const rows =
      read.get(name) ??
      Contact.query(db)
        .where({ projectId: id })
        .orderBy([column, 'id'].map((by) => ({ column: by, order: dir })));
    read.set(name, Promise.resolve(rows));
    return Promise.resolve(rows);
  }

  /** Returns the expected list, by filtering all contacts. */
  async function expected(project: TestProject, { sort, dir, ...filter }: Partial<ContactsQuery>): Promise<string[]> {
    const rows = await allContacts(project, { sort, dir });
    return rows
      .filter(({ email, subscribed, data }) => {
        if (filter.subscribed !== undefined && subscribed !== filter.subscribed) return false;
        if (filter.search && !email.includes(filter.search.toLowerCase())) return false;
        return Object.entries(filter.data ?? {}).every(([key, value]) => String(data[key]) === value);
      })
      .map(({ email }) => email);
  }

  const filters: [string, Partial<ContactsQuery>][] = [
    ['all contacts', {}],
    ['subscribed contacts', { subscribed: true }],
    ['unsubscribed contacts', { subscribed: false }],
    ['a part of the address', { search: 'needle' }],
    ['a part of the address in capitals', { search: 'NEEDLE@EX' }],
    ['two characters', { search: 'a3' }],
    ['a part of no address', { search: 'no-contact-has-this' }],
    ['a part of all addresses', { search: '@example.com' }],
    ['a text', { data: { plan: 'pro' } }],
    ['a boolean', { data: { even: 'true' } }],
    ['a number or the text that looks like it', { data: { age: '3' } }],
    ['a text of no contact', { data: { plan: 'gold' } }],
    ['several filters', { search: 'needle', subscribed: true, data: { even: 'false', plan: 'pro' } }],
  ];
  const orders = (['createdAt', 'email'] as const).flatMap((sort) =>
    (['asc', 'desc'] as const).map((dir) => ({ sort, dir })),
  );

  describe('with 300 contacts', () => {
    let project: TestProject;
    before(async () => {
      project = await populate(300);
    });

    for (const [what, filter] of filters)
      for (const order of orders)
        it(`finds ${what}, by ${order.sort} ${order.dir}, page by page`, async () => {
          const query = { ...filter, ...order, limit: 17 };
          const { contacts, total } = await walk(project, query);
          const emails = await expected(project, query);
          expect(contacts.map(({ email }) => email)).to.deep.equal(emails);
          expect(total).to.equal(emails.length);
        });
  });

  // With more than 5,000 matches, up to 10,000 rows are scanned in list order before the indexes are used.
  describe('with 16,000 contacts', () => {
    let project: TestProject;
    before(async () => {
      project = await populate(16_000);
      await cleanContactIndexes(db);
      await analyzeTables(db, 'contacts');
    });

    const many: [string, Partial<ContactsQuery>][] = [
      ['all contacts', {}],
      ['a part of all addresses', { search: 'example' }],
      ['a value of most contacts', { data: { plan: 'free' } }],
      ['subscribed contacts', { subscribed: true }],
      ['a value of the oldest contacts', { data: { old: 'true' } }],
      ['the oldest contacts with a part of the address', { search: 'example', data: { old: 'true' } }],
      ['few contacts', { search: 'needle' }],
    ];
    for (const [what, filter] of many)
      for (const order of orders)
        it(`finds ${what}, by ${order.sort} ${order.dir}`, async () => {
          const query = { ...filter, ...order };
          const emails = await expected(project, query);
          const first = await list(project, query);
          expect(first.total).to.equal(emails.length);
          const second = await list(project, { ...query, cursor: first.cursor ?? '' });
          const found = [...first.data, ...second.data].map(({ email }) => email);
          expect(found).to.deep.equal(emails.slice(0, 200));
        });

    const plans: [string, Partial<ContactsQuery>, string][] = [
      ['the page', {}, 'contacts_created'],
      ['the page of the unsubscribed', { subscribed: false }, 'contacts_created'],
      ['the page by address', { sort: 'email' }, 'contacts_project_id_email_key'],
      ['a rare part of the address', { search: 'c4ca4238' }, 'contacts_search'],
      ['a rare value', { data: { n: '77' } }, 'contacts_data'],
    ];
    for (const [what, query, index] of plans)
      it(`finds ${what} by ${index}, without reading the table`, async () => {
        const page = (await statementsOf(() => list(project, { limit: 20, ...query }))).at(-1);
        const { rows } = await db.raw(
          `explain ${page?.text.replace(/\$\d+/g, '?')}`,
          (page?.values ?? []) as Knex.RawBinding[],
        );
        const plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
        expect(plan).to.include(index).and.not.include('Seq Scan');
      });

    it('returns all pages of a long list', async () => {
      const query = { search: 'example', data: { plan: 'free' } };
      const { contacts } = await walk(project, query);
      expect(contacts.map(({ email }) => email)).to.deep.equal(await expected(project, { ...defaults, ...query }));
    });
  });

  it('returns no contact of another project', async () => {
    const project = await populate(5);
    const other = await populate(5);
    const mine = await list(project, { search: 'example' });
    expect(mine.total).to.equal(5);
    const theirs = new Set((await list(other)).data.map(({ id }) => id));
    expect(mine.data.filter(({ id }) => theirs.has(id))).to.deep.equal([]);
  });

  it('returns no contact of another project when one project has nearly all contacts', async () => {
    const project = await populate(50);
    const other = await populate(50);
    await analyzeTables(db, 'contacts');
    // With this count the query filters rows by project instead of using the index.
    await db('contact_counts').insert({ projectId: project.id, contacts: 1_000_000, subscribed: 0 });
    const queries: Partial<ContactsQuery>[] = [
      { search: 'needle' },
      { data: { plan: 'pro' } },
      { search: 'needle', data: { even: 'true' } },
    ];
    const statements = await statementsOf(async () => {
      for (const query of queries) {
        const found = (await list(project, query)).data.map(({ email }) => email);
        expect(found).to.deep.equal(await expected(project, { ...defaults, ...query }));
        expect(found).to.have.length.greaterThan(0);
        expect((await list(other, query)).total).to.equal(found.length);
      }
    });
    expect(statements.filter(({ text }) => text.includes('is not false'))).to.have.lengthOf(3);
  });

  it('neither repeats nor skips a contact while others are created and deleted', async () => {
    const project = await makeProject(db);
    const save = (email: string) => saveContact(db, project.access, { email });
    for (let n = 0; n < 9; n++) await save(`c${n}@example.com`);
    const first = await list(project, { limit: 3 });
    expect(first.data.map(({ email }) => email)).to.deep.equal(['c8@example.com', 'c7@example.com', 'c6@example.com']);
    await save('newer@example.com');
    await db('contacts').where({ projectId: project.id }).whereIn('email', ['c6@example.com', 'c4@example.com']).del();
    const second = await list(project, { limit: 3, cursor: first.cursor ?? '' });
    expect(second.data.map(({ email }) => email)).to.deep.equal(['c5@example.com', 'c3@example.com', 'c2@example.com']);
  });

  it('searches for pattern characters literally', async () => {
    const project = await makeProject(db);
    for (const email of [
      '100%@example.com',
      '100x@example.com',
      'a_b@example.com',
      'axb@example.com',
      "o'neil@example.com",
    ])
      await saveContact(db, project.access, { email });
    const found = async (search: string) => (await list(project, { search })).data.map(({ email }) => email);
    expect(await found('0%@')).to.deep.equal(['100%@example.com']);
    expect(await found('a_b')).to.deep.equal(['a_b@example.com']);
    expect(await found("o'n")).to.deep.equal(["o'neil@example.com"]);
    expect(await found('\\')).to.deep.equal([]);
  });

  describe('by a value in data', () => {
    let project: TestProject;
    before(async () => {
      project = await makeProject(db);
      const values = {
        number: 30,
        text: '30',
        decimal: 30.5,
        list: [30],
        nested: { age: 30 },
        true: true,
        'text true': 'true',
        large: 1e21,
        quote: 'a"b\\',
      };
      for (const [name, age] of Object.entries(values))
        await saveContact(db, project.access, {
          email: `${name.replace(' ', '-')}@example.com`,
          data: { age, 'a.b "c"': name },
        });
    });
    const found = async (data: Record<string, string>) =>
      (await list(project, { data, sort: 'email', dir: 'asc' })).data.map(({ email }) => email.split('@')[0]);

    for (const [value, names] of [
      ['30', ['number', 'text']],
      ['30.0', ['number']],
      ['3e1', ['number']],
      ['30.5', ['decimal']],
      ['true', ['text-true', 'true']],
      ['false', []],
      ['[30]', []],
      ['null', []],
      ['', []],
      ['1e21', ['large']],
      ['1000000000000000000000', ['large']],
      ['1e999999', []],
      ['a"b\\', ['quote']],
    ] as const)
      it(`finds ${JSON.stringify(value)} in ${names.length} contacts`, async () => {
        expect(await found({ age: value })).to.deep.equal(names);
      });

    it('accepts any key', async () => {
      expect(await found({ 'a.b "c"': 'list' })).to.deep.equal(['list']);
      expect(await found({ constructor: 'x' })).to.deep.equal([]);
    });
  });

  it('rejects a cursor of another project, order or direction, and a changed one, with 400', async () => {
    const project = await populate(5);
    const other = await populate(5);
    const { cursor } = await list(project, { limit: 2 });
    const refused = async (query: Partial<ContactsQuery>, where = project) => {
      const error = await list(where, { limit: 2, cursor: cursor ?? '', ...query }).catch((reason) => reason);
      expect(error).to.be.instanceOf(ApiError).and.include({ status: 400, code: 'BAD_REQUEST' });
    };
    await refused({}, other);
    await refused({ sort: 'email' });
    await refused({ dir: 'asc' });
    await refused({ cursor: `x${cursor}` });
    expect((await list(project, { limit: 2, cursor: cursor ?? '' })).data).to.have.lengthOf(2);
  });
});
