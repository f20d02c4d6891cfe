import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase } from '../../support/database-functions.ts';
import { insertUser } from '../../support/users.ts';

describe('database functions of notifications', () => {
  let database: FunctionTestDatabase;
  let people = 0;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  const notifications = (): Promise<
    { type: string; data: Record<string, unknown>; inApp: boolean; mailDue: boolean }[]
  > =>
    database
      .db('notifications')
      .where({ projectId: database.projectId })
      .orderBy('id')
      .select('type', 'data', 'inApp', 'mailDue');
  const addMember = async (role: string, status = 'ACTIVE'): Promise<string> => {
    const user = await insertUser(database.db, { email: `member${++people}@example.com` });
    await database.db('memberships').insert({ projectId: database.projectId, userId: user.id, role, status });
    return user.id;
  };
  const told = async () => (await notifications()).map(({ type, data }) => [type, data]);

  describe('notify_members', () => {
    const notify = (type: string, mail = 'due', managersOnly = false) =>
      database.value('select notify_members(?, ?, ?, ?, ?)', [
        database.projectId,
        type,
        '{"a": 1}',
        mail,
        managersOnly,
      ]);
    const set = (userId: string, type: string, app: boolean, email: boolean) =>
      database.db('notificationSettings').insert({ userId, type, app, email });
    const usersTold = async () =>
      (await database.db('notifications').where({ projectId: database.projectId })).map(({ userId }) => userId);

    it('tells each active member once, and none who is only invited', async () => {
      const viewer = await addMember('VIEWER');
      const invited = await addMember('MEMBER', 'PENDING');
      await notify('campaign.paused');
      expect(await usersTold())
        .to.include(viewer)
        .and.not.include(invited);
      expect(await notifications()).to.deep.equal([
        { type: 'campaign.paused', data: { a: 1 }, inApp: true, mailDue: true },
        { type: 'campaign.paused', data: { a: 1 }, inApp: true, mailDue: true },
      ]);
    });

    it('mails what needs a person by default, and nothing where the caller mails', async () => {
      await notify('campaign.finished');
      await notify('import.finished');
      await notify('domain.lost', 'none');
      await notify('campaign.paused');
      expect((await notifications()).map(({ type, mailDue }) => [type, mailDue])).to.deep.equal([
        ['campaign.finished', false],
        ['import.finished', false],
        ['domain.lost', false],
        ['campaign.paused', true],
      ]);
    });

    it('follows the settings of each member and type', async () => {
      const silent = await addMember('MEMBER');
      const mailOnly = await addMember('MEMBER');
      const other = await addMember('MEMBER');
      await set(silent, 'campaign.finished', false, false);
      await set(mailOnly, 'campaign.finished', false, true);
      await set(other, 'campaign.paused', false, false);
      await notify('campaign.finished');
      expect(await usersTold())
        .to.include.members([mailOnly, other])
        .and.not.include(silent);
      const [row] = await database.db('notifications').where({ userId: mailOnly });
      expect(row).to.include({ inApp: false, mailDue: true });
    });

    it('tells only those who manage the project on request', async () => {
      const member = await addMember('MEMBER');
      const admin = await addMember('ADMIN');
      await notify('project.near_limit', 'none', true);
      expect(await usersTold())
        .to.include(admin)
        .and.not.include(member);
    });
  });

  describe('notify_campaign', () => {
    it('tells that a campaign has finished or paused itself, not that a person paused it', async () => {
      const id = await database.addCampaign({ status: 'SENDING' });
      const update = (values: object) => database.db('campaigns').where({ id }).update(values);
      await update({ paused: true, pausedBy: 'USER' });
      await update({ paused: false, pausedBy: null });
      expect(await told()).to.deep.equal([]);
      await update({ paused: true, pausedBy: 'AUTO_PAUSE', pauseReason: 'bounces' });
      await update({ pauseReason: 'more bounces' });
      await update({ paused: false, pausedBy: null });
      await update({ status: 'SENT' });
      await update({ name: 'Renamed' });
      expect(await told()).to.deep.equal([
        ['campaign.paused', { campaignId: id, name: 'Spring', reason: 'bounces' }],
        ['campaign.finished', { campaignId: id, name: 'Spring' }],
      ]);
    });
  });

  describe('notify_domain', () => {
    it('tells once that a domain is no longer verified', async () => {
      const [{ id, domain }] = await database.db('domains').where({ projectId: database.projectId });
      await database.db('domains').where({ id }).update({ status: 'PENDING' });
      await database.db('domains').where({ id }).update({ status: 'VERIFIED' });
      expect(await told()).to.deep.equal([['domain.lost', { domainId: id, domain }]]);
    });
  });

  describe('notify_endpoint', () => {
    it('tells that an endpoint was disabled for failing, by its host, not that a person disabled it', async () => {
      const id = newId();
      const endpoint = { id, projectId: database.projectId, url: 'https://u:pw@hooks.example:8443/secret?token=x' };
      await database.db('webhookEndpoints').insert({ ...endpoint, types: ['*'], secret: 'x' });
      const update = (values: object) => database.db('webhookEndpoints').where({ id }).update(values);
      await update({ enabled: false, disabledAt: new Date() });
      await update({ enabled: true, disabledAt: null });
      expect(await told()).to.deep.equal([]);
      await update({ enabled: false, disabledAt: new Date(), disabledReason: 'failing' });
      expect(await told()).to.deep.equal([
        ['endpoint.disabled', { endpointId: id, host: 'hooks.example:8443', reason: 'failing' }],
      ]);
    });
  });

  describe('notify_import', () => {
    const finish = async (columns: object, status: string): Promise<string> => {
      const id = newId();
      const job = { id, projectId: database.projectId, type: 'IMPORT', total: 3, result: '{}', ...columns };
      await database.db('jobs').insert({ ...job, status: 'RUNNING' });
      await database.db('jobs').where({ id }).update({ processed: 3 });
      await database.db('jobs').where({ id }).update({ status });
      return id;
    };

    it('tells that an import has completed or failed, not that it was cancelled or a dry run or another job', async () => {
      await finish({}, 'CANCELLED');
      await finish({ result: '{"dryRun": true}' }, 'COMPLETED');
      await finish({ type: 'BULK_DELETE' }, 'COMPLETED');
      expect(await told()).to.deep.equal([]);
      const done = await finish({}, 'COMPLETED');
      const failed = await finish({ type: 'SUPPRESSION_IMPORT', failedReason: 'not a CSV' }, 'FAILED');
      const data = { jobType: 'IMPORT', status: 'COMPLETED', total: 3, failedReason: null };
      expect(await told()).to.deep.equal([
        ['import.finished', { ...data, jobId: done }],
        [
          'import.finished',
          { ...data, jobId: failed, jobType: 'SUPPRESSION_IMPORT', status: 'FAILED', failedReason: 'not a CSV' },
        ],
      ]);
    });
  });
});
