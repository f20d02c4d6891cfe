import { expect } from 'chai';
import type { Knex } from 'knex';
import { applyContactChanges } from '../../../services/segments/changes.ts';
import { computeSegment } from '../../../services/segments/compute.ts';
import { createSegment } from '../../../services/segments/create.ts';
import { findSegment } from '../../../services/segments/find.ts';
import { applyRecounts } from '../../../services/segments/recounts.ts';
import { reconcileDue } from '../../../services/segments/sweep.ts';
import { updateSegment } from '../../../services/segments/update.ts';
import { eventually } from '../../support/waiting.ts';
import { makeProject, openWorld, type TestProject, type World } from '../../support/world.ts';
import { contact, isPro, memberOf, membersOf, movesOf, settleAll, tree } from './support.ts';

const [ann, bob] = ['ann@example.com', 'bob@example.com'];

describe('tracked membership, with others at it', () => {
  let world: World;
  let project: TestProject;

  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());
  beforeEach(async () => {
    project = await makeProject(world.db);
  });

  const tracked = (name: string, condition: object = isPro) =>
    createSegment(world.db, project.access, { name, condition, trackMembership: true });
  const notes = () => world.db('contact_changes').where({ projectId: project.id });
  const moves = (slug: string) => movesOf(world.db, project, slug);
  const knownOf = async (id: string): Promise<string[]> => {
    const rows = await world
      .db('segment_members')
      .join('contacts', 'contacts.id', 'contactId')
      .where({ segmentId: id });
    return rows.map(({ email }) => email).sort();
  };

  it('leaves a contact that somebody holds for later, and does not wait', async () => {
    await tracked('Pro');
    await contact(world.db, project, ann, { plan: 'pro' });
    await contact(world.db, project, bob, { plan: 'pro' });
    const holder = await world.db.transaction();
    await holder('contacts').where({ projectId: project.id, email: ann }).forUpdate();
    await settleAll(world.db);
    expect(await moves('pro')).to.deep.equal([`entry ${bob}`]);
    await holder.commit();
    await settleAll(world.db);
    expect(await moves('pro')).to.deep.equal([`entry ${bob}`, `entry ${ann}`]);
  });

  it('leaves all for later while a segment is being edited, and then goes by the new condition', async () => {
    const { id } = await tracked('Pro');
    const editor = await world.db.transaction();
    await updateSegment(editor, project.access, id, {
      condition: tree({ field: 'data.plan', operator: 'equals', value: 'team' }),
    });
    await contact(world.db, project, ann, { plan: 'pro' });
    expect(await applyContactChanges(world.db)).to.equal(0);
    expect(await notes()).to.have.lengthOf(1);
    await editor.commit();
    await settleAll(world.db);
    expect(await moves('pro')).to.deep.equal([]);
  });

  it('counts later what is being edited, and waits for nobody', async () => {
    const { id } = await tracked('Pro');
    await contact(world.db, project, ann, { plan: 'pro' });
    await settleAll(world.db);
    const editor = await world.db.transaction();
    await updateSegment(editor, project.access, id, { name: 'Professionals' });
    await applyRecounts(world.db);
    expect(await world.db('segment_recounts').where({ segmentId: id })).to.have.lengthOf(1);
    await editor.commit();
    await applyRecounts(world.db);
    expect(await world.db('segment_recounts').where({ segmentId: id })).to.deep.equal([]);
    expect(await findSegment(world.db, project.id, id)).to.include({ name: 'Professionals', memberCount: 1 });
  });

  it('loses nothing and says nothing twice when one who settles dies in the middle', async () => {
    const { id } = await tracked('Pro');
    await contact(world.db, project, ann, { plan: 'pro' });
    // Stops it where members and events are written.
    const gate = await world.db.transaction();
    await gate.raw('lock table segment_recounts in exclusive mode');
    const victim = applyContactChanges(world.db).catch((error) => error);
    const blocked = `select pid from pg_stat_activity where wait_event_type = 'Lock' and query like 'with moves%'
      and datname = current_database()`;
    let pid: number | undefined;
    while (pid === undefined) pid = (await world.db.raw(blocked)).rows[0]?.pid;
    await world.db.raw('select pg_terminate_backend(?)', [pid]);
    expect(await victim).to.be.instanceOf(Error);
    await gate.commit();
    expect(await moves('pro')).to.deep.equal([]);
    expect(await notes()).to.have.lengthOf(1);
    await settleAll(world.db);
    expect(await moves('pro')).to.deep.equal([`entry ${ann}`]);
    expect(await knownOf(id)).to.deep.equal([ann]);
  });

  it('is computed although others around it wait for each other, and Postgres sends one of them all away', async () => {
    const { id } = await tracked('Pro');
    await contact(world.db, project, ann, { plan: 'pro' });
    await contact(world.db, project, bob, { plan: 'free' });
    const lock = (trx: Knex.Transaction, email: string) =>
      trx('contacts').where({ projectId: project.id, email }).forUpdate();
    const lockToo = (trx: Knex.Transaction, email: string) =>
      lock(trx, email).then(
        () => trx.commit(),
        () => trx.rollback(),
      );
    const waiting = "from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    const wait = (count: number) =>
      eventually(async () => (await world.db.raw(`select 1 ${waiting}`)).rows.length === count);
    const [one, two] = [await world.db.transaction(), await world.db.transaction()];
    // The one that computes shall be the first to notice.
    for (const trx of [one, two]) await trx.raw("set local deadlock_timeout = '5s'");
    await lock(one, ann);
    await lock(two, bob);
    const computed = computeSegment(world.db, project.access, id);
    await wait(1);
    // Stands in line behind it.
    const second = lockToo(two, ann);
    await wait(2);
    await Promise.all([lockToo(one, bob), second]);
    expect(await computed).to.deep.equal({ added: 1, removed: 0, total: 1 });
  });

  it('tells of every change once while many write and many settle', async () => {
    const { id } = await tracked(
      'Pro',
      tree({ field: 'data.plan', operator: 'equals', value: 'pro' }, { field: 'data.ok', operator: 'exists' }),
    );
    const emails = Array.from({ length: 8 }, (_, n) => `user${n}@example.com`);
    let writing = true;
    const settlers = Array.from({ length: 4 }, async () => {
      while (writing) await applyContactChanges(world.db, 5);
    });
    const sweeper = (async () => {
      while (writing) await computeSegment(world.db, project.access, id);
    })();
    await Promise.all(
      emails.map(async (email, n) => {
        for (let turn = 0; turn < 25; turn++)
          await contact(world.db, project, email, { plan: (turn + n) % 3 ? 'pro' : 'free', ok: turn % 4 ? 1 : null });
      }),
    );
    writing = false;
    await Promise.all([...settlers, sweeper]);
    await settleAll(world.db);
    expect(await knownOf(id)).to.deep.equal(await membersOf(world.db, project, id));
    const told = await moves('pro');
    for (const email of emails) {
      const own = told.filter((move) => move.endsWith(email)).map((move) => move.split(' ')[0]);
      expect(own, email).to.deep.equal(own.map((_, n) => (n % 2 ? 'exit' : 'entry')));
      expect(own.length % 2 === 1, email).to.equal((await knownOf(id)).includes(email));
    }
    expect(told.length).to.be.greaterThan(emails.length);
    await applyRecounts(world.db);
    expect((await findSegment(world.db, project.id, id)).memberCount).to.equal((await knownOf(id)).length);
  });

  it('is right in the end when conditions are edited while many write and many settle', async () => {
    const base = await createSegment(world.db, project.access, { name: 'Base', condition: isPro });
    const user = await tracked('User', memberOf(base.id));
    const emails = Array.from({ length: 6 }, (_, n) => `user${n}@example.com`);
    const plans = ['pro', 'team', 'free'];
    let writing = true;
    const settlers = Array.from({ length: 3 }, async () => {
      while (writing) await applyContactChanges(world.db, 5);
    });
    const looker = (async () => {
      while (writing) await reconcileDue(world.db);
    })();
    const editor = (async () => {
      for (let turn = 0; turn < 15; turn++)
        await updateSegment(world.db, project.access, base.id, {
          condition: tree({ field: 'data.plan', operator: 'equals', value: plans[turn % 2] }),
        });
    })();
    await Promise.all([
      editor,
      ...emails.map(async (email, n) => {
        for (let turn = 0; turn < 20; turn++) await contact(world.db, project, email, { plan: plans[(turn * n) % 3] });
      }),
    ]);
    writing = false;
    await Promise.all([...settlers, looker]);
    await settleAll(world.db);
    await reconcileDue(world.db);
    expect(await knownOf(user.id)).to.deep.equal(await membersOf(world.db, project, user.id));
    const told = await moves('user');
    for (const email of emails) {
      const own = told.filter((move) => move.endsWith(email)).map((move) => move.split(' ')[0]);
      expect(own, email).to.deep.equal(own.map((_, n) => (n % 2 ? 'exit' : 'entry')));
    }
  });

  it('takes projects in turns, so that many notes of one hold up nobody', async () => {
    const large = project;
    await tracked('Pro');
    for (let n = 0; n < 30; n++) await contact(world.db, large, `user${n}@example.com`, { plan: 'pro' });
    project = await makeProject(world.db);
    await tracked('Pro');
    await contact(world.db, project, ann, { plan: 'pro' });
    await applyContactChanges(world.db, 10);
    expect(await moves('pro')).to.deep.equal([`entry ${ann}`]);
    expect(await movesOf(world.db, large, 'pro')).to.have.lengthOf(10);
  });

  it('settles a thousand contacts in a handful of statements', async () => {
    await settleAll(world.db);
    await tracked('Pro');
    await world.db.raw(
      `insert into contacts (id, project_id, email, subscribed, data)
       select gen_random_uuid(), ?::uuid, 'user' || n || '@example.com', true, '{"plan": "pro"}' from generate_series(1, 1000) n`,
      [project.id],
    );
    const seen: string[] = [];
    await world.db.transaction(async (trx) => {
      const connection = await trx.client.acquireConnection();
      const query = connection.query.bind(connection);
      connection.query = (...args: unknown[]) => {
        seen.push(String((args[0] as { text?: string }).text ?? args[0]));
        return query(...args);
      };
      await applyContactChanges(trx);
      connection.query = query;
    });
    expect(await moves('pro')).to.have.lengthOf(1000);
    expect(seen.length).to.be.within(4, 6);
  });
});
