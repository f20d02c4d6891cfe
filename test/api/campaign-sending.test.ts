import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import type { ApiAnswer, ApiProject, TestApi } from '../support/api.ts';
import { addContacts, type CampaignWorker, recipientTo } from '../support/campaigns.ts';
import { readContacts } from '../support/reading.ts';
import { setCampaigns } from '../support/rows/campaigns.ts';
import { markFailed, storedContents, storedMails } from '../support/rows/mails.ts';
import { outboxMessagesTo } from '../support/rows/outbox.ts';
import { setDomainStatus } from '../support/rows/projects.ts';
import { type SendingApi, startSendingApi } from '../support/sending-api.ts';
import type { SmtpStandIn } from '../support/smtp.ts';

const STATS = [
  'totalRecipients',
  'pendingCount',
  'skippedCount',
  'failedCount',
  'cancelledCount',
  'unknownCount',
  'sentCount',
  'deliveredCount',
  'openedCount',
  'clickedCount',
  'bouncedCount',
  'complainedCount',
  'unsubscribedCount',
  'topicUnsubscribedCount',
  'humanOpenedCount',
  'humanClickedCount',
  'peopleOpenedCount',
  'humanOpenRate',
  'humanClickRate',
  'openRate',
  'clickRate',
  'bounceRate',
  'deliveryRate',
];

