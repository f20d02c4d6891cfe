import { expect } from 'chai';
import type { Db } from '../../../db/connect.ts';
import { Domain } from '../../../db/models/domain.ts';
import { newId } from '../../../platform/ids.ts';
import { deleteDomain } from '../../../services/domains/delete.ts';
import { deleteProject } from '../../../services/removal/project.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase } from '../../support/database-functions.ts';
import { eventually } from '../../support/waiting.ts';

const DAY_MS = 86_400_000;
const SYSTEM_PROJECT = '00000000-0000-7000-8000-000000000001';

describe('database functions of projects', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  const changeProject = (change: object) => database.db('projects').where({ id: database.projectId }).update(change);

  describe('billing_period', () => {
    const period = async () => (await database.value('select billing_period(?)', [database.projectId])) as Date;
    const isInOrder = ([before = 0, found = 0, after = 0]: number[]) => before <= found && found <= after;
    const monthStart = () => {
      const now = new Date();
      return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
    };

    it('is the month of UTC without a subscription', async () => {
      // The month may end meanwhile.
      expect([monthStart(), await period(), monthStart()].map(Number)).to.satisfy(isInOrder);
    });

    it('is the period of a subscription until that has ended', async () => {
      const periodStart = new Date(Date.now() - 10 * DAY_MS);
      const periodEnd = new Date(Date.now() + 20 * DAY_MS);
      await database.db('projectBilling').insert({ projectId: database.projectId, periodStart, periodEnd });
      expect(await period()).to.deep.equal(periodStart);
      await database.db('projectBilling').where({ projectId: database.projectId }).update({ periodEnd: new Date() });
      expect([monthStart(), await period(), monthStart()].map(Number)).to.satisfy(isInOrder);
    });
  });

  describe('sending_block_reason', () => {
    const reason = (domain = database.senderDomain, source: string | null = null, id = database.projectId) =>
      database.value('select sending_block_reason(?, ?, ?)', [id, domain, source]);

    it('is null for a verified domain of the project', async () => {
      expect(await reason()).to.equal(null);
    });

    it('blocks an unknown and a disabled project', async () => {
      expect(await reason('', null, newId())).to.equal('project disabled');
      await changeProject({ disabled: true, sendingBlockedReason: 'under review' });
      expect(await reason()).to.equal('project disabled');
    });

    it('returns the reason that is stored with the project', async () => {
      await changeProject({ sendingBlockedReason: 'under review', cappedSources: ['TRANSACTIONAL'] });
      expect(await reason('unknown.example', 'TRANSACTIONAL')).to.equal('under review');
    });

    it('blocks domains that are unknown, unverified or of another project', async () => {
      const other = database.senderDomain;
      await database.renew();
      const pending = `pending.${database.senderDomain}`;
      await database.db('domains').insert({ id: newId(), projectId: database.projectId, domain: pending });
      for (const domain of ['unknown.example', pending, other])
        expect(await reason(domain), domain).to.equal('domain not verified');
    });

    it('ignores the sender for an empty domain and for the project of our own mail', async () => {
      expect(await reason('')).to.equal(null);
      expect(await reason('unknown.example', null, SYSTEM_PROJECT)).to.equal(null);
    });

    it('blocks the sources whose billing billing limit is reached', async () => {
      await changeProject({ cappedSources: ['CAMPAIGN', 'WORKFLOW'] });
      expect(await reason(database.senderDomain, 'CAMPAIGN')).to.equal('billing cap reached');
      expect(await reason(database.senderDomain, 'TRANSACTIONAL')).to.equal(null);
      expect(await reason(database.senderDomain)).to.equal(null);
      expect(await reason('unknown.example', 'CAMPAIGN')).to.equal('domain not verified');
    });
  });

  describe('renew_senders_version', () => {
    const isRenewedBy = async (change: () => PromiseLike<unknown>) => {
      const version = () => database.value('select senders_version from projects where id = ?', [database.projectId]);
      const before = await version();
      await change();
      return (await version()) !== before;
    };
    const add = (domain: string, status: string) =>
      database.db('domains').insert({ id: newId(), projectId: database.projectId, domain, status });
    const change = (domain: string, columns: object) => database.db('domains').where({ domain }).update(columns);

    it('renews the version when a verified domain is added, changed or removed', async () => {
      const name = `more.${database.senderDomain}`;
      expect(await isRenewedBy(() => add(name, 'VERIFIED')), 'added').to.equal(true);
      expect(await isRenewedBy(() => change(name, { status: 'PENDING' })), 'lost').to.equal(true);
      expect(await isRenewedBy(() => change(name, { status: 'VERIFIED' })), 'verified').to.equal(true);
      expect(await isRenewedBy(() => change(name, { domain: `new.${name}` })), 'renamed').to.equal(true);
      expect(
        await isRenewedBy(() =>
          database
            .db('domains')
            .where({ domain: `new.${name}` })
            .delete(),
        ),
        'removed',
      ).to.equal(true);
    });

    it('keeps the version for pending domains and for other columns', async () => {
      const name = `pending.${database.senderDomain}`;
      expect(await isRenewedBy(() => add(name, 'PENDING')), 'added').to.equal(false);
      expect(await isRenewedBy(() => database.db('domains').where({ domain: name }).delete()), 'removed').to.equal(
        false,
      );
      expect(await isRenewedBy(() => change(database.senderDomain, { failedChecks: 3 })), 'checked').to.equal(false);
    });
  });

  describe('rate_grants', () => {
    interface Window {
      granted?: number;
      secretGranted?: number;
      settled?: number;
      secretSettled?: number;
      tight?: boolean;
      secretTight?: boolean;
      waitingPublic?: number;
      waitingSecret?: number;
      spareLimit?: number;
    }
    /** With a limit of 100 calls, and 200 for both keys together. */
    const grant = async (window: Window) => {
      const [row] = await database.rows('select * from rate_grants(100, 200, ?, ?, ?, ?, ?, ?, ?, ?, ?)', [
        window.granted ?? 0,
        window.secretGranted ?? 0,
        window.settled ?? 0,
        window.secretSettled ?? 0,
        window.tight ?? false,
        window.secretTight ?? false,
        window.waitingPublic ?? 0,
        window.waitingSecret ?? 0,
        window.spareLimit ?? 50,
      ]);
      return row;
    };
    const loose = { now_tight: false, now_secret_tight: false };

    it('grants a tenth of the rest in advance, up to the spare limit', async () => {
      expect(await grant({ waitingPublic: 1 })).to.deep.equal({ public_grant: 10, secret_grant: 0, ...loose });
      expect(await grant({ waitingPublic: 1, spareLimit: 3 })).to.include({ public_grant: 4 });
      expect(await grant({ waitingPublic: 1, granted: 95, settled: 95 })).to.include({ public_grant: 1 });
    });

    it('grants no public call beyond the limit, and leaves the window loose when all grants are reported', async () => {
      expect(await grant({ waitingPublic: 5, granted: 98, settled: 98 })).to.include({ public_grant: 2 });
      expect(await grant({ waitingPublic: 1, granted: 100, settled: 100 })).to.deep.equal({
        public_grant: 0,
        secret_grant: 0,
        ...loose,
      });
    });

    it('grants the secret key its own share once no public call is unspent', async () => {
      const spent = { granted: 100, settled: 100 };
      expect(await grant({ ...spent, waitingSecret: 1 })).to.include({ public_grant: 0, secret_grant: 10 });
      expect(
        await grant({ granted: 200, settled: 200, secretGranted: 100, secretSettled: 100, waitingSecret: 1 }),
      ).to.include({ secret_grant: 0 });
    });

    it('refuses the secret key at the limit while public grants are unspent, and turns tight', async () => {
      expect(await grant({ granted: 100, settled: 90, waitingSecret: 1 })).to.deep.equal({
        public_grant: 0,
        secret_grant: 0,
        now_tight: true,
        now_secret_tight: true,
      });
    });

    it('grants nothing in advance in a tight window', async () => {
      const window = { granted: 50, settled: 50, tight: true };
      expect(await grant({ ...window, waitingPublic: 1 })).to.include({ public_grant: 1, now_tight: true });
      expect(await grant({ ...window, waitingSecret: 1 })).to.include({ secret_grant: 1, now_tight: true });
    });

    it('serves the secret key first when both wait for the last calls', async () => {
      expect(await grant({ granted: 98, settled: 98, waitingPublic: 2, waitingSecret: 1 })).to.include({
        public_grant: 1,
        secret_grant: 10,
      });
    });
  });
});

describe('senders_version of a project', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let project: TestProject;
  let name: string;

  before(async () => {
    database = await connectTestDatabase();
    ({ db } = database);
  });
  beforeEach(async () => {
    project = await makeProject(db);
    name = `more.${project.senderDomain}`;
  });
  after(() => database.close());

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
    const other = await makeProject(db);
    const third = await makeProject(db);
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
