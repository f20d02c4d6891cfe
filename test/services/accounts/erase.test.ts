import { expect } from 'chai';
import { connectDb, type Db } from '../../../db/connect.ts';
import { newId } from '../../../platform/ids.ts';
import { saveContact } from '../../../services/contacts/save.ts';
import { sendEmails } from '../../../services/emails/send.ts';
import { trackEvent } from '../../../services/events/track.ts';
import { deleteProject, resetProject } from '../../../services/removal/project.ts';
import { eraseChunk } from '../../../services/removal/project-chunk.ts';
import { runErasure } from '../../../services/removal/project-run.ts';
import { erasedByReset, keptByReset, neverErased } from '../../../services/removal/project-tables.ts';
import { createSegment } from '../../../services/segments/create.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { addContactSeries, addSegment } from '../../support/rows/contacts.ts';
import { addMailsToContacts } from '../../support/rows/mails.ts';
import { outboxMessages } from '../../support/rows/outbox.ts';
import { addReset, setProject, storedErasures, storedProject } from '../../support/rows/projects.ts';
import { breakConnection, countRows, ownConnection } from '../../support/rows/tables.ts';

const never = () => false;

describe('erasing a project', () => {
  let database: ConnectedDatabase;
  let db: Db;

  before(async () => {
    database = await connectTestDatabase();
    db = database.db;
  });
  after(() => database.close());

  async function tablesWithProject(): Promise<string[]> {
    const { rows } = await db.raw(`
      select c.relname as name from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'project_id'
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`);
    return rows.map(({ name }: { name: string }) => name);
  }

  const erasureOf = async (projectId: string) => (await storedErasures(db, { projectId }).first()) as { id: string };
  const rowsOf = async (table: string, projectId: string) => countRows(db, table, { projectId });

  async function fill({ id }: TestProject, contacts: number): Promise<void> {
    await addContactSeries(db, id, contacts);
    await db.raw(
      `insert into events (id, project_id, contact_id, name)
       select gen_random_uuid(), project_id, id, 'x' from contacts where project_id = ?`,
      [id],
    );
    await addMailsToContacts(db, id);
    const segmentId = newId();
    await addSegment(db, { id: segmentId, projectId: id, slug: 's', name: 's', type: 'STATIC' });
    await db.raw(
      'insert into segment_members (segment_id, contact_id) select ?, id from contacts where project_id = ?',
      [segmentId, id],
    );
  }

  it('lists every table with a project_id', async () => {
    expect(await tablesWithProject()).to.have.members([...erasedByReset, ...keptByReset, ...neverErased]);
  });

  it('is blocked by no foreign key', async () => {
    const { rows } = await db.raw(`
      select conrelid::regclass::text as child, confrelid::regclass::text as parent from pg_constraint
      where contype = 'f' and confdeltype not in ('c', 'n')`);
    const erased: string[] = [...erasedByReset, ...keptByReset, 'projects'];
    expect(rows.filter(({ parent }: { parent: string }) => erased.includes(parent))).to.deep.equal([]);
  });

  it('has an index for every foreign key, so that no chunk scans a whole table', async () => {
    const { rows } = await db.raw(`
      select c.conrelid::regclass::text as child, c.conname from pg_constraint c
      where c.contype = 'f' and c.conparentid = 0 and not exists (
        select 1 from pg_index i where i.indrelid = c.conrelid
          and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) like '(% IS NOT NULL)')
          and (i.indkey::smallint[])[0:cardinality(c.conkey) - 1] @> c.conkey)`);
    // Scanned once, when the project itself is deleted, and short: a row per campaign.
    expect(rows).to.deep.equal([{ child: 'campaigns', conname: 'campaigns_project_id_fkey' }]);
  });

  it('deletes every row of the project and none of another', async () => {
    const project = await makeProject(db);
    const other = await makeProject(db);
    for (const one of [project, other]) await fill(one, 30);
    await deleteProject(db, project.id);
    const { id } = await erasureOf(project.id);
    expect(await runErasure(db, id, never)).to.include({ ended: true });
    for (const table of [...erasedByReset, ...keptByReset]) expect(await rowsOf(table, project.id), table).to.equal(0);
    expect(await storedProject(db, project.id)).to.equal(undefined);
    for (const table of ['contacts', 'events', 'emails', 'email_contents', 'email_bodies'])
      expect(await rowsOf(table, other.id), table).to.equal(30);
    const { rows } = await db.raw('select count(*)::integer from segment_members');
    expect(rows[0].count).to.equal(30);
  });

  it('continues chunk by chunk after interruptions, and does nothing once it has ended', async () => {
    const project = await makeProject(db);
    await fill(project, 2_500);
    await deleteProject(db, project.id);
    const { id } = await erasureOf(project.id);
    const slices: number[] = [];
    for (let ended = false, before = 0; !ended; ) {
      const slice = await runErasure(db, id, () => true);
      slices.push(slice.deleted - before);
      ({ ended, deleted: before } = slice);
    }
    expect(slices.length).to.be.greaterThan(10);
    expect(Math.max(...slices), 'rows in one transaction').to.equal(1_000);
    expect(await rowsOf('contacts', project.id)).to.equal(0);
    expect(await runErasure(db, id, never)).to.include({ ended: true });
  });

  /** Fails statements that wait for a lock of the erasure, which is kept. Writers wait for each other for less. */
  const connectWithLockTimeout = () =>
    connectDb({ databaseUrl: `${database.url}?options=-c%20lock_timeout%3D60s`, poolSize: 5 });

  async function writeAll(other: Db, { access, senderDomain }: TestProject): Promise<void> {
    const email = `${newId()}@example.com`;
    const address = { email: `x@${senderDomain}` };
    await trackEvent(other, access, { email, event: 'seen' });
    await saveContact(other, access, { email, data: { plan: 'pro' } });
    await sendEmails(other, access, { to: [{ email }], from: address, subject: 's', body: 'b' });
    await createSegment(other, access, { name: newId(), type: 'STATIC' });
  }

  for (const [kind, begin] of [
    ['a deletion', (id: string) => deleteProject(db, id)],
    ['a reset', (id: string) => db('projectErasures').insert({ id: newId(), projectId: id, kind: 'RESET' })],
  ] as const)
    it(`blocks no other project during ${kind}, and continues after its connection is terminated`, async () => {
      const project = await makeProject(db);
      const other = await makeProject(db);
      const third = await makeProject(db);
      await fill(project, 2_500);
      await fill(third, 10);
      await begin(project.id);
      const { id } = await erasureOf(project.id);
      await runErasure(db, id, () => true);
      const eraser = connectDb({ databaseUrl: database.url, poolSize: 1 });
      const others = connectWithLockTimeout();
      const trx = await eraser.transaction();
      const pid = await ownConnection(trx);
      // A chunk of every table in one transaction: more locks than an erasure ever has.
      for (const table of erasedByReset) await eraseChunk(trx, table, project.id);
      await Promise.all([1, 2, 3].map(() => writeAll(others, other)));
      await resetProject(others, third.id);
      expect(await rowsOf('contacts', third.id), 'another project is erased meanwhile').to.equal(0);

      const left = await rowsOf('contacts', project.id);
      await breakConnection(db, pid);
      await trx.rollback().catch(() => {});
      await eraser.destroy();
      expect(left, 'uncommitted deletions are rolled back').to.equal(2_500);
      expect(await runErasure(others, id, never)).to.include({ ended: true });
      for (const table of erasedByReset) expect(await rowsOf(table, project.id), table).to.equal(0);
      expect(await rowsOf('emails', other.id)).to.equal(3);
      await others.destroy();
    });

  it('works in three processes at once', async () => {
    const project = await makeProject(db);
    await fill(project, 1_500);
    await deleteProject(db, project.id);
    const { id } = await erasureOf(project.id);
    await Promise.all([1, 2, 3].map(() => runErasure(db, id, never)));
    expect(await storedErasures(db, { id }).first()).to.include({ done: true });
    expect(await rowsOf('contacts', project.id)).to.equal(0);
  });

  it('writes an outbox message in the transaction of the deletion', async () => {
    const project = await makeProject(db);
    await deleteProject(db, project.id);
    const { id } = await erasureOf(project.id);
    const [message] = await outboxMessages(db, { workflowId: `erasure/${project.id}/${id}` });
    expect(message).to.include({ action: 'start', projectId: project.id });
    expect(message.payload).to.deep.include({ workflowType: 'erasure', args: [{ erasureId: id }] });
  });

  it('enables the project again when a reset has ended', async () => {
    const project = await makeProject(db);
    await fill(project, 20);
    // The state after a crash of the process that started the reset.
    await setProject(db, project.id, { disabled: true, disabledReason: 'its data is being wiped' });
    const id = newId();
    await addReset(db, project.id, id);
    await runErasure(db, id, never);
    expect(await rowsOf('contacts', project.id)).to.equal(0);
    expect(await storedProject(db, project.id)).to.include({
      disabled: false,
      disabledReason: null,
    });
  });

  it('does not enable a project that is disabled for another reason', async () => {
    const project = await makeProject(db);
    await setProject(db, project.id, { disabled: true, disabledReason: 'too many bounces' });
    await resetProject(db, project.id);
    expect(await storedProject(db, project.id)).to.include({
      disabled: true,
      disabledReason: 'too many bounces',
    });
  });

  it('becomes a deletion when the project is deleted meanwhile', async () => {
    const project = await makeProject(db);
    await fill(project, 5);
    const id = newId();
    await addReset(db, project.id, id);
    await deleteProject(db, project.id);
    expect(await storedErasures(db, { projectId: project.id })).to.have.length(1);
    await runErasure(db, id, never);
    expect(await storedProject(db, project.id)).to.equal(undefined);
  });
});
