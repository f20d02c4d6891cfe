import { expect } from 'chai';
import type { Knex } from 'knex';
import { applyContactChanges } from '../../../services/segments/changes.ts';
import { computeSegment } from '../../../services/segments/compute.ts';
import { applyRecounts } from '../../../services/segments/count.ts';
import { createSegment } from '../../../services/segments/create.ts';
import { findSegment } from '../../../services/segments/find.ts';
import { reconcileDue } from '../../../services/segments/sweep.ts';
import { updateSegment } from '../../../services/segments/update.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import {
  addContactSeries,
  storedContactChanges,
  storedContacts,
  storedMemberContacts,
  storedRecounts,
} from '../../support/rows/contacts.ts';
import { breakConnection, lockTable } from '../../support/rows/tables.ts';
import { eventually } from '../../support/waiting.ts';
import { applyAllChanges, contact, isPro, memberOf, membersOf, movesOf, tree } from './support.ts';

const ann = 'ann@example.com';
const bob = 'bob@example.com';

describe('tracked membership under concurrency', () => {
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

  it('skips a locked contact and applies its change after the lock is released', async () => {
    await tracked('Pro');
    await contact(database.db, project, ann, { plan: 'pro' });
    await contact(database.db, project, bob, { plan: 'pro' });
    const locker = await database.db.transaction();
    await locker('contacts').where({ projectId: project.id, email: ann }).forUpdate();
    await applyAllChanges(database.db);
    expect(await moves('pro')).to.deep.equal([`entry ${bob}`]);
    await locker.commit();
    await applyAllChanges(database.db);
    expect(await moves('pro')).to.deep.equal([`entry ${bob}`, `entry ${ann}`]);
  });

  it('applies no change while a segment is being edited, then evaluates the new condition', async () => {
    const { id } = await tracked('Pro');
    const editor = await database.db.transaction();
    await updateSegment(editor, project.access, id, {
      condition: tree({ field: 'data.plan', operator: 'equals', value: 'team' }),
    });
    await contact(database.db, project, ann, { plan: 'pro' });
    expect(await applyContactChanges(database.db)).to.equal(0);
    expect(await changes()).to.have.lengthOf(1);
    await editor.commit();
    await applyAllChanges(database.db);
    expect(await moves('pro')).to.deep.equal([]);
  });

  it('skips the recount of a segment that is being edited, and recounts it after the commit', async () => {
    const { id } = await tracked('Pro');
    await contact(database.db, project, ann, { plan: 'pro' });
    await applyAllChanges(database.db);
    const editor = await database.db.transaction();
    await updateSegment(editor, project.access, id, { name: 'Professionals' });
    await applyRecounts(database.db);
    expect(await storedRecounts(database.db, id)).to.have.lengthOf(1);
    await editor.commit();
    await applyRecounts(database.db);
    expect(await storedRecounts(database.db, id)).to.deep.equal([]);
    expect(await findSegment(database.db, project.id, id)).to.include({ name: 'Professionals', memberCount: 1 });
  });

  it('records each change once when the connection that applies it is terminated', async () => {
    const { id } = await tracked('Pro');
    await contact(database.db, project, ann, { plan: 'pro' });
    // Blocks the statement that writes members and events.
    const blocker = await database.db.transaction();
    await lockTable(blocker, 'segment_recounts', 'exclusive');
    const victim = applyContactChanges(database.db).catch((error) => error);
    const blocked = `select pid from pg_stat_activity where wait_event_type = 'Lock' and query like 'with changes%'
      and datname = current_database()`;
    let pid: number | undefined;
    while (pid === undefined) pid = (await database.db.raw(blocked)).rows[0]?.pid;
    await breakConnection(database.db, pid);
    expect(await victim).to.be.instanceOf(Error);
    await blocker.commit();
    expect(await moves('pro')).to.deep.equal([]);
    expect(await changes()).to.have.lengthOf(1);
    await applyAllChanges(database.db);
    expect(await moves('pro')).to.deep.equal([`entry ${ann}`]);
    expect(await storedMembersOf(id)).to.deep.equal([ann]);
  });

  it('computes a segment when Postgres resolves a deadlock by rolling one transaction back', async () => {
    const { id } = await tracked('Pro');
    await contact(database.db, project, ann, { plan: 'pro' });
    await contact(database.db, project, bob, { plan: 'free' });
    const lock = (trx: Knex.Transaction, email: string) =>
      storedContacts(trx, { projectId: project.id, email }).forUpdate();
    const lockToo = (trx: Knex.Transaction, email: string) =>
      lock(trx, email).then(
        () => trx.commit(),
        () => trx.rollback(),
      );
    const waiting = "from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    const wait = (count: number) =>
      eventually(async () => (await database.db.raw(`select 1 ${waiting}`)).rows.length === count);
    const one = await database.db.transaction();
    const two = await database.db.transaction();
    // Makes the computing transaction the first to detect the deadlock.
    for (const trx of [one, two]) await trx.raw("set local deadlock_timeout = '5s'");
    await lock(one, ann);
    await lock(two, bob);
    const computed = computeSegment(database.db, project.access, id);
    await wait(1);
    // Queues behind the computing transaction.
    const second = lockToo(two, ann);
    await wait(2);
    await Promise.all([lockToo(one, bob), second]);
    expect(await computed).to.deep.equal({ added: 1, removed: 0, total: 1 });
  });

  it('records every change once while many processes write and apply changes', async () => {
    const { id } = await tracked(
      'Pro',
      tree({ field: 'data.plan', operator: 'equals', value: 'pro' }, { field: 'data.ok', operator: 'exists' }),
    );
    const emails = Array.from({ length: 8 }, (_, n) => `user${n}@example.com`);
    let writing = true;
    const appliers = Array.from({ length: 4 }, async () => {
      while (writing) await applyContactChanges(database.db, 5);
    });
    const sweeper = (async () => {
      while (writing) await computeSegment(database.db, project.access, id);
    })();
    await Promise.all(
      emails.map(async (email, n) => {
        for (let round = 0; round < 25; round++)
          await contact(database.db, project, email, {
            plan: (round + n) % 3 ? 'pro' : 'free',
            ok: round % 4 ? 1 : null,
          });
      }),
    );
    writing = false;
    await Promise.all([...appliers, sweeper]);
    await applyAllChanges(database.db);
    expect(await storedMembersOf(id)).to.deep.equal(await membersOf(database.db, project, id));
    const recorded = await moves('pro');
    for (const email of emails) {
      const own = recorded.filter((move) => move.endsWith(email)).map((move) => move.split(' ')[0]);
      expect(own, email).to.deep.equal(own.map((_, n) => (n % 2 ? 'exit' : 'entry')));
      expect(own.length % 2 === 1, email).to.equal((await storedMembersOf(id)).includes(email));
    }
    expect(recorded.length).to.be.greaterThan(emails.length);
    await applyRecounts(database.db);
    expect((await findSegment(database.db, project.id, id)).memberCount).to.equal((await storedMembersOf(id)).length);
  });

  it('ends with the right members when conditions are edited while many processes write and apply changes', async () => {
    const base = await createSegment(database.db, project.access, { name: 'Base', condition: isPro });
    const user = await tracked('User', memberOf(base.id));
    const emails = Array.from({ length: 6 }, (_, n) => `user${n}@example.com`);
    const plans = ['pro', 'team', 'free'];
    let writing = true;
    const appliers = Array.from({ length: 3 }, async () => {
      while (writing) await applyContactChanges(database.db, 5);
    });
    const reconciler = (async () => {
      while (writing) await reconcileDue(database.db);
    })();
    const editor = (async () => {
      for (let round = 0; round < 15; round++)
        await updateSegment(database.db, project.access, base.id, {
          condition: tree({ field: 'data.plan', operator: 'equals', value: plans[round % 2] }),
        });
    })();
    await Promise.all([
      editor,
      ...emails.map(async (email, n) => {
        for (let round = 0; round < 20; round++)
          await contact(database.db, project, email, { plan: plans[(round * n) % 3] });
      }),
    ]);
    writing = false;
    await Promise.all([...appliers, reconciler]);
    await applyAllChanges(database.db);
    await reconcileDue(database.db);
    expect(await storedMembersOf(user.id)).to.deep.equal(await membersOf(database.db, project, user.id));
    const recorded = await moves('user');
    for (const email of emails) {
      const own = recorded.filter((move) => move.endsWith(email)).map((move) => move.split(' ')[0]);
      expect(own, email).to.deep.equal(own.map((_, n) => (n % 2 ? 'exit' : 'entry')));
    }
  });

  it('takes one batch of each project, so that a project with many changes does not delay another', async () => {
    const large = project;
    await tracked('Pro');
    for (let n = 0; n < 30; n++) await contact(database.db, large, `user${n}@example.com`, { plan: 'pro' });
    project = await makeProject(database.db);
    await tracked('Pro');
    await contact(database.db, project, ann, { plan: 'pro' });
    await applyContactChanges(database.db, 10);
    expect(await moves('pro')).to.deep.equal([`entry ${ann}`]);
    expect(await movesOf(database.db, large, 'pro')).to.have.lengthOf(10);
  });

  it('applies the changes of 1,000 contacts in at most 6 statements', async () => {
    await applyAllChanges(database.db);
    await tracked('Pro');
    await addContactSeries(database.db, project.id, 1000, { prefix: 'user', data: `'{"plan": "pro"}'` });
    const statements: string[] = [];
    await database.db.transaction(async (trx) => {
      const connection = await trx.client.acquireConnection();
      const query = connection.query.bind(connection);
      connection.query = (...args: unknown[]) => {
        statements.push(String((args[0] as { text?: string }).text ?? args[0]));
        return query(...args);
      };
      await applyContactChanges(trx);
      connection.query = query;
    });
    expect(await moves('pro')).to.have.lengthOf(1000);
    expect(statements.length).to.be.within(4, 6);
  });
});
