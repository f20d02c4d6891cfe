import { expect } from 'chai';
import type { Db } from '../../../db/connect.ts';
import { readContactCounts, readFields } from '../../../db/models/contact-counts.ts';
import { aggregateContactCounts, countContacts } from '../../../services/contacts/counts.ts';
import { saveContact, updateContact } from '../../../services/contacts/save.ts';
import { writeContacts } from '../../../services/contacts/write.ts';
import { deleteContacts } from '../../../services/removal/contact.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { storedContacts } from '../../support/rows/contacts.ts';

describe('counting contacts', () => {
  let database: ConnectedDatabase;
  let db: Db;

  before(async () => {
    database = await connectTestDatabase();
    ({ db } = database);
  });
  after(() => database.close());

  const fieldsOf = async ({ id }: TestProject) =>
    Object.fromEntries(
      (await readFields(db, id, { limit: 100 })).fields.map(({ key, type, contacts }) => [key, [type, contacts]]),
    );

  /** Counts by reading all contacts. */
  async function scanned({ id }: TestProject) {
    const contacts = await storedContacts(db, { projectId: id });
    const keys: Record<string, number> = {};
    for (const { data } of contacts) for (const key of Object.keys(data)) keys[key] = (keys[key] ?? 0) + 1;
    return { contacts: contacts.length, subscribed: contacts.filter(({ subscribed }) => subscribed).length, keys };
  }

  async function counted(project: TestProject) {
    const { contacts, subscribed } = await readContactCounts(db, project.id);
    const fields = Object.entries(await fieldsOf(project)).filter(([, [, n]]) => n !== 0);
    return { contacts, subscribed, keys: Object.fromEntries(fields.map(([key, [, n]]) => [key, n])) };
  }

  it('counts 0 in an empty project', async () => {
    const project = await makeProject(db);
    expect(await countContacts(db, project.id)).to.equal(0);
    expect(await fieldsOf(project)).to.deep.equal({});
  });

  it('is exact after every kind of write, before and after aggregation', async () => {
    const project = await makeProject(db);
    const { access, id } = project;
    const save = (email: string, rest: object = {}) => saveContact(db, access, { email, ...rest });
    const agree = async () => expect(await counted(project)).to.deep.equal(await scanned(project));

    const { contact: ann } = await save('ann@example.com', { data: { plan: 'pro', age: 3 } });
    await save('bob@example.com', { subscribed: false, data: { plan: 'free' } });
    await agree();
    await aggregateContactCounts(db);
    await agree();
    await save('ann@example.com', { data: { plan: null, city: 'Ulm' } });
    await save('bob@example.com', { subscribed: true });
    await updateContact(db, access, ann.id, { email: 'anna@example.com', subscribed: false, data: { age: 4 } });
    await agree();
    const writes = Array.from({ length: 50 }, (_, n) => ({
      email: `many${n}@example.com`,
      subscribedWhenNew: n % 2 === 0,
      patch: { n, [`k${n % 3}`]: true },
      deletes: [],
    }));
    const { written } = await writeContacts(db, id, writes);
    await agree();
    await deleteContacts(db, id, [ann.id, ...written.slice(0, 20).map((contact) => contact.id)]);
    await agree();
    await aggregateContactCounts(db);
    await agree();
    expect(await countContacts(db, id)).to.equal(31);
    expect(await countContacts(db, id, { subscribed: true })).to.equal((await scanned(project)).subscribed);
  });

  it('appends no delta when neither the keys nor the subscription change', async () => {
    const { access, id } = await makeProject(db);
    await saveContact(db, access, { email: 'ann@example.com', data: { plan: 'pro' } });
    await aggregateContactCounts(db);
    await saveContact(db, access, { email: 'ann@example.com', data: { plan: 'free' } });
    await saveContact(db, access, { email: 'ann@example.com', data: { plan: 'free' } });
    expect((await readContactCounts(db, id)).pending).to.equal(0);
  });

  it('is exact when contacts are created and deltas aggregated concurrently', async () => {
    const project = await makeProject(db);
    const work = Array.from({ length: 60 }, (_, n) =>
      n % 5 === 0
        ? aggregateContactCounts(db)
        : saveContact(db, project.access, { email: `c${n}@example.com`, data: { [`k${n % 4}`]: n } }),
    );
    await Promise.all(work);
    await Promise.all([aggregateContactCounts(db), aggregateContactCounts(db), aggregateContactCounts(db)]);
    expect(await counted(project)).to.deep.equal(await scanned(project));
    expect(await countContacts(db, project.id)).to.equal(48);
  });

  it('does not block a creation while another one is uncommitted', async () => {
    const project = await makeProject(db);
    const open = await db.transaction();
    try {
      await saveContact(open, project.access, { email: 'slow@example.com', data: { first: 1 } });
      await saveContact(db, project.access, { email: 'quick@example.com', data: { first: 2 } });
      expect(await countContacts(db, project.id)).to.equal(1);
      await open.commit();
    } finally {
      if (!open.isCompleted()) await open.rollback();
    }
    expect(await countContacts(db, project.id)).to.equal(2);
  });

  it('does not count a contact that was rolled back', async () => {
    const project = await makeProject(db);
    const open = await db.transaction();
    await saveContact(open, project.access, { email: 'gone@example.com', data: { x: 1 } });
    await open.rollback();
    expect(await counted(project)).to.deep.equal({ contacts: 0, subscribed: 0, keys: {} });
  });

  it('aggregates on read when more than 2,000 deltas are pending', async () => {
    const { id } = await makeProject(db);
    const writes = (from: number) =>
      Array.from({ length: 1_000 }, (_, n) => ({
        email: `c${from + n}@example.com`,
        subscribedWhenNew: true,
        patch: {},
        deletes: [],
      }));
    for (const from of [0, 1_000, 2_000]) await writeContacts(db, id, writes(from));
    expect((await readContactCounts(db, id)).pending).to.equal(3_000);
    expect(await countContacts(db, id)).to.equal(3_000);
    expect(await readContactCounts(db, id)).to.deep.equal({ contacts: 3_000, subscribed: 3_000, pending: 0 });
  });

  describe('the type of a key', () => {
    const types: [string, unknown, string][] = [
      ['a whole number', 3, 'number'],
      ['a decimal', -0.5, 'number'],
      ['true', true, 'boolean'],
      ['false', false, 'boolean'],
      ['a day', '2026-03-30', 'date'],
      ['a date-time', '2026-03-30T12:00:00Z', 'date'],
      ['a date-time with milliseconds', '2026-03-30T12:00:00.123Z', 'date'],
      ['a date-time with an offset', '2026-03-30T12:00:00+02:00', 'string'],
      ['a day with a space behind it', '2026-03-30 ', 'string'],
      ['a number in quotes', '3', 'string'],
      ['text', 'blue', 'string'],
      ['an object', { a: 1 }, 'string'],
      ['an array', [1], 'string'],
    ];
    for (const [what, value, type] of types)
      it(`is ${type} for ${what}`, async () => {
        const project = await makeProject(db);
        await saveContact(db, project.access, { email: 'ann@example.com', data: { key: value } });
        expect(await fieldsOf(project)).to.deep.equal({ key: [type, 1] });
        await aggregateContactCounts(db);
        expect(await fieldsOf(project)).to.deep.equal({ key: [type, 1] });
      });

    it('is that of the first value, before and after aggregation', async () => {
      const project = await makeProject(db);
      const save = (email: string, key: unknown) => saveContact(db, project.access, { email, data: { key } });
      await save('ann@example.com', 5);
      await save('bob@example.com', 'five');
      expect(await fieldsOf(project)).to.deep.equal({ key: ['number', 2] });
      await aggregateContactCounts(db);
      await save('ann@example.com', null);
      await save('bob@example.com', null);
      await save('eve@example.com', true);
      expect(await fieldsOf(project)).to.deep.equal({ key: ['number', 1] });
      await aggregateContactCounts(db);
      expect(await fieldsOf(project)).to.deep.equal({ key: ['number', 1] });
    });

    it('ignores a value that is not stored', async () => {
      const project = await makeProject(db);
      const data = {
        nothing: null,
        empty: '',
        once: { value: 1, persistent: false },
        kept: { value: 1, persistent: true },
      };
      await saveContact(db, project.access, { email: 'ann@example.com', data });
      expect(await fieldsOf(project)).to.deep.equal({ kept: ['number', 1] });
    });
  });
});
