import { expect } from 'chai';
import type { Db } from '../../../db/connect.ts';
import { newId } from '../../../platform/ids.ts';
import { deleteProject, resetProject } from '../../../services/projects/erase.ts';
import { runErasure } from '../../../services/projects/erase-run.ts';
import { kept, leftAlone, wiped } from '../../../services/projects/erase-tables.ts';
import { makeProject, openWorld, type TestProject, type World } from '../../support/world.ts';

const never = () => false;

describe('wiping a project', () => {
  let world: World;
  let db: Db;

  before(async () => {
    world = await openWorld();
    db = world.db;
  });
  after(() => world.close());

  async function tablesWithProject(): Promise<string[]> {
    const { rows } = await db.raw(`
      select c.relname as name from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'project_id'
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`);
    return rows.map(({ name }: { name: string }) => name);
  }

  const erasureOf = async (projectId: string) =>
    (await db('projectErasures').where({ projectId }).orderBy('createdAt', 'desc').first()) as { id: string };
  const rowsOf = async (table: string, projectId: string) =>
    Number((await db.raw(`select count(*) from ${table} where project_id = ?`, [projectId])).rows[0].count);

  async function fill({ id }: TestProject, contacts: number): Promise<void> {
    await db.raw(
      `insert into contacts (id, project_id, email, subscribed)
       select gen_random_uuid(), ?, 'c' || n || '@example.com', true from generate_series(1, ?) n`,
      [id, contacts],
    );
    await db.raw(
      `insert into events (id, project_id, contact_id, name)
       select gen_random_uuid(), project_id, id, 'x' from contacts where project_id = ?`,
      [id],
    );
    await db.raw(
      `insert into emails (id, project_id, contact_id) select gen_random_uuid(), project_id, id from contacts
       where project_id = ?`,
      [id],
    );
    await db.raw(
      `insert into email_contents (email_id, project_id, to_email, from_email, subject, html)
       select id, project_id, 'a@b.co', 'a@b.co', 's', 'b' from emails where project_id = ?`,
      [id],
    );
    const segmentId = newId();
    await db('segments').insert({ id: segmentId, projectId: id, slug: 's', name: 's', type: 'STATIC' });
    await db.raw(
      'insert into segment_members (segment_id, contact_id) select ?, id from contacts where project_id = ?',
      [segmentId, id],
    );
  }

  it('knows every table that has a project: a new one must say what becomes of its rows', async () => {
    expect(await tablesWithProject()).to.have.members([...wiped, ...kept, ...leftAlone]);
  });

  it('is stopped by no table that hangs on another one', async () => {
    const { rows } = await db.raw(`
      select conrelid::regclass::text as child, confrelid::regclass::text as parent from pg_constraint
      where contype = 'f' and confdeltype not in ('c', 'n')`);
    const gone: string[] = [...wiped, ...kept, 'projects'];
    expect(rows.filter(({ parent }: { parent: string }) => gone.includes(parent))).to.deep.equal([]);
  });

  it('deletes every row of the project, and of no other one', async () => {
    const [project, other] = [await makeProject(db), await makeProject(db)];
    for (const one of [project, other]) await fill(one, 30);
    await deleteProject(db, project.id);
    const { id } = await erasureOf(project.id);
    expect(await runErasure(db, id, never)).to.include({ ended: true });
    for (const table of [...wiped, ...kept]) expect(await rowsOf(table, project.id), table).to.equal(0);
    expect(await db('projects').where({ id: project.id })).to.have.length(0);
    for (const table of ['contacts', 'events', 'emails', 'email_contents'])
      expect(await rowsOf(table, other.id), table).to.equal(30);
    const { rows } = await db.raw('select count(*)::integer from segment_members');
    expect(rows[0].count).to.equal(30);
  });

  it('goes on where it was left, chunk by chunk, and ends for whoever comes again', async () => {
    const project = await makeProject(db);
    await fill(project, 2_500);
    await deleteProject(db, project.id);
    const { id } = await erasureOf(project.id);
    let slices = 0;
    for (let ended = false; !ended; slices++) ended = (await runErasure(db, id, () => true)).ended;
    expect(slices).to.be.greaterThan(10);
    expect(await rowsOf('contacts', project.id)).to.equal(0);
    expect(await runErasure(db, id, never)).to.include({ ended: true });
  });

  it('lets several do it at once', async () => {
    const project = await makeProject(db);
    await fill(project, 1_500);
    await deleteProject(db, project.id);
    const { id } = await erasureOf(project.id);
    await Promise.all([1, 2, 3].map(() => runErasure(db, id, never)));
    expect(await db('projectErasures').where({ id }).first()).to.include({ done: true });
    expect(await rowsOf('contacts', project.id)).to.equal(0);
  });

  it('leaves an intent for the background, in the transaction of the deletion', async () => {
    const project = await makeProject(db);
    await deleteProject(db, project.id);
    const { id } = await erasureOf(project.id);
    const [intent] = await db('outbox').where({ workflowId: `erasure/${project.id}/${id}` });
    expect(intent).to.include({ action: 'start', projectId: project.id });
    expect(intent.payload).to.deep.include({ workflowType: 'erasure', args: [{ erasureId: id }] });
  });

  it('refuses writes while a reset is under way, and takes them again when it is done', async () => {
    const project = await makeProject(db);
    await fill(project, 20);
    // As a process leaves it that dies right after the promise.
    await db('projects')
      .where({ id: project.id })
      .update({ disabled: true, disabledReason: 'its data is being wiped' });
    const id = newId();
    await db('projectErasures').insert({ id, projectId: project.id, kind: 'RESET' });
    await runErasure(db, id, never);
    expect(await rowsOf('contacts', project.id)).to.equal(0);
    expect(await db('projects').where({ id: project.id }).first()).to.include({
      disabled: false,
      disabledReason: null,
    });
  });

  it('does not enable a project that was disabled for another reason', async () => {
    const project = await makeProject(db);
    await db('projects').where({ id: project.id }).update({ disabled: true, disabledReason: 'too many bounces' });
    await resetProject(db, project.id);
    expect(await db('projects').where({ id: project.id }).first()).to.include({
      disabled: true,
      disabledReason: 'too many bounces',
    });
  });

  it('becomes a deletion when the project is deleted meanwhile', async () => {
    const project = await makeProject(db);
    await fill(project, 5);
    const id = newId();
    await db('projectErasures').insert({ id, projectId: project.id, kind: 'RESET' });
    await deleteProject(db, project.id);
    expect(await db('projectErasures').where({ projectId: project.id })).to.have.length(1);
    await runErasure(db, id, never);
    expect(await db('projects').where({ id: project.id })).to.have.length(0);
  });
});
