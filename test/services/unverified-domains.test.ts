import { expect } from 'chai';
import { Domain } from '../../db/models/domain.ts';
import { readSettings } from '../../platform/settings.ts';
import { createDomain } from '../../services/domains/create.ts';
import { removeUnverifiedDomains } from '../../services/domains/remove-unverified.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { systemMailsWith } from '../support/rows/mails.ts';
import { outboxMessages } from '../support/rows/outbox.ts';

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

describe('domains that were never verified', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let made = 0;
  const settings = readSettings({});

  before(async () => {
    database = await connectTestDatabase();
  });
  beforeEach(async () => {
    await database.db('domains').del();
    project = await makeProject(database.db);
  });
  after(() => database.close());

  const add = async (days: number, patch: Partial<Domain> = {}) => {
    const { domain } = await createDomain(database.db, project.access, `idle${++made}.example`, settings);
    await Domain.query(database.db)
      .findById(domain.id)
      .patch({ createdAt: daysAgo(days), ...patch });
    return domain;
  };
  const run = () => removeUnverifiedDomains(database.db, settings);
  const exists = async ({ id }: Domain) => (await Domain.query(database.db).findById(id)) !== undefined;
  const warnings = async ({ domain }: Domain) =>
    systemMailsWith(database.db, `${domain} will be removed`).pluck('toEmail');
  const pass = ({ id }: Domain, days: number) =>
    database.db.raw(
      `update domains set created_at = created_at - make_interval(hours => :hours),
         removal_warned_at = removal_warned_at - make_interval(hours => :hours) where id = :id`,
      { id, hours: days * 24 },
    );

  it('are announced by one mail after 23 days and removed with their loop after 30', async () => {
    const domain = await add(22);
    expect(await run()).to.deep.equal({ warned: 0, removed: 0 });
    await pass(domain, 1.5);
    expect(await run()).to.deep.equal({ warned: 1, removed: 0 });
    expect(await run()).to.deep.equal({ warned: 0, removed: 0 });
    expect(await warnings(domain)).to.have.length(1);
    await pass(domain, 6);
    expect(await run()).to.deep.equal({ warned: 0, removed: 0 });
    await pass(domain, 1.5);
    expect(await run()).to.deep.equal({ warned: 0, removed: 1 });
    expect(await exists(domain)).to.equal(false);
    const actions = await outboxMessages(database.db, { workflowId: `domain/${project.id}/${domain.id}/1` });
    expect(actions.map(({ action }) => action)).to.deep.equal(['start', 'cancel']);
    expect(await warnings(domain)).to.have.length(1);
  });

  it('are kept for a week after a late warning', async () => {
    const domain = await add(400);
    expect(await run()).to.deep.equal({ warned: 1, removed: 0 });
    expect(await run()).to.deep.equal({ warned: 0, removed: 0 });
    expect(await exists(domain)).to.equal(true);
    await pass(domain, 7.5);
    expect(await run()).to.deep.equal({ warned: 0, removed: 1 });
  });

  it('are kept when they have been verified at any time, or are managed', async () => {
    const lost = await add(400, { everVerified: true, removalWarnedAt: daysAgo(100) });
    const managed = await add(400, { managed: true, removalWarnedAt: daysAgo(100) });
    expect(await run()).to.deep.equal({ warned: 0, removed: 0 });
    expect([await exists(lost), await exists(managed)]).to.deep.equal([true, true]);
  });

  it('are kept while a template sends from them', async () => {
    const domain = await add(400, { removalWarnedAt: daysAgo(100) });
    const row = { projectId: project.id, name: 'T', subject: 'S', body: 'B', type: 'MARKETING' };
    await database.db('templates').insert({ ...row, id: domain.id, fromEmail: `a@${domain.domain}` });
    expect(await run()).to.deep.equal({ warned: 0, removed: 0 });
    await database.db('templates').where({ id: domain.id }).del();
    expect(await run()).to.deep.equal({ warned: 0, removed: 1 });
  });

  it('are announced and removed once when several processes run concurrently', async () => {
    const domains = [await add(25), await add(26), await add(27)];
    const old = await add(40, { removalWarnedAt: daysAgo(8) });
    const runs = await Promise.all([run(), run(), run(), run()]);
    expect(runs.reduce((sum, { warned }) => sum + warned, 0)).to.equal(3);
    expect(runs.reduce((sum, { removed }) => sum + removed, 0)).to.equal(1);
    expect(await exists(old)).to.equal(false);
    for (const domain of domains) expect(await warnings(domain)).to.have.length(1);
  });

  it('are neither marked nor announced when the transaction is interrupted', async () => {
    const domain = await add(25);
    await database.db.raw(`
      create function refuse_warning() returns trigger language plpgsql as $$ begin raise exception 'cut'; end $$;
      create trigger refuse_warning before insert on email_contents for each row execute function refuse_warning()`);
    await run().then(
      () => expect.fail('the run was to fail'),
      (error: Error) => expect(error.message).to.contain('cut'),
    );
    await database.db.raw('drop trigger refuse_warning on email_contents; drop function refuse_warning()');
    expect((await Domain.query(database.db).findById(domain.id))?.removalWarnedAt).to.equal(null);
    expect(await run()).to.deep.equal({ warned: 1, removed: 0 });
    expect(await warnings(domain)).to.have.length(1);
  });
});
