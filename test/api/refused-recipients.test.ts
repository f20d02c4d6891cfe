import { expect } from 'chai';
import { publishResults } from '../../services/emails/publish-results.ts';
import { aggregateEventCounts } from '../../services/events/counts.ts';
import { disableCriticalProjects } from '../../services/security/auto-disable.ts';
import type { ApiProject, TestApi } from '../support/api.ts';
import type { CampaignWorker } from '../support/campaigns.ts';
import { addActivityHour } from '../support/rows/projects.ts';
import { type SendingApi, startSendingApi } from '../support/sending-api.ts';
import type { SmtpStandIn } from '../support/smtp.ts';

describe('mail whose recipient is refused', () => {
  let sending: SendingApi;
  let api: TestApi;
  let smtp: SmtpStandIn;
  let worker: CampaignWorker;
  let project: ApiProject;

  before(async () => {
    sending = await startSendingApi();
    ({ api, smtp, worker } = sending);
  });
  after(() => sending?.stop());
  beforeEach(async () => {
    project = await api.project();
    smtp.behave();
  });

  const refuse = (to: string, code: number, text: string, at: 'recipient' | 'message' = 'recipient') =>
    smtp.misbehave({ at, to, do: { code, text } });
  const send = async (to: string): Promise<string> => {
    const from = `hello@${project.senderDomain}`;
    const mail = { to, from, subject: 'Hello', body: '<p>Hello</p>', subscribed: true };
    const { body } = await project.server.post('/v1/send', mail);
    return body.data.emails[0].email;
  };
  const deliver = async () => {
    await worker.send();
    while ((await publishResults(api.db)) > 0);
    await aggregateEventCounts(api.db);
  };
  const get = async (path: string) => (await project.server.get(path)).body;
  const eventsOf = async (email: string): Promise<string[]> => {
    const { data } = await get('/events?limit=100');
    return data
      .filter(({ name, data: { emailId } }: { name: string; data: { emailId: string } }) => name && emailId === email)
      .map(({ name }: { name: string }) => name);
  };

  for (const [code, text, at] of [
    [550, '5.1.1 User unknown', 'recipient'],
    [554, '5.4.4 Unable to route', 'message'],
    [550, 'No such user here', 'recipient'],
  ] as const)
    it(`is a hard bounce after ${code} ${text}: FAILED, email.bounce, unsubscribed, suppressed, once`, async () => {
      const to = 'gone@refuse.example';
      const more = 'other@refuse.example';
      refuse(to, code, text, at);
      const id = await send(to);
      const other = await send(more);
      await deliver();
      await deliver();
      const email = await get(`/emails/${id}`);
      expect(email).to.include({ status: 'FAILED', bounceType: 'Permanent', sentAt: null });
      expect(email.reason).to.contain(text);
      expect(email.bouncedAt).to.be.a('string');
      expect(await eventsOf(id)).to.have.members(['email.failed', 'email.bounce', 'contact.unsubscribed']);
      expect(await eventsOf(other)).to.deep.equal(['email.sent']);
      const { data: suppressed } = await get('/suppressions');
      expect(suppressed.map(({ email, reason }: Record<string, string>) => [email, reason])).to.deep.equal([
        [to, 'HARD_BOUNCE'],
      ]);
      expect((await get('/contacts?search=gone')).data[0]).to.include({ email: to, subscribed: false });
      const again = await send(to);
      await deliver();
      expect(await get(`/emails/${again}`)).to.include({ status: 'FAILED', reason: 'suppressed', bounceType: null });
      expect(await get('/activity/stats')).to.include({ totalEmailsSent: 1, totalEmailsBounced: 1, bounceRate: 0.5 });
      const [domain] = await get('/analytics/by-domain');
      expect(domain).to.include({ domain: 'refuse.example', sent: 1, bounced: 1, failed: 2 });
    });

  for (const text of ['5.7.1 Blocked by policy', '5.6.0 Bad content', '5.3.4 Too large', 'Rejected'])
    it(`only fails after 550 ${text}`, async () => {
      refuse('ann@policy.example', 550, text);
      const id = await send('ann@policy.example');
      await deliver();
      expect(await get(`/emails/${id}`)).to.include({ status: 'FAILED', bounceType: null, bouncedAt: null });
      expect(await eventsOf(id)).to.deep.equal(['email.failed']);
      expect((await get('/suppressions')).data).to.deep.equal([]);
      expect((await get('/contacts?search=ann')).data[0]).to.include({ subscribed: true });
      expect(await get('/activity/stats')).to.include({ totalEmailsBounced: 0, bounceRate: 0 });
    });

  it('counts in the campaign, whose bounce rate is of sent plus refused mail, and not again when it is resent', async () => {
    for (const name of ['a', 'b', 'c', 'gone']) await project.server.post('/contacts', { email: `${name}@x.example` });
    refuse('gone@x.example', 550, '5.1.1 User unknown', 'message');
    const draft = { name: 'c', subject: 's', body: 'b', from: `n@${project.senderDomain}`, audienceType: 'ALL' };
    const { id } = (await project.server.post('/campaigns', draft)).body.data;
    await project.server.post(`/campaigns/${id}/send`, {});
    await worker.run(id);
    await deliver();
    const stats = await get(`/campaigns/${id}/stats`);
    expect(stats).to.include({ sentCount: 3, failedCount: 1, bouncedCount: 1, bounceRate: 0.25, openRate: 0 });
    const { last24h } = (await project.owner.get(`/projects/${project.id}/security`)).body;
    expect(last24h).to.include({ sent: 3, refused: 1, bounced: 1, bounceRate: 0.25 });
    const failed = (await get(`/campaigns/${id}/recipients?status=FAILED`)).data[0];
    smtp.behave();
    await project.server.delete('/suppressions/gone@x.example');
    await project.server.post('/contacts', { email: 'gone@x.example', subscribed: true });
    await project.server.post(`/emails/${failed.emailId}/resend`, {});
    await worker.run(id);
    await deliver();
    expect(await get(`/emails/${failed.emailId}`)).to.include({ status: 'SENT', bounceType: null });
    expect(await get(`/campaigns/${id}/stats`)).to.include({ sentCount: 4, failedCount: 0, bouncedCount: 0 });
  });

  it('disables a project that sends to refused recipients only', async () => {
    await addActivityHour(api.db, project.id, new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000), {
      refused: 100,
      bounced: 100,
    });
    await disableCriticalProjects(api.db, { autoProjectDisable: true, systemFrom: 'us@example.com' });
    const { body: state } = await project.owner.get(`/projects/${project.id}/security`);
    expect(state).to.include({ disabled: true, level: 'critical' });
    expect(state.disabledReason).to.contain('100.0 % of its emails bounced, 0.0 %');
  });
});
