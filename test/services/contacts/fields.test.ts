import { expect } from 'chai';
import type { Db } from '../../../db/connect.ts';
import { ApiError } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { aggregateContactCounts } from '../../../services/contacts/counts.ts';
import { deleteField } from '../../../services/contacts/field-delete.ts';
import { listFieldValues } from '../../../services/contacts/field-values.ts';
import { listFields } from '../../../services/contacts/fields.ts';
import { saveContact } from '../../../services/contacts/save.ts';
import { findFieldUsage } from '../../../services/usage/field.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { addSegment, storedContacts } from '../../support/rows/contacts.ts';

describe('contact fields', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase();
    ({ db } = database);
  });
  after(() => database.close());
  beforeEach(async () => {
    project = await makeProject(db);
  });

  const save = (name: string, data: Record<string, unknown> = {}, subscribed = true) =>
    saveContact(db, project.access, { email: `${name}@example.com`, subscribed, data });
  const custom = async () => (await listFields(db, project.id)).filter(({ isCustom }) => isCustom);
  const values = async (name: string, limit = 100) => (await listFieldValues(db, project.id, name, limit)).values;

  it('lists standard fields first, then keys by name, with their coverage', async () => {
    await save('ann', { plan: 'pro', age: 3, 'first name': 'Ann' });
    await save('bob', { plan: 'free' });
    await save('eve');
    await save('dan', { age: 4 });
    expect(await listFields(db, project.id)).to.deep.equal([
      { field: 'email', type: 'string', isCustom: false, coverage: 1 },
      { field: 'subscribed', type: 'boolean', isCustom: false, coverage: 1 },
      { field: 'createdAt', type: 'date', isCustom: false, coverage: 1 },
      { field: 'updatedAt', type: 'date', isCustom: false, coverage: 1 },
      { field: 'data.age', type: 'number', isCustom: true, coverage: 0.5 },
      { field: 'data.first name', type: 'string', isCustom: true, coverage: 0.25 },
      { field: 'data.plan', type: 'string', isCustom: true, coverage: 0.5 },
    ]);
  });

  it('have a coverage of 0 in an empty project', async () => {
    expect((await listFields(db, project.id)).map(({ coverage }) => coverage)).to.deep.equal([0, 0, 0, 0]);
  });

  it('keeps a field with coverage 0 and its type when the last contact loses it', async () => {
    await save('ann', { plan: 'pro' });
    await save('ann', { plan: null });
    expect(await custom()).to.deep.equal([{ field: 'data.plan', type: 'string', isCustom: true, coverage: 0 }]);
  });

  describe('values', () => {
    it('returns distinct values of all types, sorted', async () => {
      await save('ann', { plan: 'pro', 'a/b.c': 2 });
      await save('bob', { plan: 'free', 'a/b.c': '2' });
      await save('eve', { plan: 'pro', 'a/b.c': { x: [1] } });
      await save('dan', { other: 1 });
      expect(await values('data.plan')).to.deep.equal(['free', 'pro']);
      expect(await values('plan')).to.deep.equal(['free', 'pro']);
      expect(await values('data.a/b.c')).to.have.deep.members([2, '2', { x: [1] }]);
      expect(await values('data.unknown')).to.deep.equal([]);
    });

    it('returns at most the limit', async () => {
      for (let n = 0; n < 5; n++) await save(`c${n}`, { n });
      expect(await values('n', 3)).to.deep.equal([0, 1, 2]);
    });

    it('returns the values of standard fields', async () => {
      const { contact } = await save('ann');
      await save('bob', {}, false);
      expect(await values('email')).to.deep.equal(['ann@example.com', 'bob@example.com']);
      expect(await values('subscribed')).to.deep.equal([false, true]);
      expect(await values('createdAt')).to.deep.include(contact.createdAt);
    });
  });

  describe('usage', () => {
    const segment = (name: string, condition: object) =>
      addSegment(db, {
        id: newId(),
        projectId: project.id,
        slug: name,
        name,
        type: 'DYNAMIC',
        condition: JSON.stringify({ logic: 'AND', groups: [{ filters: [condition] }] }),
      });

    it('returns the segments that refer to a field, and the number of contacts', async () => {
      await save('ann', { plan: 'pro', 'first name': 'Ann' });
      await save('bob', { plan: 'free' });
      await segment('pros', { field: 'data.plan', operator: 'equals', value: 'pro' });
      await segment('anns', { field: 'data["first name"]', operator: 'equals', value: 'Ann' });
      await segment('inner', { field: 'data.plan.tier', operator: 'exists' });
      const plan = await findFieldUsage(db, project.id, 'data.plan');
      expect(plan.usedInSegments.map(({ name }) => name)).to.deep.equal(['inner', 'pros']);
      expect(plan).to.deep.include({ usedInCampaigns: [], usedInWorkflows: [], contactCount: 2, canDelete: false });
      const first = await findFieldUsage(db, project.id, 'first name');
      expect(first.usedInSegments.map(({ name }) => name)).to.deep.equal(['anns']);
      expect(await findFieldUsage(db, project.id, 'data.unused')).to.deep.equal({
        usedInSegments: [],
        usedInCampaigns: [],
        usedInWorkflows: [],
        contactCount: 0,
        canDelete: true,
      });
    });

    it('returns canDelete false for a standard field', async () => {
      await save('ann');
      expect(await findFieldUsage(db, project.id, 'email')).to.include({ contactCount: 1, canDelete: false });
    });
  });

  describe('deletion', () => {
    it('removes the field from all contacts of the project only, and deletes its type', async () => {
      const other = await makeProject(db);
      await saveContact(db, other.access, { email: 'ann@example.com', data: { plan: 'pro' } });
      await save('ann', { plan: 'pro', age: 3 });
      await save('bob', { plan: 'free' });
      await save('eve', { age: 4 });
      expect(await deleteField(db, project.access, 'data.plan')).to.equal(2);
      const rows = await storedContacts(db, { projectId: project.id });
      expect(rows.map(({ data }) => data)).to.deep.equal([{ age: 3 }, {}, { age: 4 }]);
      expect((await storedContacts(db, { projectId: other.id }).first()).data).to.deep.equal({ plan: 'pro' });
      expect((await custom()).map(({ field }) => field)).to.deep.equal(['data.age']);
      await save('ann', { plan: 7 });
      expect((await custom()).find(({ field }) => field === 'data.plan')).to.deep.include({ type: 'number' });
      expect(await deleteField(db, project.access, 'plan')).to.equal(1);
      expect(await deleteField(db, project.access, 'plan')).to.equal(0);
    });

    // Up to 5,000 contacts are found by the index of keys; more, by reading all contacts.
    for (const [what, having] of [
      ['few', 2_100],
      ['many', 5_100],
    ] as const)
      it(`removes the field in chunks when ${what} contacts have it, also after an interrupted call`, async () => {
        await db.raw(
          `insert into contacts (id, project_id, email, subscribed, data)
           select gen_random_uuid(), ?, 'c' || n || '@example.com', true,
             case when n <= ? then jsonb_build_object('n', n, 'gone', n) else jsonb_build_object('n', n) end
           from generate_series(1, ?::integer + 50) n`,
          [project.id, having, having],
        );
        // The state after an interrupted call.
        const { rowCount: before } = await db.raw(
          "update contacts set data = data - 'gone' where project_id = ? and email < 'c12' and data \\? 'gone'",
          [project.id],
        );
        expect(before).to.be.greaterThan(0);
        expect(await deleteField(db, project.access, 'data.gone')).to.equal(having - before);
        expect((await custom()).map(({ field, coverage }) => [field, coverage])).to.deep.equal([['data.n', 1]]);
        expect(await storedContacts(db, { projectId: project.id }).whereRaw("data \\? 'gone'")).to.deep.equal([]);
      });

    it('removes the field from all contacts while they are written', async () => {
      for (let n = 0; n < 20; n++) await save(`c${n}`, { gone: n });
      const writers = Array.from({ length: 20 }, (_, n) => save(`c${n}`, { kept: n }));
      const [deleted] = await Promise.all([
        deleteField(db, project.access, 'gone'),
        ...writers,
        aggregateContactCounts(db),
      ]);
      expect(deleted).to.equal(20);
      expect((await custom()).map(({ field, coverage }) => [field, coverage])).to.deep.equal([['data.kept', 1]]);
    });

    it('removes keys with dots, slashes, spaces and quotes', async () => {
      const keys = ['a.b', 'a/b', 'a b', `a"b'c`, 'data.x', '?', '%'];
      await save('ann', Object.fromEntries(keys.map((key) => [key, 1])));
      for (const key of keys) expect(await deleteField(db, project.access, `data.${key}`), key).to.equal(1);
      expect((await storedContacts(db, { projectId: project.id }).first()).data).to.deep.equal({});
      expect(await custom()).to.deep.equal([]);
    });

    for (const field of ['email', 'subscribed', 'createdAt', 'updatedAt'])
      it(`rejects ${field} with 400`, async () => {
        const error = await deleteField(db, project.access, field).catch((reason) => reason);
        expect(error).to.be.instanceOf(ApiError).and.include({ status: 400, code: 'BAD_REQUEST' });
      });
  });
});
