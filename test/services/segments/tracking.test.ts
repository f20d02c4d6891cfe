import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { trackEvent } from '../../../services/events/track.ts';
import { deleteContacts } from '../../../services/removal/contact.ts';
import { applyContactChanges } from '../../../services/segments/changes.ts';
import { computeSegment } from '../../../services/segments/compute.ts';
import { applyRecounts } from '../../../services/segments/count.ts';
import { createSegment } from '../../../services/segments/create.ts';
import { findSegment } from '../../../services/segments/find.ts';
import { addMembers, removeMembers } from '../../../services/segments/static-members.ts';
import { reconcileDue, sweepTimeDependentSegments } from '../../../services/segments/sweep.ts';
import { updateSegment } from '../../../services/segments/update.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import {
  segmentRow,
  setContacts,
  setSegment,
  storedContactChanges,
  storedMemberContacts,
} from '../../support/rows/contacts.ts';
import { addEvents, removeEvents, storedEvents } from '../../support/rows/events.ts';
import { applyAllChanges, contact, isPro, memberOf, movesOf, tree } from './support.ts';

const ann = 'ann@example.com';
const bob = 'bob@example.com';

describe('tracked membership', () => {
  let database: ConnectedDatabase;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());
  beforeEach(async () => {
    project = await makeProject(database.db);
  });

  const tracked = (name: string, condition: object = isPro) =>
    createSegment(database.db, project.access, { name, condition, trackMembership: true });
  const changes = () => storedContactChanges(database.db, project.id);
  const moves = (slug: string) => movesOf(database.db, project, slug);
  const storedMembersOf = async (id: string): Promise<string[]> => {
    const rows = await storedMemberContacts(database.db, id);
    return rows.map(({ email }) => email).sort();
  };

  it('stores the current members without events when tracking starts', async () => {
    await contact(database.db, project, ann, { plan: 'pro' });
    const { id, memberCount } = await tracked('Pro');
    expect(memberCount).to.equal(1);
    expect(await storedMembersOf(id)).to.deep.equal([ann]);
    await applyAllChanges(database.db);
    expect(await moves('pro')).to.deep.equal([]);
    const later = await createSegment(database.db, project.access, { name: 'Later', condition: isPro });
    await updateSegment(database.db, project.access, later.id, { trackMembership: true });
    expect(await storedMembersOf(later.id)).to.deep.equal([ann]);
    expect(await moves('later')).to.deep.equal([]);
  });

  it('records entry and exit when a contact is created and changed', async () => {
    const { id } = await tracked('Pro');
    await contact(database.db, project, ann, { plan: 'pro' });
    await contact(database.db, project, bob, { plan: 'free' });
    await applyAllChanges(database.db);
    await contact(database.db, project, bob, { plan: 'pro' });
    await contact(database.db, project, ann, { plan: null });
    await applyAllChanges(database.db);
    expect(await moves('pro')).to.have.members([`entry ${ann}`, `entry ${bob}`, `exit ${ann}`]);
    expect(await storedMembersOf(id)).to.deep.equal([bob]);
    await applyRecounts(database.db);
    expect((await findSegment(database.db, project.id, id)).memberCount).to.equal(1);
    const [event] = await storedEvents(database.db, { projectId: project.id, name: 'segment.pro.entry' });
    expect(event.data).to.deep.equal({ segmentId: id, segmentName: 'Pro' });
  });

  it('records entry and exit when events, including those of mail, are recorded and deleted', async () => {
    const { id } = await tracked('Active', tree({ field: 'login', operator: 'triggered', count: 2 }));
    const opened = await tracked('Opened', tree({ field: 'email.opened', operator: 'triggered' }));
    for (let n = 0; n < 2; n++) {
      await trackEvent(database.db, project.access, { email: ann, event: 'login' });
      await applyAllChanges(database.db);
      expect(await storedMembersOf(id)).to.deep.equal(n === 0 ? [] : [ann]);
    }
    const { contactId } = await trackEvent(database.db, project.access, { email: bob, event: 'other' });
    await addEvents(database.db, { id: newId(), projectId: project.id, contactId, name: 'email.open' });
    await applyAllChanges(database.db);
    expect(await storedMembersOf(opened.id)).to.deep.equal([bob]);
    await removeEvents(database.db, { projectId: project.id, name: 'login' });
    await applyAllChanges(database.db);
    expect(await moves('active')).to.deep.equal([`entry ${ann}`, `exit ${ann}`]);
  });

  it('records entry and exit when a referenced static segment changes or a segment event is recorded', async () => {
    const list = await createSegment(database.db, project.access, { name: 'List', type: 'STATIC' });
    await tracked('Through', memberOf(list.id));
    await tracked('After', tree({ field: 'segment.through.entry', operator: 'triggered' }));
    await addMembers(database.db, project.access, list.id, { emails: [ann], createMissing: true });
    await applyAllChanges(database.db);
    await removeMembers(database.db, project.access, list.id, [ann]);
    await applyAllChanges(database.db);
    expect(await moves('through')).to.deep.equal([`entry ${ann}`, `exit ${ann}`]);
    expect(await moves('after')).to.deep.equal([`entry ${ann}`]);
  });

  it('records changes only of dependencies of tracked segments', async () => {
    await contact(database.db, project, ann, { plan: 'free', color: 'red' });
    expect(await changes()).to.deep.equal([]);
    const { id } = await tracked(
      'Pro',
      tree(...(isPro.groups[0]?.filters ?? []), { field: 'login', operator: 'triggered' }),
    );
    await contact(database.db, project, ann, { color: 'blue' });
    await trackEvent(database.db, project.access, { email: ann, event: 'logout' });
    expect(await changes()).to.deep.equal([]);
    await contact(database.db, project, ann, { plan: 'pro', color: 'green' });
    await trackEvent(database.db, project.access, { email: ann, event: 'login' });
    expect((await changes()).map(({ dependencies }) => dependencies)).to.deep.equal([['data.plan'], ['event.login']]);
    await applyAllChanges(database.db);
    expect(await changes()).to.deep.equal([]);
    await updateSegment(database.db, project.access, id, { trackMembership: false });
    await contact(database.db, project, ann, { plan: 'free' });
    expect(await changes()).to.deep.equal([]);
    expect(await storedMembersOf(id)).to.deep.equal([]);
  });

  it('records no exit when a contact is deleted', async () => {
    const { id } = await tracked('Pro');
    const one = await contact(database.db, project, ann, { plan: 'pro' });
    const two = await contact(database.db, project, bob, { plan: 'pro' });
    await deleteContacts(database.db, project.id, [one]);
    await applyAllChanges(database.db);
    await deleteContacts(database.db, project.id, [two]);
    await applyAllChanges(database.db);
    expect(await moves('pro')).to.deep.equal(['entry null']);
    expect(await storedMembersOf(id)).to.deep.equal([]);
    expect(await changes()).to.deep.equal([]);
  });

  it('records entry and exit when a condition is edited, also in segments that refer to it', async () => {
    await contact(database.db, project, ann, { plan: 'pro' });
    await contact(database.db, project, bob, { plan: 'free' });
    const base = await tracked('Base');
    const user = await tracked('User', memberOf(base.id));
    await updateSegment(database.db, project.access, base.id, {
      condition: tree({ field: 'data.plan', operator: 'equals', value: 'free' }),
    });
    await reconcileDue(database.db);
    for (const slug of ['base', 'user']) expect(await moves(slug)).to.have.members([`exit ${ann}`, `entry ${bob}`]);
    // Segments that refer to the edited one get its new dependencies.
    await updateSegment(database.db, project.access, base.id, {
      condition: tree({ field: 'data.size', operator: 'exists' }),
    });
    await reconcileDue(database.db);
    await contact(database.db, project, ann, { size: 1 });
    await applyAllChanges(database.db);
    for (const slug of ['base', 'user']) expect((await moves(slug)).at(-1)).to.equal(`entry ${ann}`);
    for (const { id } of [base, user]) expect((await segmentRow(database.db, id)).reconcileAt).to.equal(null);
  });

  it('finds changes of a transaction that began before the segment was tracked', async () => {
    await contact(database.db, project, ann, { plan: 'free' });
    const early = await database.db.transaction();
    await early('contacts')
      .where({ projectId: project.id })
      .update({ data: JSON.stringify({ plan: 'pro' }) });
    const { id } = await tracked('Pro');
    await early.commit();
    expect(await applyAllChanges(database.db)).to.equal(0);
    await setSegment(database.db, id, { reconcileAt: database.db.fn.now() });
    await reconcileDue(database.db);
    expect(await moves('pro')).to.deep.equal([`entry ${ann}`]);
    expect((await segmentRow(database.db, id)).reconcileAt).to.equal(null);
  });

  describe('compute', () => {
    it('updates the members and records events', async () => {
      const { id } = await tracked('Pro');
      for (const email of [ann, bob]) await contact(database.db, project, email, { plan: 'pro' });
      expect(await computeSegment(database.db, project.access, id)).to.deep.equal({ added: 2, removed: 0, total: 2 });
      await contact(database.db, project, ann, { plan: 'free' });
      expect(await computeSegment(database.db, project.access, id)).to.deep.equal({ added: 0, removed: 1, total: 1 });
      expect(await computeSegment(database.db, project.access, id)).to.deep.equal({ added: 0, removed: 0, total: 1 });
      await applyAllChanges(database.db);
      expect(await moves('pro')).to.have.members([`entry ${ann}`, `entry ${bob}`, `exit ${ann}`]);
    });

    it('waits for a locked contact until the lock is released', async () => {
      const { id } = await tracked('Pro');
      await contact(database.db, project, ann, { plan: 'pro' });
      const locker = await database.db.transaction();
      await locker('contacts').where({ projectId: project.id }).forUpdate();
      const computed = computeSegment(database.db, project.access, id);
      expect(await applyContactChanges(database.db)).to.equal(0);
      await locker.commit();
      expect(await computed).to.deep.equal({ added: 1, removed: 0, total: 1 });
    });

    it('rejects a static or untracked segment with 400', async () => {
      const list = await createSegment(database.db, project.access, {
        name: 'L',
        type: 'STATIC',
        trackMembership: true,
      });
      const plain = await createSegment(database.db, project.access, { name: 'P', condition: isPro });
      for (const { id } of [list, plain]) {
        const error = await computeSegment(database.db, project.access, id).catch((reason) => reason);
        expect(error).to.include({ status: 400, code: 'BAD_REQUEST' });
      }
    });
  });

  describe('the passing of time', () => {
    const back = (table: string, column: string, where: object, interval: string) =>
      database
        .db(table)
        .where(where)
        .update({ [column]: database.db.raw(`now() - ?::interval`, [interval]) });
    const setBack = (id: string, interval: string) => back('segments', 'sweptAt', { id }, interval);

    it('records entry and exit when an event passes an age limit', async () => {
      const within = await tracked(
        'Lately',
        tree({ field: 'login', operator: 'triggeredWithin', value: 1, unit: 'days' }),
      );
      const older = await tracked(
        'Once',
        tree({ field: 'login', operator: 'triggeredOlderThan', value: 1, unit: 'days' }),
      );
      const idle = await tracked(
        'Idle',
        tree({ field: 'login', operator: 'notTriggeredWithin', value: 1, unit: 'days' }),
      );
      await trackEvent(database.db, project.access, { email: ann, event: 'login' });
      await applyAllChanges(database.db);
      expect(await storedMembersOf(within.id)).to.deep.equal([ann]);
      await sweepTimeDependentSegments(database.db);
      expect(await storedMembersOf(within.id)).to.deep.equal([ann]);
      await back('events', 'createdAt', { projectId: project.id, name: 'login' }, '1 day');
      await sweepTimeDependentSegments(database.db);
      expect(await moves('lately')).to.deep.equal([`entry ${ann}`, `exit ${ann}`]);
      expect(await moves('once')).to.deep.equal([`entry ${ann}`]);
      expect(await moves('idle')).to.deep.equal([`entry ${ann}`]);
      for (const { id } of [within, older, idle]) await setBack(id, '1 day');
      expect(await sweepTimeDependentSegments(database.db)).to.deep.equal({ entered: 0, left: 0 });
    });

    it('records entry when a contact or a date in its data passes an age limit', async () => {
      await tracked('Old', tree({ field: 'createdAt', operator: 'olderThan', value: 1, unit: 'hours' }));
      await tracked('Due', tree({ field: 'data.due', operator: 'within', value: 1, unit: 'hours' }));
      const id = await contact(database.db, project, ann, { due: new Date(Date.now() + 3_600_000).toISOString() });
      await applyAllChanges(database.db);
      expect(await moves('due')).to.deep.equal([]);
      // Simulates that the hour has passed without a recorded change.
      await setContacts(database.db, { id }, { data: JSON.stringify({ due: new Date().toISOString() }) });
      await back('contacts', 'createdAt', { id }, '1 hour');
      await database.db('contact_changes').delete();
      await sweepTimeDependentSegments(database.db);
      expect(await moves('old')).to.deep.equal([`entry ${ann}`]);
      expect(await moves('due')).to.deep.equal([`entry ${ann}`]);
    });

    it('records exit in a segment that refers to a time-dependent one', async () => {
      const base = await createSegment(database.db, project.access, {
        name: 'Base',
        condition: tree({ field: 'login', operator: 'triggeredWithin', value: 1, unit: 'months' }),
      });
      await tracked('User', memberOf(base.id));
      await trackEvent(database.db, project.access, { email: ann, event: 'login' });
      await applyAllChanges(database.db);
      await back('events', 'createdAt', { projectId: project.id, name: 'login' }, '1 month');
      await sweepTimeDependentSegments(database.db);
      expect(await moves('user')).to.deep.equal([`entry ${ann}`, `exit ${ann}`]);
    });

    it('does not sweep segments that do not depend on time', async () => {
      const { id } = await tracked('Pro');
      const { sweptAt } = await findSegment(database.db, project.id, id);
      await sweepTimeDependentSegments(database.db);
      expect((await findSegment(database.db, project.id, id)).sweptAt).to.deep.equal(sweptAt);
    });
  });
});
