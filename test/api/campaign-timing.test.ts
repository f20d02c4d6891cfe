import { expect } from 'chai';
import type { ApiAnswer, ApiProject, TestApi } from '../support/api.ts';
import { addContacts, type CampaignWorker, rowsOf } from '../support/campaigns.ts';
import { setCampaigns } from '../support/rows/campaigns.ts';
import { setMails } from '../support/rows/mails.ts';
import { outboxMessagesTo } from '../support/rows/outbox.ts';
import { type SendingApi, startSendingApi } from '../support/sending-api.ts';
import type { SmtpStandIn } from '../support/smtp.ts';

const HOUR = 3_600_000;
const inFuture = (ms = HOUR) => new Date(Date.now() + ms).toISOString();
const PAST = '2020-01-01T00:00:00.000Z';

describe('the time of campaigns', () => {
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

  const content = (more: object = {}) => ({
    name: 'Spring',
    subject: 'Hi {{ name }}',
    body: '<p>{{ name }}</p>',
    from: `news@${project.senderDomain}`,
    audienceType: 'ALL',
    ...more,
  });
  const draft = async (more: object = {}): Promise<string> => {
    const answer = await project.server.post('/campaigns', content(more));
    expect(answer).to.have.status(200);
    return answer.body.data.id;
  };
  const act = (id: string, action: string, body?: object) => project.server.post(`/campaigns/${id}/${action}`, body);
  const get = async (id: string): Promise<ApiAnswer['body']> => (await project.server.get(`/campaigns/${id}`)).body;
  const patch = (id: string, body: object) => project.server.patch(`/campaigns/${id}`, body);
  const recipients = async (id: string): Promise<ApiAnswer['body'][]> =>
    (await project.server.get(`/campaigns/${id}/recipients`)).body.data;

  describe('sendUntil', () => {
    const isInvalid = (answer: ApiAnswer) => {
      expect(answer).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(answer.body.error.errors[0].field).to.equal('sendUntil');
    };

    it('is stored, replaced, copied and removed', async () => {
      const sendUntil = inFuture();
      const id = await draft({ sendUntil });
      expect(await get(id)).to.include({ sendUntil, localTime: null, late: null });
      expect((await act(id, 'duplicate')).body).to.include({ sendUntil });
      const later = inFuture(2 * HOUR);
      const replaced = await project.server.put(`/campaigns/${id}`, content({ sendUntil: later }));
      expect(replaced.body).to.include({ sendUntil: later });
      expect((await patch(id, { sendUntil })).body).to.include({ sendUntil, ratePerMinute: null });
      expect((await patch(id, { ratePerMinute: 5 })).body).to.include({ sendUntil, ratePerMinute: 5 });
      expect((await patch(id, {})).body).to.include({ sendUntil, ratePerMinute: 5 });
      expect((await patch(id, { sendUntil: null })).body).to.include({ sendUntil: null, ratePerMinute: 5 });
      expect((await project.server.put(`/campaigns/${id}`, content())).body).to.include({ sendUntil: null });
    });

    it('answers 422 to a time that is unreadable or has passed, except an unchanged one', async () => {
      const id = await draft();
      for (const sendUntil of ['tomorrow', 5, {}, PAST]) {
        isInvalid(await project.server.post('/campaigns', content({ sendUntil })));
        isInvalid(await project.server.put(`/campaigns/${id}`, content({ sendUntil })));
        isInvalid(await patch(id, { sendUntil }));
      }
      await setCampaigns(api.db, { id }, { sendUntil: PAST });
      const unchanged = await project.server.put(`/campaigns/${id}`, content({ sendUntil: PAST }));
      expect(unchanged).to.have.status(200);
    });

    it('must be after the start: 400 to sending, 422 to a change of a scheduled campaign', async () => {
      await addContacts(api.db, project, 1);
      const id = await draft({ sendUntil: inFuture() });
      expect(await act(id, 'send', { scheduledFor: inFuture(2 * HOUR) })).to.be.envelope(400, 'BAD_REQUEST');
      await setCampaigns(api.db, { id }, { sendUntil: PAST });
      expect(await act(id, 'send')).to.be.envelope(400, 'BAD_REQUEST');
      expect(await get(id)).to.include({ status: 'DRAFT' });
      expect(await patch(id, { sendUntil: inFuture(5 * HOUR) })).to.have.status(200);
      expect(await act(id, 'send', { scheduledFor: inFuture(2 * HOUR) })).to.have.status(200);
      isInvalid(await patch(id, { sendUntil: inFuture() }));
      isInvalid(await project.server.put(`/campaigns/${id}`, content({ sendUntil: inFuture() })));
    });

    it('skips what is pending then, and ends the campaign', async () => {
      await addContacts(api.db, project, 6);
      const id = await draft({ sendUntil: inFuture(), ratePerMinute: 1 });
      await act(id, 'send');
      expect(await worker.advance(id)).to.include({ kind: 'wait' });
      await worker.send({ stop: new AbortController().signal });
      expect(await get(id)).to.include({ status: 'SENDING', sentCount: 1, pendingCount: 5 });
      await setCampaigns(api.db, { id }, { sendUntil: PAST });
      expect(await worker.advance(id)).to.include({ kind: 'end' });
      const expected = { status: 'SENT', totalRecipients: 6, sentCount: 1, skippedCount: 5, pendingCount: 0 };
      expect(await get(id)).to.include(expected);
      expect(await rowsOf(api.db, id)).to.deep.equal({ sent: 1, skipped: 5 });
      const reasons = (await recipients(id)).filter(({ status }) => status === 'SKIPPED').map(({ reason }) => reason);
      expect(new Set(reasons)).to.deep.equal(new Set(['too late']));
      expect(smtp.mails).to.have.lengthOf(1);
    });

    it('begins no email after it, before the campaign has skipped its recipients', async () => {
      await addContacts(api.db, project, 3);
      const id = await draft({ sendUntil: inFuture() });
      await act(id, 'send');
      await worker.advance(id);
      await setCampaigns(api.db, { id }, { sendUntil: PAST });
      await worker.send();
      expect(smtp.mails).to.deep.equal([]);
      expect(await get(id)).to.include({ status: 'SENDING', skippedCount: 3, pendingCount: 0 });
      const [recipient] = await recipients(id);
      expect(recipient).to.include({ status: 'SKIPPED', reason: 'too late', attempts: 0, postponedUntil: null });
      expect(await worker.advance(id)).to.include({ kind: 'end' });
    });

    it('says unsubscribed, not too late, of a recipient who has unsubscribed', async () => {
      await addContacts(api.db, project, 1);
      const id = await draft({ sendUntil: inFuture() });
      await act(id, 'send');
      await worker.advance(id);
      await setCampaigns(api.db, { id }, { sendUntil: PAST });
      const [{ contactId }] = await recipients(id);
      await project.server.patch(`/contacts/${contactId}`, { subscribed: false });
      await worker.send();
      expect((await recipients(id))[0]).to.include({ status: 'SKIPPED', reason: 'unsubscribed' });
    });

    it('ends a paused campaign too, and one that was paused before its audience was frozen once it is resumed', async () => {
      await addContacts(api.db, project, 2);
      const id = await draft({ sendUntil: inFuture() });
      await act(id, 'send');
      await worker.advance(id);
      await act(id, 'pause');
      const { sendUntil } = await get(id);
      expect(await worker.advance(id)).to.include({ kind: 'wait', until: sendUntil });
      await setCampaigns(api.db, { id }, { sendUntil: PAST });
      expect(await worker.advance(id)).to.include({ kind: 'end' });
      expect(await get(id)).to.include({ status: 'SENT', paused: false, skippedCount: 2 });

      const unfrozen = await draft({ sendUntil: inFuture() });
      await act(unfrozen, 'send');
      await act(unfrozen, 'pause');
      await setCampaigns(api.db, { id: unfrozen }, { sendUntil: PAST });
      expect(await worker.advance(unfrozen)).not.to.have.property('until');
      await act(unfrozen, 'resume');
      expect(await worker.run(unfrozen)).to.include({ kind: 'end' });
      expect(await get(unfrozen)).to.include({ status: 'SENT', totalRecipients: 2, skippedCount: 2 });
      expect(smtp.mails).to.deep.equal([]);
    });

    it('signals a SENDING campaign when it changes, and holds for emails that are sent again', async () => {
      await addContacts(api.db, project, 2);
      const id = await draft();
      await act(id, 'send');
      await worker.advance(id);
      const signals = async () =>
        (await outboxMessagesTo(api.db, id)).filter(({ action }: { action: string }) => action === 'signal').length;
      const before = await signals();
      await patch(id, { ratePerMinute: null });
      expect(await signals()).to.equal(before);
      await patch(id, { sendUntil: inFuture() });
      expect(await signals()).to.equal(before + 1);
      await worker.send();
      await worker.advance(id);
      await setMails(api.db, { campaignId: id }, { status: 'UNKNOWN' });
      await setCampaigns(api.db, { id }, { sendUntil: PAST });
      expect((await act(id, 'resolve', { action: 'resend' })).body).to.deep.equal({ resolved: 2 });
      expect(await worker.run(id)).to.include({ kind: 'end' });
      expect(await get(id)).to.include({ status: 'SENT', skippedCount: 2 });
      expect(smtp.mails).to.have.lengthOf(2);
    });
  });
});
