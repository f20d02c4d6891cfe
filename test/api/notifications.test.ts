import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { mailMembersAboutDomain } from '../../services/domains/mail-members.ts';
import { mailNotifications } from '../../services/notifications/mail.ts';
import { membersToMail } from '../../services/notifications/recipients.ts';
import { type Person, person, systemMails } from '../support/accounts.ts';
import { type ApiProject, type Client, client, describeApi } from '../support/api.ts';
import { completeCampaign, setCampaigns } from '../support/rows/campaigns.ts';
import { countRows, emptyTables } from '../support/rows/tables.ts';
import { enableTwoFactor } from '../support/two-factor.ts';

const SETTINGS = '/users/@me/notification-settings';
const MAIL = { systemFrom: 'system@everpost.example', baseUrl: 'https://everpost.example' };
const on = { app: true, email: true };
const DEFAULTS = {
  'campaign.finished': { app: true, email: false },
  'campaign.paused': on,
  'domain.lost': on,
  'endpoint.disabled': on,
  'form.attacked': on,
  'import.finished': { app: true, email: false },
  'project.near_limit': on,
};

describeApi('notifications', (api) => {
  let project: ApiProject;
  let reader: Person;
  let own: Client;

  beforeEach(async () => {
    await emptyTables(api.db, 'notifications');
    project = await api.project();
    reader = await person(api, { project: project.id, role: 'VIEWER' });
    own = client(api.url, { cookie: reader.cookie });
  });

  const campaign = async (name: string): Promise<string> => {
    const from = `news@${project.senderDomain}`;
    const draft = { name, subject: 's', body: 'b', from, audienceType: 'ALL' };
    return (await project.server.post('/campaigns', draft)).body.data.id;
  };
  /** Ends a campaign as the worker does: by its row. */
  const finish = async (name: string): Promise<string> => {
    const id = await campaign(name);
    await completeCampaign(api.db, id);
    return id;
  };
  const list = async (query = '', by = own) => {
    const answer = await by.get(`/notifications${query}`);
    expect(answer).to.have.status(200);
    return answer.body;
  };
  const mails = () => systemMails(api.db, reader.email);

  it('lists what happened in the projects of the user, newest first, by cursor', async () => {
    const ids: string[] = [];
    for (const name of ['One', 'Two', 'Three']) ids.unshift(await finish(name));
    const first = await list('?limit=2');
    expect(first).to.include({ total: 3, unread: 3, hasMore: true });
    const second = await list(`?limit=2&cursor=${encodeURIComponent(first.cursor)}`);
    expect(second).to.include({ total: 0, unread: 3, hasMore: false, cursor: null });
    const all = [...first.data, ...second.data];
    expect(all.map(({ data }) => data.campaignId)).to.deep.equal(ids);
    expect(all[0]).to.deep.include({
      type: 'campaign.finished',
      projectId: project.id,
      data: { campaignId: ids[0], name: 'Three' },
      readAt: null,
    });
    expect(await own.get('/notifications?cursor=bad')).to.be.envelope(400, 'BAD_REQUEST');
  });

  it('are those of the user alone, and of no project that was left', async () => {
    await finish('One');
    const stranger = await person(api);
    expect(await list('', client(api.url, { cookie: stranger.cookie }))).to.include({ total: 0, unread: 0 });
    expect(await project.owner.delete(`/projects/${project.id}/members/${reader.id}`)).to.have.status(204);
    expect((await list()).data).to.deep.equal([]);
    expect(await client(api.url, {}).get('/notifications')).to.have.status(401);
    expect((await project.server.get('/notifications')).status).to.be.oneOf([401, 403]);
  });

  it('of a project that requires two-factor authentication do not reach members without it', async () => {
    await own.patch(SETTINGS, { 'campaign.finished': { email: true } });
    await finish('One');
    await enableTwoFactor(project.owner);
    const required = await project.owner.patch(`/users/@me/projects/${project.id}`, { requireTwoFactor: true });
    expect(required).to.have.status(200);
    await mailNotifications(api.db, MAIL);
    expect(await mails()).to.deep.equal([]);
    expect(await list()).to.include({ total: 0, unread: 0 });
    expect((await membersToMail(api.db, project.id, null)).map(({ email }) => email)).to.not.include(reader.email);
    expect(await list('', project.owner)).to.include({ total: 1 });
    await enableTwoFactor(reader);
    expect(await list()).to.include({ total: 1, unread: 1 });
    expect((await membersToMail(api.db, project.id, null)).map(({ email }) => email)).to.include(reader.email);
  });

  it('are marked as read by id or all at once, each by its owner only', async () => {
    for (const name of ['One', 'Two', 'Three']) await finish(name);
    const [{ id }] = (await list()).data;
    const stranger = client(api.url, { cookie: (await person(api)).cookie });
    expect((await stranger.post('/notifications/read', { ids: [id] })).body).to.deep.equal({ read: 0 });
    expect((await own.post('/notifications/read', { ids: [id, newId()] })).body).to.deep.equal({ read: 1 });
    expect((await own.post('/notifications/read', { ids: [id] })).body).to.deep.equal({ read: 0 });
    expect(await list()).to.include({ unread: 2, total: 3 });
    expect((await list()).data[0].readAt).to.be.a('string');
    expect((await own.post('/notifications/read', { all: true })).body).to.deep.equal({ read: 2 });
    expect(await list()).to.include({ unread: 0 });
  });

  for (const body of [{}, { ids: [] }, { ids: ['x'] }, { all: false }, { all: true, ids: [newId()] }])
    it(`rejects ${JSON.stringify(body).slice(0, 24)} with 4xx`, async () => {
      expect((await own.post('/notifications/read', body)).status).to.be.oneOf([400, 422]);
    });

  it('rejects more than 100 ids', async () => {
    const ids = Array.from({ length: 101 }, () => newId());
    expect((await own.post('/notifications/read', { ids })).status).to.be.oneOf([400, 422]);
  });

  it('are turned off in the application for each type and member', async () => {
    expect((await own.get(SETTINGS)).body).to.deep.equal(DEFAULTS);
    const changed = await own.patch(SETTINGS, { 'campaign.finished': { app: false }, 'domain.lost': { email: false } });
    expect(changed.body).to.deep.equal({
      ...DEFAULTS,
      'campaign.finished': { app: false, email: false },
      'domain.lost': { app: true, email: false },
    });
    expect((await own.patch(SETTINGS, { 'domain.lost': { app: false } })).body['domain.lost']).to.deep.equal({
      app: false,
      email: false,
    });
    await finish('One');
    expect(await list()).to.include({ total: 0 });
    expect(await countRows(api.db, 'notifications', { projectId: project.id })).to.equal(1);
    expect((await own.patch(SETTINGS, { 'domain.lost': { app: 'no' } })).status).to.be.oneOf([400, 422]);
    expect((await own.patch(SETTINGS, { unknown: { app: false } })).body).to.have.all.keys(Object.keys(DEFAULTS));
  });

  it('are mailed once when two workers run, and not when mail is turned off', async () => {
    await own.patch(SETTINGS, { 'campaign.finished': { email: true }, 'campaign.paused': { email: false } });
    const id = await finish('Spring');
    const paused = await campaign('Autumn');
    await setCampaigns(api.db, { id: paused }, { status: 'SENDING' });
    await setCampaigns(api.db, { id: paused }, { paused: true, pausedBy: 'AUTO_PAUSE' });
    await Promise.all([1, 2, 3].map(() => mailNotifications(api.db, MAIL)));
    await mailNotifications(api.db, MAIL);
    const written = await mails();
    expect(written.map(({ subject }) => subject)).to.deep.equal(['The campaign "Spring" has finished']);
    expect(JSON.stringify(written[0])).to.contain(`/app/p/${project.id}/campaigns/${id}`);
    expect(await list()).to.include({ total: 2 });
  });

  it('are mailed in the language of the account, and in English to who has chosen none', async () => {
    await own.patch('/users/@me', { language: 'de' });
    const id = await campaign('Spring');
    await api.db('campaigns').where({ id }).update({ paused: true, pausedBy: 'AUTO_PAUSE', pauseReason: 'bounces' });
    await mailNotifications(api.db, MAIL);
    const domain = { domain: 'shop.example', projectId: project.id };
    for (const news of ['PENDING', 'VERIFIED', 'REMOVAL'] as const)
      await mailMembersAboutDomain(api.db, MAIL, domain, news);
    const subjects = async (toEmail: string) => (await systemMails(api.db, toEmail)).map(({ subject }) => subject);
    expect(await subjects(reader.email)).to.deep.equal([
      'Die Kampagne "Spring" hat sich angehalten',
      'shop.example ist nicht mehr bestätigt',
      'shop.example ist bestätigt',
      'shop.example wird in einer Woche entfernt',
    ]);
    const { email: owner } = await api.db('users').where({ id: project.userId }).first('email');
    expect(await subjects(owner)).to.deep.equal([
      'The campaign "Spring" was paused automatically',
      'shop.example is no longer verified',
      'shop.example is verified',
      'shop.example will be removed in a week',
    ]);
  });

  it('of domains, endpoints and limits are mailed by what notices them, to those who want it', async () => {
    const recipients = async (type: 'domain.lost' | 'project.near_limit', managersOnly = false) =>
      (await membersToMail(api.db, project.id, type, { managersOnly })).map(({ email }) => email);
    expect(await recipients('domain.lost')).to.include(reader.email);
    await own.patch(SETTINGS, { 'domain.lost': { email: false } });
    expect(await recipients('domain.lost'))
      .to.have.lengthOf(1)
      .and.not.include(reader.email);
    expect(await recipients('project.near_limit', true)).to.not.include(reader.email);
  });

  it('are rolled back with what happened', async () => {
    const id = await campaign('Never');
    const trx = await api.db.transaction();
    await completeCampaign(trx, id);
    await trx.rollback();
    expect(await list()).to.include({ total: 0 });
  });
});
