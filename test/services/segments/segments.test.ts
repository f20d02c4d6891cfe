import { expect } from 'chai';
import { connectDb } from '../../../db/connect.ts';
import { ApiError } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { regenerateKeys } from '../../../services/access/keys.ts';
import { requireCondition } from '../../../services/conditions/parse.ts';
import { deleteContacts } from '../../../services/removal/contact.ts';
import { deleteSegment } from '../../../services/removal/segment.ts';
import { applyRecounts, refreshSegment } from '../../../services/segments/count.ts';
import { createSegment } from '../../../services/segments/create.ts';
import { findSegment, listSegments } from '../../../services/segments/find.ts';
import { referenceViolations } from '../../../services/segments/graph.ts';
import { guarded } from '../../../services/segments/guard.ts';
import { listSegmentMembers } from '../../../services/segments/members.ts';
import { addMembers, removeMembers } from '../../../services/segments/static-members.ts';
import { updateSegment } from '../../../services/segments/update.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { setSegment, storedContacts, storedMembers } from '../../support/rows/contacts.ts';
import { storedEvents } from '../../support/rows/events.ts';
import { eventually } from '../../support/waiting.ts';
import { contact, isPro, memberOf, membersOf, movesOf, tree } from './support.ts';

describe('segments', () => {
  let database: ConnectedDatabase;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());
  beforeEach(async () => {
    project = await makeProject(database.db);
  });

  const dynamic = (name: string, condition: object = isPro) =>
    createSegment(database.db, project.access, { name, condition });
  const fixed = (name = 'Fixed', more = {}) =>
    createSegment(database.db, project.access, { name, type: 'STATIC', ...more });
  const refused = (work: Promise<unknown>): Promise<ApiError> =>
    work.then(
      () => expect.fail('it was not refused'),
      (error) => {
        expect(error).to.be.instanceOf(ApiError);
        return error;
      },
    );

  describe('slugs', () => {
    it('derives the slug from the name and numbers duplicates', async () => {
      const slugs = ['VIP Customers', 'vip -- customers!', 'VIP customers', 'Ärzte & Co.', '!!!', '日本'].map(
        async (name) => (await dynamic(name)).slug,
      );
      const made = await Promise.all(slugs);
      expect(made.slice(0, 3).sort()).to.deep.equal(['vip-customers', 'vip-customers-2', 'vip-customers-3']);
      expect(made.slice(3)).to.deep.equal(['arzte-co', 'segment', '日本']);
    });

    it('keeps the slug when the name changes', async () => {
      const { id } = await dynamic('First');
      const renamed = await updateSegment(database.db, project.access, id, { name: 'Second' });
      expect(renamed).to.include({ name: 'Second', slug: 'first' });
    });

    it('allows the same slug in another project', async () => {
      await dynamic('Same');
      project = await makeProject(database.db);
      expect((await dynamic('Same')).slug).to.equal('same');
    });
  });

  describe('dynamic segments', () => {
    it('counts on creation and on refresh, and lists current members', async () => {
      await contact(database.db, project, 'ann@example.com', { plan: 'pro' });
      await contact(database.db, project, 'bob@example.com', { plan: 'free' });
      const { id, memberCount } = await dynamic('Pro');
      expect(memberCount).to.equal(1);
      await contact(database.db, project, 'bob@example.com', { plan: 'pro' });
      expect(await membersOf(database.db, project, id)).to.deep.equal(['ann@example.com', 'bob@example.com']);
      expect((await findSegment(database.db, project.id, id)).memberCount).to.equal(1);
      expect(await refreshSegment(database.db, project.access, id)).to.deep.equal({ memberCount: 2 });
      expect((await findSegment(database.db, project.id, id)).memberCount).to.equal(2);
      expect(await storedMembers(database.db, id)).to.deep.equal([]);
    });

    it('pages through the members, the newest first, without gaps', async () => {
      for (let n = 0; n < 5; n++) await contact(database.db, project, `user${n}@example.com`, { plan: 'pro' });
      const { id } = await dynamic('Pro');
      const pages = await Promise.all(
        [1, 2, 3, 4].map((page) => listSegmentMembers(database.db, project.id, id, { page, pageSize: 2 })),
      );
      expect(pages.map(({ data }) => data.map(({ email }) => email[4]).join(''))).to.deep.equal(['43', '21', '0', '']);
      expect(pages[3]).to.include({ total: 5, page: 4, pageSize: 2, totalPages: 3 });
    });

    it('does not include contacts of another project', async () => {
      const other = await makeProject(database.db);
      await contact(database.db, other, 'ann@example.com', { plan: 'pro' });
      const { id, memberCount } = await dynamic('Pro');
      expect(memberCount).to.equal(0);
      expect(await membersOf(database.db, project, id)).to.deep.equal([]);
    });

    it('stores the condition as it was sent, and recounts when it changes', async () => {
      await contact(database.db, project, 'ann@example.com', { plan: 'pro' });
      const condition = { ...tree({ field: 'data.plan', operator: 'exists', color: 'red' }), note: 'kept' };
      const { id, memberCount } = await dynamic('Any', condition);
      expect(memberCount).to.equal(1);
      expect((await findSegment(database.db, project.id, id)).condition).to.deep.equal(condition);
      const changed = await updateSegment(database.db, project.access, id, {
        condition: tree({ field: 'data.plan', operator: 'notExists' }),
      });
      expect(changed.memberCount).to.equal(0);
    });
  });

  describe('references', () => {
    it('evaluates the new condition of a referenced segment after an update', async () => {
      await contact(database.db, project, 'ann@example.com', { plan: 'pro' });
      await contact(database.db, project, 'bob@example.com', { plan: 'free' });
      const base = await dynamic('Base');
      const user = await dynamic('User', memberOf(base.id));
      const userOfUser = await dynamic('User of user', memberOf(user.id));
      expect(await membersOf(database.db, project, userOfUser.id)).to.deep.equal(['ann@example.com']);
      await updateSegment(database.db, project.access, base.id, {
        condition: tree({ field: 'data.plan', operator: 'equals', value: 'free' }),
      });
      expect(await membersOf(database.db, project, userOfUser.id)).to.deep.equal(['bob@example.com']);
    });

    it('matches the members of a referenced static segment', async () => {
      await contact(database.db, project, 'ann@example.com');
      await contact(database.db, project, 'bob@example.com');
      const list = await fixed();
      const user = await dynamic('User', memberOf(list.id));
      const rest = await dynamic('Rest', tree({ field: `segment.${list.id}`, operator: 'notMemberOfSegment' }));
      await addMembers(database.db, project.access, list.id, { emails: ['ann@example.com'] });
      expect(await membersOf(database.db, project, user.id)).to.deep.equal(['ann@example.com']);
      expect(await membersOf(database.db, project, rest.id)).to.deep.equal(['bob@example.com']);
    });

    it('rejects a reference to an unknown segment or one of another project with its path', async () => {
      const other = await makeProject(database.db);
      const theirs = await createSegment(database.db, other.access, { name: 'Theirs', condition: isPro });
      for (const id of [newId(), theirs.id]) {
        const error = await refused(dynamic('Lost', memberOf(id)));
        expect(error).to.include({ status: 400 });
        expect(error.message).to.include('condition.groups.0.filters.0.field');
      }
      expect(await listSegments(database.db, project.id)).to.deep.equal([]);
    });

    it('rejects a circle of any length', async () => {
      const a = await dynamic('A');
      const b = await dynamic('B', memberOf(a.id));
      const c = await dynamic('C', memberOf(b.id));
      for (const { id } of [a, b, c]) {
        const error = await refused(updateSegment(database.db, project.access, a.id, { condition: memberOf(id) }));
        expect(error).to.include({ status: 400 });
        expect(error.message).to.include('refers back');
      }
      expect((await findSegment(database.db, project.id, a.id)).condition).to.deep.equal(isPro);
    });

    it('rejects one of two concurrent updates that would close a circle', async () => {
      const a = await dynamic('A');
      const b = await dynamic('B');
      const results = await Promise.allSettled([
        updateSegment(database.db, project.access, a.id, { condition: memberOf(b.id) }),
        updateSegment(database.db, project.access, b.id, { condition: memberOf(a.id) }),
      ]);
      expect(results.filter(({ status }) => status === 'fulfilled')).to.have.lengthOf(1);
    });

    it('rejects a condition that has more than 1,000 filters with its references', async () => {
      const filters = (id: string, n: number) =>
        tree(...Array.from({ length: n }, () => ({ field: `segment.${id}`, operator: 'memberOfSegment' })));
      const a = await dynamic('A', tree(...Array.from({ length: 30 }, () => isPro.groups[0]?.filters[0] ?? {})));
      const b = await dynamic('B', filters(a.id, 30));
      const error = await refused(dynamic('C', filters(b.id, 2)));
      expect(error.message).to.include('1000 filters');
      const larger = tree(...Array.from({ length: 40 }, () => isPro.groups[0]?.filters[0] ?? {}));
      expect(await refused(updateSegment(database.db, project.access, a.id, { condition: larger }))).to.include({
        status: 400,
      });
    });
  });

  it('reports invalid references in conditions outside segments', async () => {
    const a = await dynamic('A', tree(...Array.from({ length: 30 }, () => isPro.groups[0]?.filters[0] ?? {})));
    const check = (...ids: string[]) => {
      const condition = tree(...ids.map((id) => ({ field: `segment.${id}`, operator: 'memberOfSegment' })));
      const parsed = requireCondition(condition, { at: 'audienceCondition' });
      return referenceViolations(database.db, project.id, parsed, 'audienceCondition');
    };
    expect(await check(a.id)).to.deep.equal([]);
    const [unknown] = await check(a.id, newId());
    expect(unknown).to.include({ field: 'audienceCondition.groups.0.filters.1.field', code: 'custom' });
    const [large] = await check(...Array.from({ length: 40 }, () => a.id));
    expect(large).to.include({ field: 'audienceCondition' });
  });

  describe('static segments', () => {
    it('adds and removes members by address, ignoring case, and updates the count', async () => {
      await contact(database.db, project, 'ann@example.com');
      await contact(database.db, project, 'bob@example.com');
      const { id } = await fixed();
      const emails = [' ANN@example.com', 'bob@example.com', 'No@example.com', 'ann@example.com'];
      const first = await addMembers(database.db, project.access, id, { emails });
      expect(first).to.deep.equal({ added: 2, created: 0, notFound: ['No@example.com'] });
      const again = await addMembers(database.db, project.access, id, { emails: ['ann@example.com'] });
      expect(again).to.deep.equal({ added: 0, created: 0, notFound: [] });
      expect((await findSegment(database.db, project.id, id)).memberCount).to.equal(2);
      const removed = await removeMembers(database.db, project.access, id, ['Ann@example.com', 'no@example.com']);
      expect(removed).to.deep.equal({ removed: 1 });
      expect((await findSegment(database.db, project.id, id)).memberCount).to.equal(1);
      expect(await membersOf(database.db, project, id)).to.deep.equal(['bob@example.com']);
    });

    it('creates missing contacts with createMissing and does not change existing ones', async () => {
      await contact(database.db, project, 'ann@example.com', { plan: 'pro' });
      const { id } = await fixed();
      const emails = ['ann@example.com', 'new@example.com'];
      const result = await addMembers(database.db, project.access, id, {
        emails,
        createMissing: true,
        subscribed: false,
      });
      expect(result).to.deep.equal({ added: 2, created: 1, notFound: [] });
      const contacts = await storedContacts(database.db, { projectId: project.id });
      expect(contacts.map(({ email, subscribed, data }) => ({ email, subscribed, data }))).to.deep.equal([
        { email: 'ann@example.com', subscribed: true, data: { plan: 'pro' } },
        { email: 'new@example.com', subscribed: false, data: {} },
      ]);
      expect(await storedEvents(database.db, { projectId: project.id })).to.deep.equal([]);
      await addMembers(database.db, project.access, id, { emails: ['more@example.com'], createMissing: true });
      expect(await storedContacts(database.db, { email: 'more@example.com' }).first('subscribed')).to.include({
        subscribed: true,
      });
    });

    it('counts correctly when members are added concurrently', async () => {
      const { id } = await fixed();
      await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          addMembers(database.db, project.access, id, {
            emails: [`u${n}@example.com`, 'all@example.com'],
            createMissing: true,
          }),
        ),
      );
      expect((await findSegment(database.db, project.id, id)).memberCount).to.equal(11);
      expect(await membersOf(database.db, project, id)).to.have.lengthOf(11);
    });

    it('rejects members of a dynamic segment with 400 and ignores a condition of a static one', async () => {
      const list = await fixed();
      const condition = await dynamic('Pro');
      for (const work of [
        () => addMembers(database.db, project.access, condition.id, { emails: ['a@example.com'] }),
        () => removeMembers(database.db, project.access, condition.id, ['a@example.com']),
      ])
        expect(await refused(work())).to.include({ status: 400 });
      const changed = await updateSegment(database.db, project.access, list.id, { condition: 'anything' });
      expect(changed.condition).to.equal(null);
    });

    it('removes a deleted contact without an event', async () => {
      const id = await contact(database.db, project, 'ann@example.com');
      await contact(database.db, project, 'bob@example.com');
      const segment = await fixed('Fixed', { trackMembership: true });
      await addMembers(database.db, project.access, segment.id, { emails: ['ann@example.com', 'bob@example.com'] });
      await deleteContacts(database.db, project.id, [id]);
      expect(await membersOf(database.db, project, segment.id)).to.deep.equal(['bob@example.com']);
      await applyRecounts(database.db);
      expect((await findSegment(database.db, project.id, segment.id)).memberCount).to.equal(1);
      expect((await movesOf(database.db, project, 'fixed')).filter((move) => move.startsWith('exit'))).to.deep.equal(
        [],
      );
    });

    it('records entry and exit once each when tracked, and nothing when not', async () => {
      await contact(database.db, project, 'ann@example.com');
      const segment = await fixed('Fixed', { trackMembership: true });
      const emails = ['ann@example.com'];
      await Promise.all(
        Array.from({ length: 5 }, () => addMembers(database.db, project.access, segment.id, { emails })),
      );
      await Promise.all(
        Array.from({ length: 5 }, () => removeMembers(database.db, project.access, segment.id, emails)),
      );
      expect(await movesOf(database.db, project, 'fixed')).to.deep.equal([
        'entry ann@example.com',
        'exit ann@example.com',
      ]);
      const [event] = await storedEvents(database.db, { projectId: project.id });
      expect(event.data).to.deep.equal({ segmentId: segment.id, segmentName: 'Fixed' });
      await updateSegment(database.db, project.access, segment.id, { trackMembership: false });
      await addMembers(database.db, project.access, segment.id, { emails });
      expect(await movesOf(database.db, project, 'fixed')).to.have.lengthOf(2);
    });
  });

  describe('deletion', () => {
    it('deletes the segment and its stored members', async () => {
      await contact(database.db, project, 'ann@example.com');
      const { id } = await fixed();
      await addMembers(database.db, project.access, id, { emails: ['ann@example.com'] });
      await deleteSegment(database.db, project.access, id);
      expect(await refused(findSegment(database.db, project.id, id))).to.include({ code: 'SEGMENT_NOT_FOUND' });
      expect(await storedMembers(database.db, id)).to.deep.equal([]);
    });

    it('rejects a segment that another one refers to with 409', async () => {
      const base = await dynamic('Base');
      const user = await dynamic('User', memberOf(base.id));
      const error = await refused(deleteSegment(database.db, project.access, base.id));
      expect(error).to.include({ status: 409, code: 'CONFLICT' });
      expect(error.message).to.include('"User"');
      await deleteSegment(database.db, project.access, user.id);
      await deleteSegment(database.db, project.access, base.id);
    });
  });

  it('answers SEGMENT_NOT_FOUND for a segment of another project', async () => {
    const { id } = await fixed();
    const other = await makeProject(database.db);
    const attempts = [
      () => findSegment(database.db, other.id, id),
      () => updateSegment(database.db, other.access, id, { name: 'x' }),
      () => deleteSegment(database.db, other.access, id),
      () => listSegmentMembers(database.db, other.id, id, { page: 1, pageSize: 10 }),
      () => addMembers(database.db, other.access, id, { emails: ['a@example.com'], createMissing: true }),
      () => removeMembers(database.db, other.access, id, ['a@example.com']),
      () => refreshSegment(database.db, other.access, id),
    ];
    for (const attempt of attempts) expect(await refused(attempt())).to.include({ code: 'SEGMENT_NOT_FOUND' });
    expect(await storedContacts(database.db, { projectId: other.id })).to.deep.equal([]);
  });

  it('answers INVALID_API_KEY for a write with a replaced key', async () => {
    const { id } = await fixed();
    await regenerateKeys(database.db, project.id);
    const attempts = [
      () => createSegment(database.db, project.access, { name: 'x', condition: isPro }),
      () => updateSegment(database.db, project.access, id, { name: 'x' }),
      () => deleteSegment(database.db, project.access, id),
      () => addMembers(database.db, project.access, id, { emails: ['a@example.com'], createMissing: true }),
    ];
    for (const attempt of attempts) expect(await refused(attempt())).to.include({ code: 'INVALID_API_KEY' });
  });

  it('rejects a slow query with 400, passes other errors on, and restores the time limit', async () => {
    const error = await refused(guarded(database.db, project.id, (trx) => trx.raw('select pg_sleep(5)'), 50));
    expect(error).to.include({ status: 400, code: 'BAD_REQUEST' });
    const [row] = (await database.db.raw('show statement_timeout')).rows;
    expect(row.statement_timeout).to.equal('0');
    const failed = await guarded(database.db, project.id, (trx) => trx.raw('select 1 / 0')).catch((reason) => reason);
    expect(failed).to.include({ code: '22012' });
  });

  it('limits concurrent queries, and answers 429 when one has waited too long', async () => {
    let end = () => {};
    const endless = new Promise<void>((resolve) => {
      end = resolve;
    });
    const slow = ['a', 'a', 'b', 'b'].map((id) => guarded(database.db, id, () => endless));
    expect(await refused(guarded(database.db, 'c', (trx) => trx.raw('select 1'), 50))).to.include({ status: 429 });
    end();
    await Promise.all(slow);
    const { rows } = await guarded(database.db, 'c', (trx) => trx.raw('select 1 as one'));
    expect(rows).to.deep.equal([{ one: 1 }]);
  });

  it('runs a query of another project while one has 100 counts that do not end', async () => {
    let end = () => {};
    const endless = new Promise<void>((resolve) => {
      end = resolve;
    });
    const noisy = Array.from({ length: 100 }, () => guarded(database.db, 'noisy', () => endless));
    const { rows } = await guarded(database.db, project.id, (trx) => trx.raw('select 1 as one'));
    expect(rows).to.deep.equal([{ one: 1 }]);
    end();
    await Promise.all(noisy);
  });

  it('leaves connections free while many changes of one project wait for each other', async () => {
    const few = connectDb({ databaseUrl: database.url, poolSize: 3, name: 'everpost-test' });
    const lock = await database.db.transaction();
    await lock.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`segments/${project.id}`]);
    const changes = Array.from({ length: 10 }, (_, n) =>
      createSegment(few, project.access, { name: `Segment ${n}`, condition: isPro }),
    );
    const waits = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
    await eventually(async () => (await database.db.raw(waits)).rows.length > 0, { what: 'a change that waits' });
    expect((await few.raw('select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
    await lock.rollback();
    expect(new Set((await Promise.all(changes)).map(({ slug }) => slug)).size).to.equal(10);
    await few.destroy();
  });

  it('parses no condition of another segment when one is saved or deleted', async () => {
    const base = await createSegment(database.db, project.access, { name: 'Base', condition: isPro });
    const other = await createSegment(database.db, project.access, { name: 'Other', condition: isPro });
    await setSegment(database.db, other.id, { condition: { not: 'a condition' } });
    const user = await createSegment(database.db, project.access, { name: 'User', condition: memberOf(base.id) });
    const circle = await refused(updateSegment(database.db, project.access, base.id, { condition: memberOf(user.id) }));
    expect(circle.message).to.contain('refers back to this segment');
    expect((await refused(deleteSegment(database.db, project.access, base.id))).message).to.contain(
      'the segment "User"',
    );
    await deleteSegment(database.db, project.access, user.id);
    await deleteSegment(database.db, project.access, base.id);
  });
});
