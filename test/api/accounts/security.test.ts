import { expect } from 'chai';
import { readSettings } from '../../../platform/settings.ts';
import { disableProject, enableProject } from '../../../services/projects/disable.ts';
import { disableCriticalProjects } from '../../../services/security/auto-disable.ts';
import { SYSTEM_PROJECT_ID } from '../../../services/system/project.ts';
import { systemMails } from '../../support/accounts.ts';
import { type ApiProject, startTestApi, type TestApi } from '../../support/api.ts';
import { readOwnerEmail } from '../../support/reading.ts';
import { setMails, storedMails } from '../../support/rows/mails.ts';
import {
  addActivityDeltas,
  addActivityHour,
  addSuppression,
  removeActivity,
  storedProject,
} from '../../support/rows/projects.ts';
import { eventually } from '../../support/waiting.ts';

const HOUR = 3_600_000;
const settings = readSettings({});

describe('security state of a project', () => {
  let api: TestApi;
  let project: ApiProject;

  before(async () => {
    api = await startTestApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    project = await api.project();
  });

  /** Inserts mails that were sent that many hours ago. */
  const sent = (count: number, fate: { bounced?: number; complained?: number } = {}, hoursAgo = 1, id = project.id) =>
    addActivityHour(api.db, id, new Date(Math.floor(Date.now() / HOUR - hoursAgo) * HOUR), { sent: count, ...fate });
  const read = async (path = `/projects/${project.id}/security`) => (await project.owner.get(path)).body;

  it('returns rates and levels of a day, a week and all time on both routes', async () => {
    await sent(200, { bounced: 4 }, 2);
    await sent(300, { bounced: 46, complained: 1 }, 72);
    await sent(500, {}, 24 * 30);
    const state = await read();
    expect(state.last24h).to.include({ sent: 200, bounced: 4, bounceRate: 0.02, level: 'healthy' });
    expect(state.last7d).to.include({ sent: 500, bounced: 50, bounceRate: 0.1, bounceLevel: 'critical' });
    expect(state.last7d).to.include({ complaintRate: 0.002, complaintLevel: 'warning', level: 'critical' });
    expect(state.allTime).to.include({ sent: 1000, bounceRate: 0.05, bounceLevel: 'warning', level: 'warning' });
    expect(state).to.include({ level: 'critical', disabled: false, disabledReason: null, minimumMails: 100 });
    expect(await read(`/users/@me/projects/${project.id}/security`)).to.deep.equal(state);
  });

  it('counts deltas that are not aggregated yet', async () => {
    await addActivityDeltas(api.db, project.id, [
      { kind: 'sent', at: new Date(), delta: 1 },
      { kind: 'bounced', at: new Date(), delta: 1 },
    ]);
    expect((await read()).last24h).to.include({ sent: 1, bounced: 1, bounceRate: 1 });
  });

  it('is healthy below 100 mails', async () => {
    await sent(99, { bounced: 99, complained: 99 });
    expect((await read()).last24h).to.include({ bounceRate: 1, bounceLevel: 'healthy', complaintLevel: 'healthy' });
    await disableCriticalProjects(api.db, settings);
    expect(await read()).to.include({ level: 'healthy', disabled: false });
  });

  it('disables a critical project, mails its managers and lists the suspension', async () => {
    await sent(100, { bounced: 10 });
    await sent(100, { complained: 50 }, 1, SYSTEM_PROJECT_ID);
    await disableCriticalProjects(api.db, settings);
    const state = await read();
    expect(state).to.include({ disabled: true });
    expect(state.disabledReason).to.match(/10\.0 % of its emails bounced/);
    expect(state.suspensions).to.have.length(1);
    expect(state.suspensions[0]).to.include({ automatic: true, enabledAt: null });
    const email = await readOwnerEmail(project);
    expect((await systemMails(api.db, email)).map(({ subject }) => subject)[0]).to.match(/was disabled$/);
    await disableCriticalProjects(api.db, settings);
    expect((await read()).suspensions).to.have.length(1);
    expect(await storedProject(api.db, SYSTEM_PROJECT_ID)).to.include({ disabled: false });
    await removeActivity(api.db, SYSTEM_PROJECT_ID);
  });

  it('disables for complaints too, and never when AUTO_PROJECT_DISABLE is off', async () => {
    await sent(1000, { complained: 5 });
    await disableCriticalProjects(api.db, readSettings({ AUTO_PROJECT_DISABLE: 'false' }));
    expect(await read()).to.include({ disabled: false, level: 'critical' });
    await disableCriticalProjects(api.db, settings);
    expect(await read()).to.include({ disabled: true });
  });

  it('ignores mail from before the project was enabled again', async () => {
    await sent(100, { bounced: 50 });
    await disableCriticalProjects(api.db, settings);
    await enableProject(api.db, project.id);
    await disableCriticalProjects(api.db, settings);
    const state = await read();
    expect(state).to.include({ disabled: false });
    expect(state.suspensions[0].enabledAt).to.be.a('string');
  });

  describe('after a reset of the project', () => {
    const reset = () => project.owner.post(`/users/@me/projects/${project.id}/reset`);

    it('keeps aggregated and pending rates and disables for them, while analytics start from zero', async () => {
      await sent(60, { bounced: 3 });
      await sent(40, { bounced: 3 }, 48);
      const deltas = Array.from({ length: 50 }, () => ({ kind: 'bounced', at: new Date(), delta: 1 }));
      const one = { kind: 'sent', at: new Date(), delta: 1 };
      await addActivityDeltas(api.db, project.id, [...deltas, one]);
      const before = await read();
      expect(await reset()).to.have.status(200);
      const after = await read();
      for (const range of ['last24h', 'last7d', 'allTime']) expect(after[range]).to.deep.equal(before[range]);
      const { body } = await project.server.get('/analytics/timeseries');
      expect(JSON.stringify(body)).to.not.match(/"(sent|bounced)":[1-9]/);
      expect(await reset()).to.have.status(200);
      expect((await read()).allTime).to.deep.equal(before.allTime);
      await sent(1, {}, 0);
      expect((await read()).last7d).to.include({ sent: 102, bounced: 56 });
      await disableCriticalProjects(api.db, settings);
      expect(await read()).to.include({ disabled: true });
    });

    it('keeps suppressions in effect', async () => {
      const { body: contact } = await project.server.post('/contacts', { email: 'bounced@example.com' });
      await addSuppression(api.db, project.id, contact.email, 'HARD_BOUNCE');
      const before = (await project.server.get('/suppressions')).body;
      expect(before.data[0]).to.include({ email: 'bounced@example.com' });
      expect(await reset()).to.have.status(200);
      expect((await project.server.get('/suppressions')).body).to.deep.equal(before);
      const mail = { to: 'bounced@example.com', from: `a@${project.senderDomain}`, subject: 's', body: 'b' };
      const [{ email }] = (await project.server.post('/v1/send', mail)).body.data.emails;
      expect((await project.server.get(`/emails/${email}`)).body).to.include({
        status: 'FAILED',
        reason: 'suppressed',
      });
    });

    it('erases the address of a suppression when its contact is deleted', async () => {
      const { body: contact } = await project.server.post('/contacts', { email: 'forgotten@example.com' });
      await addSuppression(api.db, project.id, contact.email, 'COMPLAINT');
      await project.server.delete(`/contacts/${contact.id}`);
      expect((await project.server.get('/suppressions')).body.data[0]).to.include({ email: null });
    });
  });

  it('rejects writes with PROJECT_DISABLED and allows reads and read-only POSTs, in every process at once', async () => {
    const second = await startTestApi({ database: { db: api.db, url: api.databaseUrl, close: async () => {} } });
    const { server } = project;
    expect(await server.post('/contacts', { email: 'a@b.co' })).to.have.status(201);
    await disableProject(api.db, project.id, { reason: 'by hand' });
    expect(await server.post('/contacts', { email: 'c@d.co' })).to.be.envelope(403, 'PROJECT_DISABLED');
    const elsewhere = await second.post(
      '/contacts',
      { email: 'c@d.co' },
      { authorization: `Bearer ${project.secretKey}` },
    );
    expect(elsewhere).to.be.envelope(403, 'PROJECT_DISABLED');
    expect(await server.get('/contacts')).to.have.status(200);
    const lookup = await server.post('/contacts/lookup', { emails: ['a@b.co'] });
    expect(lookup).to.have.status(200);
    await enableProject(api.db, project.id);
    await eventually(async () => (await server.post('/contacts', { email: 'c@d.co' })).status === 201, {
      what: 'writes to be taken again',
    });
    await second.stop();
  });

  it('sends blocked mail when the project is enabled', async () => {
    const mail = { to: 'a@b.co', from: `x@${project.senderDomain}`, subject: 's', body: 'b' };
    await project.server.post('/v1/send', mail);
    await disableProject(api.db, project.id, { reason: 'by hand' });
    await setMails(
      api.db,
      { projectId: project.id },
      { blockedDomain: project.senderDomain, reason: 'project disabled', dueAt: new Date(Date.now() + HOUR) },
    );
    await enableProject(api.db, project.id);
    const row = await storedMails(api.db, { projectId: project.id }).first();
    expect(row).to.include({ status: 'PENDING', reason: null, blockedDomain: null });
    expect(row.dueAt.getTime()).to.be.at.most(Date.now());
  });

  it('GET /projects/:id/setup-state returns the completed steps', async () => {
    const path = `/projects/${project.id}/setup-state`;
    const before = await project.owner.get(path);
    expect(before).to.have.status(200);
    expect(before.body).to.include({
      domainAdded: true,
      domainVerified: true,
      ready: true,
      billingEnabled: false,
      contactCreated: false,
      eventTracked: false,
      templateCreated: false,
      memberInvited: false,
    });
    await project.browser.post('/v1/track', { email: 'a@b.co', event: 'x' });
    expect((await project.owner.get(path)).body).to.include({ contactCreated: true, eventTracked: true });
  });
});

describe('GET /config', () => {
  it('returns the enabled features without authentication and contains no secret', async () => {
    const secrets = {
      STRIPE_SECRET_KEY: 'sk_test_verysecret',
      STRIPE_WEBHOOK_SECRET: 'whsec_verysecret',
      OAUTH_GITHUB_ID: 'gh-verysecret',
      OAUTH_GITHUB_SECRET: 'gh2-verysecret',
      S3_BUCKET: 'bucket-verysecret',
      S3_SECRET_ACCESS_KEY: 's3-verysecret',
      S3_ACCESS_KEY_ID: 's3id-verysecret',
      SECRET_KEY: 'key-verysecret-key-verysecret',
      SNS_TOPIC_ARNS: 'arn:verysecret',
    };
    const api = await startTestApi({ env: { ...secrets, SIGNUP_ENABLED: 'false' } });
    const answer = await api.get('/config');
    expect(answer).to.have.status(200);
    expect(answer.body).to.deep.include({
      signup: { enabled: false, emailVerificationRequired: false },
      oauth: { github: true, google: false, oidc: false },
      billing: { enabled: true },
    });
    expect(JSON.stringify(answer.body)).not.to.contain('verysecret');
    await api.stop();
  });
});