describe('sending campaigns through the API', () => {
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
    smtp.mails.length = 0;
  });

  const draft = async (more: object = {}): Promise<string> => {
    const answer = await project.server.post('/campaigns', {
      name: 'Spring',
      subject: 'Hi {{ name }}',
      body: '<p>{{ name }}</p>',
      from: `news@${project.senderDomain}`,
      audienceType: 'ALL',
      ...more,
    });
    expect(answer).to.have.status(200);
    return answer.body.data.id;
  };
  const act = (id: string, action: string, body?: object) => project.server.post(`/campaigns/${id}/${action}`, body);
  const get = async (id: string) => (await project.server.get(`/campaigns/${id}`)).body;
  const messagesTo = (id: string) => outboxMessagesTo(api.db, id);
  const setStatus = (id: string, columns: object) => setCampaigns(api.db, { id }, columns);
  const soon = (ms = 3_600_000) => new Date(Date.now() + ms).toISOString();
  const recipients = async (id: string, query = ''): Promise<ApiAnswer['body']> => {
    const answer = await project.server.get(`/campaigns/${id}/recipients${query}`);
    expect(answer).to.have.status(200);
    return answer.body;
  };
  /** A campaign that has been sent to this number of contacts. */
  const sentTo = async (count: number, more: object = {}): Promise<string> => {
    await addContacts(api.db, project, count);
    const id = await draft(more);
    expect(await act(id, 'send')).to.have.status(200);
    await worker.run(id);
    return id;
  };

  describe('POST /campaigns/:id/send', () => {
    it('answers 200 with the campaign SENDING and writes its outbox message in the same transaction', async () => {
      const id = await draft();
      await addContacts(api.db, project, 2);
      const answer = await act(id, 'send');
      expect(answer).to.have.status(200);
      expect(answer.body).to.include({ id, status: 'SENDING', paused: false, totalRecipients: 2, pendingCount: 2 });
      const [message, ...others] = await messagesTo(id);
      expect(others).to.deep.equal([]);
      expect(message).to.include({ action: 'start', workflowId: `campaign/${project.id}/${id}/1` });
      expect(message.payload).to.include({ workflowType: 'campaign' });
    });

    it('schedules with `scheduledFor`, and reschedules a SCHEDULED campaign', async () => {
      const id = await draft();
      const first = soon();
      const second = soon(7_200_000);
      const scheduled = await act(id, 'send', { scheduledFor: first });
      expect(scheduled).to.have.status(200);
      expect(scheduled.body).to.include({ status: 'SCHEDULED', scheduledFor: first });
      expect((await act(id, 'send', { scheduledFor: second })).body).to.include({ scheduledFor: second });
      const actions = (await messagesTo(id)).map(({ action }: { action: string }) => action);
      expect(actions).to.deep.equal(['start', 'signal']);
    });

    it('sends a SCHEDULED campaign immediately without `scheduledFor`', async () => {
      await addContacts(api.db, project, 1);
      const id = await draft();
      await act(id, 'send', { scheduledFor: soon() });
      expect((await act(id, 'send')).body).to.include({ status: 'SENDING' });
    });

    it('answers 400 when there are no recipients, except when it is scheduled', async () => {
      await addContacts(api.db, project, 2, { subscribed: false });
      const id = await draft();
      expect(await act(id, 'send')).to.be.envelope(400, 'BAD_REQUEST');
      expect(await get(id)).to.include({ status: 'DRAFT' });
      expect(await act(id, 'send', { scheduledFor: soon() })).to.have.status(200);
    });

    it('answers 400 to a time that has passed or is invalid', async () => {
      const id = await draft();
      for (const scheduledFor of ['tomorrow', '2001-01-01T00:00:00Z', '', 5, '2027-02-31T00:00:00Z', {}])
        expect(await act(id, 'send', { scheduledFor }), String(scheduledFor)).to.be.envelope(400, 'BAD_REQUEST');
      expect(await get(id)).to.include({ status: 'DRAFT', scheduledFor: null });
    });

    it('accepts a time without seconds, and reads one without an offset as UTC', async () => {
      const id = await draft();
      for (const [scheduledFor, meant] of [
        ['2127-01-01T10:00', '2127-01-01T10:00:00.000Z'],
        ['2127-01-01T10:00Z', '2127-01-01T10:00:00.000Z'],
        ['2127-01-01 10:00:30', '2127-01-01T10:00:30.000Z'],
        ['2127-01-01T10:00:00.5+0200', '2127-01-01T08:00:00.500Z'],
        ['2127-01-01', '2127-01-01T00:00:00.000Z'],
      ])
        expect((await act(id, 'send', { scheduledFor })).body, scheduledFor).to.include({ scheduledFor: meant });
    });

    it('answers 400 to a copy whose segment was deleted, scheduled or not', async () => {
      await addContacts(api.db, project, 1);
      const { body: segment } = await project.server.post('/segments', { name: 'Not these', type: 'STATIC' });
      const others = { field: `segment.${segment.id}`, operator: 'notMemberOfSegment' };
      const original = await draft({
        audienceType: 'FILTERED',
        audienceCondition: { logic: 'AND', groups: [{ filters: [others] }] },
      });
      await setStatus(original, { status: 'SENT' });
      expect(await project.server.delete(`/segments/${segment.id}`)).to.have.status(204);
      const { body: copy } = await act(original, 'duplicate');
      for (const body of [{}, { scheduledFor: soon() }])
        expect(await act(copy.id, 'send', body)).to.be.envelope(400, 'BAD_REQUEST');
      expect(await get(copy.id)).to.include({ status: 'DRAFT', scheduledFor: null });
    });

    it('answers 403 when the domain is no longer verified', async () => {
      await addContacts(api.db, project, 1);
      const id = await draft();
      await setDomainStatus(api.db, project.id, 'PENDING');
      expect(await act(id, 'send')).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
      expect(await get(id)).to.include({ status: 'DRAFT' });
    });

    it('answers 409 in any other state, and 404 to an unknown campaign', async () => {
      await addContacts(api.db, project, 1);
      const id = await draft();
      for (const status of ['SENDING', 'SENT', 'CANCELLED']) {
        await setStatus(id, { status });
        expect(await act(id, 'send'), status).to.be.envelope(409, 'CONFLICT');
      }
      expect(await act(newId(), 'send')).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
      expect(await messagesTo(id)).to.deep.equal([]);
    });
  });

  describe('POST /campaigns/:id/cancel', () => {
    it('cancels a SCHEDULED campaign, and a SENDING one with its pending recipients', async () => {
      const scheduled = await draft();
      await act(scheduled, 'send', { scheduledFor: soon() });
      expect((await act(scheduled, 'cancel')).body).to.include({ status: 'CANCELLED', totalRecipients: 0 });
      await addContacts(api.db, project, 5);
      const id = await draft();
      await act(id, 'send');
      await worker.advance(id);
      const answer = await act(id, 'cancel');
      expect(answer).to.have.status(200);
      const expected = { status: 'CANCELLED', totalRecipients: 5, cancelledCount: 5, pendingCount: 0 };
      expect(answer.body).to.include(expected);
      const list = await recipients(id);
      expect(new Set(list.data.map(({ status }: { status: string }) => status))).to.deep.equal(new Set(['CANCELLED']));
      await worker.run(id);
      expect(await get(id)).to.include(expected);
      expect(smtp.mails).to.deep.equal([]);
    });

    it('answers 409 in any other state', async () => {
      const id = await draft();
      for (const status of ['DRAFT', 'SENT', 'CANCELLED']) {
        await setStatus(id, { status });
        expect(await act(id, 'cancel'), status).to.be.envelope(409, 'CONFLICT');
      }
    });
  });

  describe('POST /campaigns/:id/pause and /resume', () => {
    it('set and clear `paused` while the status stays SENDING', async () => {
      const id = await draft();
      await setStatus(id, { status: 'SENDING' });
      const paused = await act(id, 'pause');
      expect(paused).to.have.status(200);
      expect(paused.body).to.include({ status: 'SENDING', paused: true, estimatedSecondsLeft: null });
      expect(paused.body.pauseReason).to.be.a('string');
      const resumed = await act(id, 'resume');
      expect(resumed.body).to.include({ status: 'SENDING', paused: false, pauseReason: null });
    });

    it('answer 409 in any other state', async () => {
      const id = await draft();
      for (const columns of [
        { status: 'DRAFT' },
        { status: 'SCHEDULED', scheduledFor: new Date() },
        { status: 'SENT' },
        { status: 'CANCELLED' },
      ]) {
        await setStatus(id, columns);
        for (const action of ['pause', 'resume'])
          expect(await act(id, action), columns.status).to.be.envelope(409, 'CONFLICT');
      }
      await setStatus(id, { status: 'SENDING' });
      expect(await act(id, 'resume')).to.be.envelope(409, 'CONFLICT');
      await act(id, 'pause');
      expect(await act(id, 'pause')).to.be.envelope(409, 'CONFLICT');
    });
  });

  describe('POST /campaigns/:id/test', () => {
    const written = async () => {
      const [row] = await storedContents(api.db, { projectId: project.id });
      return row;
    };

    it('sends one marked, untracked mail to the address, with the data of its contact', async () => {
      await addContacts(api.db, project, 1);
      const id = await draft();
      const answer = await act(id, 'test', { email: 'P0@example.com' });
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal({ success: true });
      const { emailId, ...content } = await written();
      expect(content).to.include({ toEmail: 'p0@example.com', subject: '[TEST] Hi {{ name }}', untracked: true });
      const mail = await storedMails(api.db, { id: emailId }).first();
      const [contact] = await readContacts(project);
      expect(mail).to.include({
        contactId: contact.id,
        status: 'PENDING',
        priority: 0,
        withoutEvents: true,
        campaignId: null,
      });
      expect(await get(id)).to.include({ status: 'DRAFT', totalRecipients: 1, sentCount: 0 });
    });

    it('fills in the data of a named contact, and stays an email of the recipient', async () => {
      const id = await draft();
      const add = async (email: string, data: object) =>
        (await project.server.post('/contacts', { email, data })).body.id;
      const bossId = await add('boss@example.com', { name: 'Boss', city: 'Bonn' });
      const guestId = await add('guest@example.com', { name: 'Guest' });
      expect(await act(id, 'test', { email: 'boss@example.com', contactId: guestId })).to.have.status(200);
      const { emailId, ...content } = await written();
      expect(content.variables).to.deep.equal({ name: 'Guest', city: null });
      expect(await storedMails(api.db, { id: emailId }).first()).to.include({ contactId: bossId });
      const stranger = await api.project();
      const strange = (await stranger.server.post('/contacts', { email: 'x@example.com', data: { name: 'X' } })).body;
      const refused = await act(id, 'test', { email: 'boss@example.com', contactId: strange.id });
      expect(refused).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(refused.body.error.errors[0].field).to.equal('contactId');
    });

    it('creates no contact', async () => {
      const id = await draft();
      expect(await act(id, 'test', { email: 'boss@example.com' })).to.have.status(200);
      expect(await written()).to.include({ toEmail: 'boss@example.com' });
      expect(await readContacts(project)).to.deep.equal([]);
    });

    it('answers 422 without an address, 403 from an unverified domain, 404 to an unknown campaign', async () => {
      const id = await draft();
      expect(await act(id, 'test', {})).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(await act(id, 'test', { email: 'nobody' })).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(await act(newId(), 'test', { email: 'a@example.com' })).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
      await setDomainStatus(api.db, project.id, 'PENDING');
      expect(await act(id, 'test', { email: 'a@example.com' })).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
    });
  });

  describe('GET /campaigns/:id/recipients', () => {
    it('lists recipients with time, status and reason, page by page', async () => {
      smtp.misbehave({ at: 'recipient', to: 'p1@example.com', do: { code: 550, text: 'no such user' } });
      const id = await sentTo(5);
      const first = await recipients(id, '?limit=2');
      expect(first).to.include({ hasMore: true, total: 5 });
      const second = await recipients(id, `?limit=2&cursor=${first.cursor}`);
      expect(second).to.include({ hasMore: true, total: 0 });
      const third = await recipients(id, `?limit=2&cursor=${second.cursor}`);
      expect(third).to.include({ hasMore: false, cursor: null });
      const all = [...first.data, ...second.data, ...third.data];
      expect(new Set(all.map(({ email }) => email)).size).to.equal(5);
      const [bad] = all.filter(({ email }) => email === 'p1@example.com');
      const columns = ['contactId', 'email', 'status', 'reason', 'emailId', 'attempts', 'sentAt'];
      expect(bad).to.have.all.keys(...columns, 'openedAt', 'clickedAt', 'bouncedAt', 'links', 'postponedUntil');
      expect(bad).to.include({ status: 'FAILED', attempts: 1, sentAt: null });
      expect(bad.reason).to.contain('no such user');
      const [good] = all.filter(({ email }) => email === 'p2@example.com');
      expect(good).to.include({ status: 'SENT', reason: null, attempts: 1 });
      expect(new Date(good.sentAt).toISOString()).to.equal(good.sentAt);
    });

    it('filters by status, and counts opened mail as SENT', async () => {
      smtp.misbehave({ at: 'recipient', to: 'p1@example.com', do: { code: 550 } });
      const id = await sentTo(3);
      const opened = await recipientTo(api.db, id, 'p2@example.com');
      await opened.$query(api.db).patch({ status: 'OPENED', openedAt: new Date() });
      expect(await recipients(id, '?status=FAILED')).to.include({ total: 1 });
      const sent = await recipients(id, '?status=SENT');
      expect(sent.total).to.equal(2);
      expect(sent.data.map(({ status }: { status: string }) => status)).to.deep.equal(['SENT', 'SENT']);
      expect((await recipients(id, '?status=UNKNOWN')).data).to.deep.equal([]);
    });

    it('is empty before the freeze, and answers 400 to an invalid status or cursor and 404 to an unknown campaign', async () => {
      const id = await draft();
      expect(await recipients(id)).to.deep.equal({ data: [], cursor: null, hasMore: false, total: 0 });
      const other = await project.server.get(`/campaigns/${id}/recipients?status=OPENED`);
      expect(other).to.be.envelope(400, 'BAD_REQUEST');
      expect(await project.server.get(`/campaigns/${id}/recipients?cursor=x`)).to.be.envelope(400, 'BAD_REQUEST');
      expect(await project.server.get(`/campaigns/${newId()}/recipients`)).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
    });
  });

  describe('GET /campaigns/:id/stats', () => {
    it('returns counts that add up, and rates relative to sent mail', async () => {
      smtp.misbehave({ at: 'recipient', to: 'p0@example.com', do: { code: 550 } });
      const id = await sentTo(5);
      const mark = async (n: number, columns: object) =>
        (await recipientTo(api.db, id, `p${n}@example.com`)).$query(api.db).patch(columns);
      const now = new Date();
      await mark(1, { status: 'DELIVERED', deliveredAt: now });
      await mark(2, { status: 'CLICKED', deliveredAt: now, openedAt: now, clickedAt: now });
      await mark(2, { openedAt: new Date() });
      await mark(3, { status: 'BOUNCED', bouncedAt: now, bounceType: 'Permanent' });
      const { body: stats } = await project.server.get(`/campaigns/${id}/stats`);
      expect(stats).to.have.all.keys(STATS);
      expect(stats).to.include({ totalRecipients: 5, sentCount: 4, failedCount: 1, pendingCount: 0 });
      expect(stats).to.include({ deliveredCount: 2, openedCount: 1, clickedCount: 1, bouncedCount: 1 });
      expect(stats).to.include({ deliveryRate: 0.5, openRate: 0.25, clickRate: 0.25, bounceRate: 0.25 });
      expect(await get(id)).to.include({ sentCount: 4, deliveredCount: 2, openedCount: 1, clickedCount: 1 });
    });

    it('returns zeros before anything was sent', async () => {
      const { body } = await project.server.get(`/campaigns/${await draft()}/stats`);
      expect(body).to.include({ sentCount: 0, openRate: 0, bounceRate: 0 });
    });
  });

  describe('POST /campaigns/:id/resolve', () => {
    const withUnknown = async (): Promise<string> => {
      smtp.misbehave({ at: 'message', to: 'p1@example.com', do: 'drop', times: 1 });
      const id = await sentTo(3);
      expect(await get(id)).to.include({ status: 'SENT', unknownCount: 1, sentCount: 2 });
      return id;
    };

    it('sends unknown outcomes again, with the campaign SENDING until that is done', async () => {
      const id = await withUnknown();
      const answer = await act(id, 'resolve', { action: 'resend' });
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal({ resolved: 1 });
      expect(await get(id)).to.include({ status: 'SENDING', pendingCount: 1, unknownCount: 0 });
      const started = (await messagesTo(id)).filter(({ action }: { action: string }) => action === 'start');
      expect(started.map(({ workflowId }) => workflowId)).to.include(`campaign/${project.id}/${id}/2`);
      await worker.run(id);
      expect(await get(id)).to.include({ status: 'SENT', sentCount: 3, pendingCount: 0 });
      expect(smtp.mailsTo('p1@example.com')).to.have.lengthOf(1);
    });

    it('closes unknown outcomes as failed, with the reason', async () => {
      const id = await withUnknown();
      expect((await act(id, 'resolve', { action: 'close' })).body).to.deep.equal({ resolved: 1 });
      expect(await get(id)).to.include({ status: 'SENT', failedCount: 1, unknownCount: 0 });
      expect((await act(id, 'resolve', { action: 'close' })).body).to.deep.equal({ resolved: 0 });
    });

    it('answers 409 to a resend of a CANCELLED campaign, and 422 to an unknown action', async () => {
      const id = await withUnknown();
      await setStatus(id, { status: 'CANCELLED' });
      expect(await act(id, 'resolve', { action: 'resend' })).to.be.envelope(409, 'CONFLICT');
      expect(await act(id, 'resolve', { action: 'forget' })).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(await act(id, 'resolve', { action: 'close' })).to.have.status(200);
    });
  });

  describe('mail of a campaign', () => {
    it('is shown with subject, sender and recipient, and without the recipient once that is deleted', async () => {
      const id = await sentTo(1);
      const { id: emailId, contactId } = await recipientTo(api.db, id, 'p0@example.com');
      const { body } = await project.server.get(`/emails/${emailId}`);
      expect(body).to.include({ sourceType: 'CAMPAIGN', status: 'SENT', to: 'p0@example.com', subject: 'Hi Name 0' });
      expect(body).to.include({ from: `news@${project.senderDomain}` });
      await project.server.delete(`/contacts/${contactId}`);
      const { body: after } = await project.server.get(`/emails/${emailId}`);
      expect(after).to.include({ status: 'SENT', to: null, from: `news@${project.senderDomain}` });
      expect(JSON.stringify(after)).not.to.contain('Name 0');
    });

    it('is still shown after its campaign is deleted', async () => {
      const id = await sentTo(1);
      const { id: emailId } = await recipientTo(api.db, id, 'p0@example.com');
      expect(await project.server.delete(`/campaigns/${id}`)).to.have.status(204);
      expect(await project.server.get(`/campaigns/${id}`)).to.have.status(404);
      const { body } = await project.server.get(`/emails/${emailId}`);
      expect(body).to.include({ status: 'SENT', to: 'p0@example.com', subject: 'Hi Name 0' });
      await markFailed(api.db, { id: emailId });
      expect(await project.server.post(`/emails/${emailId}/resend`)).to.be.envelope(409, 'CONFLICT');
    });

    it('is sent again through its campaign by POST /emails/:id/resend, and rejected with 409 once that is CANCELLED', async () => {
      smtp.misbehave({ at: 'recipient', to: 'p1@example.com', do: { code: 550 }, times: 1 });
      const id = await sentTo(2);
      const { id: emailId } = await recipientTo(api.db, id, 'p1@example.com');
      const answer = await project.server.post(`/emails/${emailId}/resend`);
      expect(answer).to.have.status(200);
      expect(answer.body).to.include({ status: 'PENDING' });
      expect(await get(id)).to.include({ status: 'SENDING', pendingCount: 1, failedCount: 0 });
      await worker.run(id);
      expect(await get(id)).to.include({ status: 'SENT', sentCount: 2 });
      expect(await project.server.post(`/emails/${emailId}/resend`)).to.be.envelope(409, 'CONFLICT');
      await markFailed(api.db, { id: emailId });
      await setStatus(id, { status: 'CANCELLED' });
      expect(await project.server.post(`/emails/${emailId}/resend`)).to.be.envelope(409, 'CONFLICT');
    });
  });
});
