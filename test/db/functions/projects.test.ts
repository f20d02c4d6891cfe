import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { openSqlWorld, type SqlWorld } from '../../support/database-functions.ts';

const DAY_MS = 86_400_000;
const SYSTEM_PROJECT = '00000000-0000-7000-8000-000000000001';

describe('database functions of projects', () => {
  let world: SqlWorld;

  before(async () => {
    world = await openSqlWorld();
  });
  beforeEach(() => world.renew());
  after(() => world.close());

  const changeProject = (change: object) => world.db('projects').where({ id: world.projectId }).update(change);

  describe('billing_period', () => {
    const period = async () => (await world.value('select billing_period(?)', [world.projectId])) as Date;
    const monthStart = () => {
      const now = new Date();
      return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
    };

    it('is the month of UTC without a subscription', async () => {
      expect(await period()).to.deep.equal(monthStart());
    });

    it('is the period of a subscription until that has ended', async () => {
      const periodStart = new Date(Date.now() - 10 * DAY_MS);
      const periodEnd = new Date(Date.now() + 20 * DAY_MS);
      await world.db('projectBilling').insert({ projectId: world.projectId, periodStart, periodEnd });
      expect(await period()).to.deep.equal(periodStart);
      await world.db('projectBilling').where({ projectId: world.projectId }).update({ periodEnd: new Date() });
      expect(await period()).to.deep.equal(monthStart());
    });
  });

  describe('sending_block_reason', () => {
    const reason = (domain = world.senderDomain, source: string | null = null, id = world.projectId) =>
      world.value('select sending_block_reason(?, ?, ?)', [id, domain, source]);

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
      const other = world.senderDomain;
      await world.renew();
      const pending = `pending.${world.senderDomain}`;
      await world.db('domains').insert({ id: newId(), projectId: world.projectId, domain: pending });
      for (const domain of ['unknown.example', pending, other])
        expect(await reason(domain), domain).to.equal('domain not verified');
    });

    it('ignores the sender for an empty domain and for the project of our own mail', async () => {
      expect(await reason('')).to.equal(null);
      expect(await reason('unknown.example', null, SYSTEM_PROJECT)).to.equal(null);
    });

    it('blocks the sources whose billing cap is reached', async () => {
      await changeProject({ cappedSources: ['CAMPAIGN', 'WORKFLOW'] });
      expect(await reason(world.senderDomain, 'CAMPAIGN')).to.equal('billing cap reached');
      expect(await reason(world.senderDomain, 'TRANSACTIONAL')).to.equal(null);
      expect(await reason(world.senderDomain)).to.equal(null);
      expect(await reason('unknown.example', 'CAMPAIGN')).to.equal('domain not verified');
    });
  });

  describe('renew_senders_version', () => {
    const isRenewedBy = async (change: () => PromiseLike<unknown>) => {
      const version = () => world.value('select senders_version from projects where id = ?', [world.projectId]);
      const before = await version();
      await change();
      return (await version()) !== before;
    };
    const add = (domain: string, status: string) =>
      world.db('domains').insert({ id: newId(), projectId: world.projectId, domain, status });
    const change = (domain: string, columns: object) => world.db('domains').where({ domain }).update(columns);

    it('renews the version when a verified domain is added, changed or removed', async () => {
      const name = `more.${world.senderDomain}`;
      expect(await isRenewedBy(() => add(name, 'VERIFIED')), 'added').to.equal(true);
      expect(await isRenewedBy(() => change(name, { status: 'PENDING' })), 'lost').to.equal(true);
      expect(await isRenewedBy(() => change(name, { status: 'VERIFIED' })), 'verified').to.equal(true);
      expect(await isRenewedBy(() => change(name, { domain: `new.${name}` })), 'renamed').to.equal(true);
      expect(
        await isRenewedBy(() =>
          world
            .db('domains')
            .where({ domain: `new.${name}` })
            .delete(),
        ),
        'removed',
      ).to.equal(true);
    });

    it('keeps the version for pending domains and for other columns', async () => {
      const name = `pending.${world.senderDomain}`;
      expect(await isRenewedBy(() => add(name, 'PENDING')), 'added').to.equal(false);
      expect(await isRenewedBy(() => world.db('domains').where({ domain: name }).delete()), 'removed').to.equal(false);
      expect(await isRenewedBy(() => change(world.senderDomain, { failedChecks: 3 })), 'checked').to.equal(false);
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
      const [row] = await world.rows('select * from rate_grants(100, 200, ?, ?, ?, ?, ?, ?, ?, ?, ?)', [
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
