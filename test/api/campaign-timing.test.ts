import { expect } from 'chai';
import type { ApiAnswer, ApiProject, TestApi } from '../support/api.ts';
import { addContacts, type CampaignWorker, rowsOf } from '../support/campaigns.ts';
import { changeProject, readMail } from '../support/reading.ts';
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

    it('signals a SENDING campaign when it changes, and refuses to send again after it with 409', async () => {
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
      const late = await act(id, 'resolve', { action: 'resend' });
      expect(late).to.be.envelope(409, 'CONFLICT');
      expect(late.body.error.suggestion).to.include('PATCH /campaigns/:id');
      expect(await get(id)).to.include({ status: 'SENT', unknownCount: 2 });
      await patch(id, { sendUntil: null });
      expect((await act(id, 'resolve', { action: 'resend' })).body).to.deep.equal({ resolved: 2 });
      expect(await worker.run(id)).to.include({ kind: 'end' });
      expect(await get(id)).to.include({ status: 'SENT', sentCount: 2 });
    });
  });

  describe('localTime', () => {
    const DAY = 24 * HOUR;
    /** What clocks of UTC show then. */
    const clock = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 16);
    /** When clocks show it that are this many hours ahead of UTC. */
    const momentAt = (localTime: string, hours: number) =>
      new Date(Date.parse(`${localTime}:00Z`) - hours * HOUR).toISOString();
    const zones = { first: 'Pacific/Kiritimati', tokyo: 'Asia/Tokyo', last: 'Etc/GMT+12', wrong: 'Mars/Base' };
    const addPeople = async (names: Record<string, string | undefined>) => {
      for (const [name, timezone] of Object.entries(names)) {
        const contact = { email: `${name}@example.com`, subscribed: true, data: timezone ? { timezone } : {} };
        expect(await project.server.post('/contacts', contact)).to.have.status(201);
      }
    };
    const byName = async (id: string): Promise<Record<string, ApiAnswer['body']>> =>
      Object.fromEntries((await recipients(id)).map((one) => [one.email.split('@')[0], one]));
    const sendAt = (id: string, localTime: string, more: object = {}) => act(id, 'send', { localTime, ...more });

    it('schedules for the first place on earth; other times, unscheduling and a copy forget it, PUT keeps it', async () => {
      const id = await draft();
      const localTime = clock(3 * DAY);
      const scheduledFor = momentAt(localTime, 14);
      const scheduled = await sendAt(id, localTime, { late: 'SKIP' });
      expect(scheduled.body).to.include({ status: 'SCHEDULED', scheduledFor, localTime, late: 'SKIP' });
      const kept = { localTime, late: 'SKIP', scheduledFor };
      expect((await project.server.put(`/campaigns/${id}`, content({ name: 'May' }))).body).to.include(kept);
      expect((await project.server.get('/campaigns')).body.data[0]).to.include(kept);
      expect((await act(id, 'duplicate')).body).to.include({ localTime: null, late: null });
      const gone = { localTime: null, late: null };
      expect((await act(id, 'send', { scheduledFor: inFuture() })).body).to.include(gone);
      expect((await sendAt(id, localTime)).body).to.include({ localTime, late: 'NOW' });
      expect((await act(id, 'unschedule')).body).to.include({ ...gone, status: 'DRAFT', scheduledFor: null });
    });

    it('answers 400 to a time that cannot be used, 422 to an unknown rule, and changes nothing', async () => {
      await addPeople({ ann: undefined });
      const id = await draft();
      const wrong = ['tomorrow', 5, '', `${clock(DAY)}:00`, `${clock(DAY)}Z`, '2027-02-30T09:00', clock(-13 * HOUR)];
      for (const localTime of [...wrong, clock(368 * DAY), {}]) {
        expect(await act(id, 'send', { localTime }), String(localTime)).to.be.envelope(400, 'BAD_REQUEST');
        const query = new URLSearchParams({ localTime: String(localTime) });
        expect(await project.server.get(`/campaigns/${id}/timing?${query}`)).to.be.envelope(400, 'BAD_REQUEST');
      }
      expect(await project.server.get(`/campaigns/${id}/timing`)).to.be.envelope(400, 'BAD_REQUEST');
      expect(await sendAt(id, clock(DAY), { scheduledFor: inFuture() })).to.be.envelope(400, 'BAD_REQUEST');
      expect(await sendAt(id, clock(DAY), { late: 'LATER' })).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(await get(id)).to.include({ status: 'DRAFT', localTime: null, late: null });
      const unknown = `/campaigns/${project.id}/timing?localTime=${clock(DAY)}`;
      expect(await project.server.get(unknown)).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
    });

    it('freezes the moment of each recipient, and sends to each when it has come', async () => {
      await changeProject(project, { timezone: 'Asia/Dubai' });
      await addPeople({
        first: zones.first,
        tokyo: zones.tokyo,
        last: zones.last,
        wrong: zones.wrong,
        none: undefined,
      });
      const id = await draft();
      const localTime = clock(3 * DAY);
      await sendAt(id, localTime);
      expect(await worker.advance(id)).to.include({ kind: 'wait', until: momentAt(localTime, 14) });
      const next = await worker.advance(id, new Date(momentAt(localTime, 14)));
      expect(new Date('until' in next ? (next.until ?? 0) : 0)).to.be.greaterThan(new Date(momentAt(localTime, 14)));
      const waiting = { status: 'SENDING', totalRecipients: 5, pendingCount: 5, estimatedSecondsLeft: null };
      expect(await get(id)).to.include(waiting);
      const found = await byName(id);
      for (const [name, hours] of Object.entries({ first: 14, tokyo: 9, last: -12, wrong: 4, none: 4 }))
        expect(found[name], name).to.include({
          status: 'PENDING',
          reason: 'local time',
          postponedUntil: momentAt(localTime, hours),
        });
      // The zone of a contact or of the project no longer matters.
      await changeProject(project, { timezone: 'UTC' });
      await worker.send();
      expect(smtp.mails).to.deep.equal([]);
      const shown = await readMail(project, found.tokyo.emailId);
      expect(shown).to.include({ status: 'PENDING', reason: 'local time', postponedUntil: momentAt(localTime, 9) });
      await setMails(api.db, { id: found.tokyo.emailId }, { dueAt: new Date() });
      await worker.send();
      expect(smtp.mails.flatMap(({ to }) => to)).to.deep.equal(['tokyo@example.com']);
      const after = { status: 'SENT', reason: null, postponedUntil: null };
      expect((await byName(id)).tokyo).to.include(after);
      expect(await readMail(project, found.tokyo.emailId)).to.include(after);
      expect((await act(id, 'cancel')).body).to.include({ sentCount: 1, cancelledCount: 4 });
      const cancelled = { status: 'CANCELLED', reason: 'campaign cancelled', postponedUntil: null };
      expect((await byName(id)).first).to.include(cancelled);
      expect(await readMail(project, found.first.emailId)).to.include(cancelled);
    });

    it('leaves to `late` what happens where the time has passed', async () => {
      await addPeople({ tokyo: zones.tokyo, last: zones.last });
      const localTime = clock(HOUR);
      const ahead = { status: 'PENDING', reason: 'local time', postponedUntil: momentAt(localTime, -12) };
      const expected = {
        NOW: { status: 'PENDING', reason: null, postponedUntil: null },
        NEXT_DAY: {
          status: 'PENDING',
          reason: 'local time',
          postponedUntil: new Date(Date.parse(momentAt(localTime, 9)) + DAY).toISOString(),
        },
        SKIP: { status: 'SKIPPED', reason: 'too late', postponedUntil: null },
      };
      for (const [late, tokyo] of Object.entries(expected)) {
        const id = await draft();
        const started = await sendAt(id, localTime, { late });
        expect(started.body, late).to.include({ status: 'SENDING', scheduledFor: null, localTime, late });
        await worker.advance(id);
        const found = await byName(id);
        expect(found.tokyo, late).to.include(tokyo);
        expect(found.last, late).to.include(ahead);
        const skippedCount = late === 'SKIP' ? 1 : 0;
        const counts = { totalRecipients: 2, skippedCount, pendingCount: 2 - skippedCount };
        expect(await get(id)).to.include(counts);
        await worker.send();
        expect(
          smtp.mails.flatMap(({ to }) => to),
          late,
        ).to.deep.equal(['tokyo@example.com']);
      }
    });

    it('ends at once where all are skipped', async () => {
      await addPeople({ first: zones.first, tokyo: zones.tokyo });
      const id = await draft();
      await sendAt(id, clock(HOUR), { late: 'SKIP' });
      expect(await worker.run(id)).to.include({ kind: 'end' });
      expect(await get(id)).to.include({ status: 'SENT', totalRecipients: 2, skippedCount: 2, pendingCount: 0 });
    });

    it('does not take recipients for late because the worker is', async () => {
      await addPeople({ first: zones.first });
      const id = await draft();
      const localTime = clock(3 * DAY);
      await sendAt(id, localTime, { late: 'SKIP' });
      // As if it had been scheduled three days ago, and the worker came an hour late.
      const past = clock(13 * HOUR);
      await setCampaigns(api.db, { id }, { localTime: past, scheduledFor: new Date(momentAt(past, 14)) });
      expect(await worker.run(id)).to.include({ kind: 'end' });
      expect(await get(id)).to.include({ status: 'SENT', sentCount: 1 });
    });

    it('shows before sending when people of each zone get it, and who is late', async () => {
      await changeProject(project, { timezone: 'Asia/Dubai' });
      await addPeople({
        tokyo: zones.tokyo,
        tokyo2: zones.tokyo,
        wrong: zones.wrong,
        none: undefined,
        last: zones.last,
      });
      const id = await draft();
      const timing = async (localTime: string) =>
        (await project.server.get(`/campaigns/${id}/timing?localTime=${localTime}`)).body;
      const localTime = clock(3 * DAY);
      const zone = (timezone: string, count: number, hours: number) => ({
        timezone,
        count,
        at: momentAt(localTime, hours),
        late: false,
      });
      expect(await timing(localTime)).to.deep.equal({
        firstAt: momentAt(localTime, 9),
        lastAt: momentAt(localTime, -12),
        zones: [zone(zones.tokyo, 2, 9), zone('Asia/Dubai', 2, 4), zone(zones.last, 1, -12)],
        withoutTimezone: 2,
        late: 0,
      });
      expect(await timing(clock(HOUR))).to.deep.include({ late: 4, withoutTimezone: 2 });
      expect((await timing(clock(HOUR))).zones.map(({ late }: { late: boolean }) => late)).to.deep.equal([
        true,
        true,
        false,
      ]);
      const empty = await draft({
        audienceType: 'FILTERED',
        audienceCondition: {
          logic: 'AND',
          groups: [{ filters: [{ field: 'email', operator: 'equals', value: 'x' }] }],
        },
      });
      expect((await project.server.get(`/campaigns/${empty}/timing?localTime=${localTime}`)).body).to.deep.equal({
        firstAt: null,
        lastAt: null,
        zones: [],
        withoutTimezone: 0,
        late: 0,
      });
    });
  });
});
