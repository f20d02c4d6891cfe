import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import { newId } from '../../platform/ids.ts';
import { deleteDomain } from '../../services/domains/delete.ts';
import { deleteProject } from '../../services/removal/project.ts';
import { eventually } from '../support/waiting.ts';
import { makeProject, openWorld, type TestProject, type World } from '../support/world.ts';

describe('senders_version of a project', () => {
  let world: World;
  let db: Db;
  let project: TestProject;
  let name: string;

  before(async () => {
    world = await openWorld();
    ({ db } = world);
  });
  beforeEach(async () => {
    project = await makeProject(db);
    name = `more.${project.senderDomain}`;
  });
  after(() => world.close());

  const version = async (id = project.id): Promise<string> =>
    (await db('projects').where({ id }).first('sendersVersion')).sendersVersion;
  const isRenewedBy = async (change: PromiseLike<unknown>): Promise<boolean> => {
    const before = await version();
    await change;
    return (await version()) !== before;
  };
  const add = (status: Domain['status']) =>
    Domain.query(db).insert({ id: newId(), projectId: project.id, domain: name, status });
  const change = (domain: string, patch: Partial<Domain>) => Domain.query(db).where({ domain }).patch(patch);
  const remove = (domain: string) => Domain.query(db).delete().where({ domain });

  // Objection starts a query when it is awaited.
  it('changes with every change of a verified domain', async () => {
    expect(await isRenewedBy(add('VERIFIED')), 'added').to.equal(true);
    expect(await isRenewedBy(change(name, { status: 'PENDING' })), 'lost').to.equal(true);
    expect(await isRenewedBy(change(name, { status: 'VERIFIED' })), 'gained').to.equal(true);
    expect(await isRenewedBy(change(name, { domain: `new.${name}` })), 'renamed').to.equal(true);
    expect(await isRenewedBy(remove(`new.${name}`)), 'deleted').to.equal(true);
  });

  it('changes for both projects when a domain moves, and for no other', async () => {
    const [other, third] = [await makeProject(db), await makeProject(db)];
    const before = [await version(), await version(other.id), await version(third.id)];
    await change(project.senderDomain, { projectId: other.id });
    const after = [await version(), await version(other.id), await version(third.id)];
    expect(after.map((value, n) => value === before[n])).to.deep.equal([false, false, true]);
  });

  it('stays the same when an unverified domain or a check changes', async () => {
    expect(await isRenewedBy(add('PENDING')), 'added').to.equal(false);
    expect(await isRenewedBy(change(name, { domain: `new.${name}` })), 'renamed').to.equal(false);
    expect(await isRenewedBy(remove(`new.${name}`)), 'deleted').to.equal(false);
    const checked = { lastCheckedAt: new Date(), failedChecks: 1, status: 'VERIFIED' } as const;
    expect(await isRenewedBy(change(project.senderDomain, checked)), 'checked').to.equal(false);
  });

  it('changes without an error when many domains change concurrently', async () => {
    const names = Array.from({ length: 20 }, (_, n) => `d${n}.${project.senderDomain}`);
    const rows = names.map((domain) => ({ id: newId(), projectId: project.id, domain, status: 'PENDING' as const }));
    await Domain.query(db).insert(rows);
    const before = await version();
    await Promise.all([
      ...rows.slice(0, 10).map(({ id }) => Domain.query(db).findById(id).patch({ status: 'VERIFIED' })),
      ...rows.slice(10).map(async ({ id }) => {
        await Domain.query(db).findById(id).patch({ status: 'VERIFIED' });
        await deleteDomain(db, project.access, id);
      }),
    ]);
    expect(await version()).to.not.equal(before);
    expect(await Domain.query(db).where({ projectId: project.id, status: 'VERIFIED' })).to.have.length(11);
  });

  it('causes no deadlock when the project is deleted while one of its domains is checked', async () => {
    const check = await db.transaction();
    const { id } = await Domain.query(check)
      .findOne({ domain: project.senderDomain })
      .forNoKeyUpdate()
      .throwIfNotFound();
    const deleted = deleteProject(db, project.id).then(() => 'deleted');
    await eventually(async () => {
      const { rows } = await db.raw(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length > 0;
    });
    await Domain.query(check).findById(id).patch({ status: 'PENDING' });
    await check.commit();
    expect(await deleted).to.equal('deleted');
    expect(await Domain.query(db).where({ projectId: project.id })).to.deep.equal([]);
  });
});
