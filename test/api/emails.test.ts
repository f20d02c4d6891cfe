import { expect } from 'chai';
import type { Email } from '../../db/models/email.ts';
import { newId } from '../../platform/ids.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { mailById } from '../support/ledger.ts';
import { readMail, readMails } from '../support/reading.ts';
import { setCampaigns } from '../support/rows/campaigns.ts';
import { endInFlight, makeDue, removeContents, setAttemptLog, setMails } from '../support/rows/mails.ts';
import { putInFlight } from '../support/sending.ts';

describeApi('e-mail records', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const send = async (to = 'ann@example.com', by = project): Promise<{ email: string; contact: { id: string } }> => {
    const from = `Shop <hello@${by.senderDomain}>`;
    const answer = await by.server.post('/v1/send', { to, from, subject: 'Hello', body: '<p>Hello</p>' });
    expect(answer).to.have.status(200);
    return answer.body.data.emails[0];
  };
  const become = (id: string, state: Partial<Email> & { blockedDomain?: string }) => setMails(api.db, { id }, state);
  const get = async (path: string) => {
    const answer = await project.server.get(path);
    expect(answer).to.have.status(200);
    return answer.body;
  };

  describe('GET /emails/:id', () => {
    it('returns the state of a mail', async () => {
      const { email: id, contact } = await send();
      const fresh = await get(`/emails/${id}`);
      expect(fresh).to.deep.equal({
        id,
        contactId: contact.id,
        sourceType: 'TRANSACTIONAL',
        templateId: null,
        campaignId: null,
        workflowId: null,
        executionId: null,
        status: 'PENDING',
        reason: null,
        postponedUntil: null,
        attemptCount: 0,
        attempts: [],
        attemptLog: [],
        unknownOutcomes: 0,
        messageId: `<${id}@${project.senderDomain}>`,
        providerMessageId: null,
        to: 'ann@example.com',
        from: `hello@${project.senderDomain}`,
        subject: 'Hello',
        bounceType: null,
        createdAt: fresh.createdAt,
        updatedAt: fresh.updatedAt,
        sentAt: null,
        deliveredAt: null,
        openedAt: null,
        clickedAt: null,
        bouncedAt: null,
        complainedAt: null,
      });
      const sentAt = new Date();
      await become(id, { status: 'SENT', attempts: 2, unknownOutcomes: 1, providerMessageId: 'abc', sentAt });
      expect(await get(`/emails/${id}`)).to.include({
        status: 'SENT',
        attemptCount: 2,
        unknownOutcomes: 1,
        providerMessageId: 'abc',
        sentAt: sentAt.toISOString(),
      });
    });

    it('returns the times of delivery, open, click, bounce and complaint', async () => {
      const { email: id } = await send();
      const times = {
        deliveredAt: new Date(1_000),
        openedAt: new Date(2_000),
        clickedAt: new Date(3_000),
        bouncedAt: new Date(4_000),
        complainedAt: new Date(5_000),
      };
      await become(id, { status: 'COMPLAINED', bounceType: 'Transient', ...times });
      expect(await get(`/emails/${id}`)).to.include({
        status: 'COMPLAINED',
        bounceType: 'Transient',
        ...Object.fromEntries(Object.entries(times).map(([name, time]) => [name, time.toISOString()])),
      });
    });

    it('returns every attempt, oldest first', async () => {
      const { email: id } = await send();
      const startedAt = new Date(1_000);
      const endedAt = new Date(2_000);
      const times = { startedAt: startedAt.toISOString(), endedAt: endedAt.toISOString(), relay: 'relay.example:25' };
      const attempts = [
        { number: 1, ...times, outcome: 'deferred', answer: '451 later' },
        { number: 2, ...times, outcome: 'sent', answer: null },
      ];
      await setAttemptLog(api.db, id, attempts);
      const shown = await get(`/emails/${id}`);
      expect([shown.attempts, shown.attemptLog]).to.deep.equal([attempts, attempts]);
    });

    it('shows SENDING while an attempt is in flight, also in lists and filters', async () => {
      const { email: id } = await send();
      const others = await Promise.all([send(), send()]);
      await putInFlight(api.db, id);
      expect(await get(`/emails/${id}`)).to.include({ status: 'SENDING' });
      const filtered = async (status: string): Promise<string[]> =>
        (await get(`/emails?status=${status}`)).data.map((email: { id: string }) => email.id);
      expect(await filtered('SENDING')).to.deep.equal([id]);
      expect(await filtered('PENDING')).to.include.members(others.map(({ email }) => email));
      expect(await filtered('PENDING')).not.to.include(id);
      await endInFlight(api.db);
      expect(await get(`/emails/${id}`)).to.include({ status: 'PENDING' });
    });

    it('returns the template that the mail was made from', async () => {
      const template = await project.server.post('/templates', {
        name: 'T',
        subject: 'S',
        body: 'B',
        type: 'TRANSACTIONAL',
        from: `t@${project.senderDomain}`,
      });
      const answer = await project.server.post('/v1/send', { to: 'a@example.com', template: template.body.id });
      const id = answer.body.data.emails[0].email;
      expect(await get(`/emails/${id}`)).to.include({ templateId: template.body.id, subject: 'S' });
    });

    it('omits the address after the contact is deleted', async () => {
      const { email: id, contact } = await send();
      await project.server.delete(`/contacts/${contact.id}`);
      expect(await get(`/emails/${id}`)).to.include({
        status: 'CANCELLED',
        reason: 'contact deleted',
        to: null,
        from: null,
        subject: null,
        messageId: null,
      });
    });

    it('omits the answer of the relay after the contact is deleted', async () => {
      const { email: id, contact } = await send();
      const answer = '550 <ann@example.com> unknown';
      const now = new Date().toISOString();
      const attempt = {
        number: 1,
        startedAt: now,
        endedAt: now,
        relay: 'relay.example:25',
        outcome: 'refused',
        answer,
      };
      await become(id, { status: 'FAILED', reason: answer });
      await setAttemptLog(api.db, id, [attempt]);
      await project.server.delete(`/contacts/${contact.id}`);
      const email = await get(`/emails/${id}`);
      expect(email).to.include({ status: 'FAILED', reason: null });
      expect(email.attempts[0]).to.include({ outcome: 'refused', answer: null });
    });

    it('answers 404 to an unknown id, one of another project and an invalid one', async () => {
      const other = await api.project();
      const { email } = await send('x@example.com', other);
      for (const id of [newId(), email, 'nonsense'])
        expect(await project.server.get(`/emails/${id}`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });
  });

  describe('GET /emails', () => {
    it('lists the mails of the project, newest first, page by page', async () => {
      await send('other@example.com', await api.project());
      const ids: string[] = [];
      for (let n = 0; n < 5; n++) ids.unshift((await send(`c${n}@example.com`)).email);
      const first = await get('/emails?limit=2');
      expect(first).to.include({ hasMore: true, total: 5 });
      await send('late@example.com');
      const second = await get(`/emails?limit=2&cursor=${first.cursor}`);
      expect(second).to.include({ hasMore: true, total: 0 });
      const third = await get(`/emails?limit=2&cursor=${second.cursor}`);
      expect(third).to.include({ hasMore: false, total: 0, cursor: null });
      const seen = [first, second, third].flatMap(({ data }) => data.map(({ id }: { id: string }) => id));
      expect(seen).to.deep.equal(ids);
      expect({ ...first.data[0], attempts: [], attemptLog: [] }).to.deep.equal(await get(`/emails/${ids[0]}`));
    });

    describe('with filters', () => {
      interface Sent {
        email: string;
        contact: { id: string };
      }
      let mails: [Sent, Sent, Sent, Sent];
      const of = (...places: number[]) => places.map((place) => mails[place]?.email);
      const found = async (query: Record<string, string>) => {
        const page = await get(`/emails?${new URLSearchParams(query)}`);
        expect(page.total).to.equal(page.data.length);
        return page.data.map(({ id }: { id: string }) => id);
      };

      beforeEach(async () => {
        mails = [
          await send('one@example.com'),
          await send('two@example.com'),
          await send('one@example.com'),
          await send('three@example.com'),
        ];
      });

      it('filters by status', async () => {
        await become(mails[1].email, { status: 'SENT' });
        await become(mails[3].email, { status: 'CANCELLED' });
        expect(await found({ status: 'SENT' })).to.deep.equal(of(1));
        expect(await found({ status: 'CANCELLED' })).to.deep.equal(of(3));
        expect(await found({ status: 'PENDING' })).to.deep.equal(of(2, 0));
        expect(await found({ status: 'OPENED' })).to.deep.equal([]);
      });

      it('lists pending mail of a cancelled campaign among CANCELLED mail, on pages of one order', async () => {
        const campaign = await project.server.post('/campaigns', {
          name: 'News',
          subject: 'News',
          body: '<p>News</p>',
          audienceType: 'ALL',
          from: `news@${project.senderDomain}`,
        });
        const { id: campaignId } = campaign.body.data;
        await become(mails[0].email, { status: 'CANCELLED' });
        await become(mails[1].email, { campaignId });
        await become(mails[2].email, { status: 'CANCELLED' });
        await become(mails[3].email, { campaignId });
        expect(await found({ status: 'PENDING' })).to.deep.equal(of(3, 1));
        expect(await found({ status: 'CANCELLED' })).to.deep.equal(of(2, 0));
        await setCampaigns(api.db, { id: campaignId }, { status: 'CANCELLED' });
        expect(await found({ status: 'PENDING' })).to.deep.equal([]);
        expect(await found({ status: 'CANCELLED' })).to.deep.equal(of(3, 2, 1, 0));
        expect(await found({ status: 'CANCELLED', campaignId })).to.deep.equal(of(3, 1));
        const first = await get('/emails?status=CANCELLED&limit=3');
        const second = await get(`/emails?status=CANCELLED&limit=3&cursor=${first.cursor}`);
        expect(first).to.include({ total: 4, hasMore: true });
        expect(second).to.include({ hasMore: false });
        expect([...first.data, ...second.data].map(({ id, status }) => [id, status])).to.deep.equal(
          of(3, 2, 1, 0).map((id) => [id, 'CANCELLED']),
        );
      });

      it('filters blocked mail, and counts it', async () => {
        await become(mails[0].email, { blockedDomain: 'lost.example', reason: 'domain not verified' });
        await become(mails[2].email, { blockedDomain: '', reason: 'project disabled' });
        await become(mails[3].email, { blockedDomain: 'lost.example', status: 'CANCELLED' });
        expect(await found({ blocked: 'true' })).to.deep.equal(of(2, 0));
        expect(await found({ blocked: 'false' })).to.deep.equal(of(3, 1));
        expect(await found({ blocked: 'false', status: 'PENDING' })).to.deep.equal(of(1));
        expect(await project.server.get('/emails?blocked=maybe')).to.have.status(400);
      });

      it('filters by the address of the contact, in any case', async () => {
        expect(await found({ email: 'One@Example.com' })).to.deep.equal(of(2, 0));
        expect(await found({ email: 'one@example.com', status: 'SENT' })).to.deep.equal([]);
        expect(await found({ email: 'nobody@example.com' })).to.deep.equal([]);
        expect(await project.server.get('/emails?email=one')).to.have.status(400);
      });

      it('filters by contact, template, campaign and workflow', async () => {
        const templateId = newId();
        const campaignId = newId();
        const workflowId = newId();
        await become(mails[0].email, { templateId });
        await become(mails[1].email, { templateId, campaignId });
        await become(mails[2].email, { workflowId });
        expect(await found({ contactId: mails[0].contact.id })).to.deep.equal(of(2, 0));
        expect(await found({ templateId })).to.deep.equal(of(1, 0));
        expect(await found({ campaignId })).to.deep.equal(of(1));
        expect(await found({ workflowId })).to.deep.equal(of(2));
        expect(await found({ templateId, contactId: mails[0].contact.id })).to.deep.equal(of(0));
        expect(await found({ campaignId: newId() })).to.deep.equal([]);
      });

      it('filters by a range that includes its start and excludes its end', async () => {
        const hours = [4, 3, 2, 1].map((n) => new Date(Date.now() - n * 3_600_000));
        for (const [place, { email }] of mails.entries()) await become(email, { createdAt: hours[place] as Date });
        const [, second = '', third = ''] = hours.map((time) => time.toISOString());
        expect(await found({ startDate: second })).to.deep.equal(of(3, 2, 1));
        expect(await found({ endDate: third })).to.deep.equal(of(1, 0));
        expect(await found({ startDate: second, endDate: third })).to.deep.equal(of(1));
        expect(await found({ startDate: '2020-01-01', endDate: '2020-12-31' })).to.deep.equal([]);
      });

      it('applies the filters to every page', async () => {
        await become(mails[1].email, { status: 'SENT' });
        const first = await get('/emails?status=PENDING&limit=2');
        expect(first).to.include({ total: 3, hasMore: true });
        const second = await get(`/emails?status=PENDING&limit=2&cursor=${first.cursor}`);
        const ids = [...first.data, ...second.data].map(({ id }: { id: string }) => id);
        expect(ids).to.deep.equal(of(3, 2, 0));
      });

      it('returns no mail of another project', async () => {
        const other = await api.project();
        const answer = await other.server.get(`/emails?contactId=${mails[0].contact.id}`);
        expect(answer.body).to.include({ total: 0 });
      });

      for (const query of [
        'status=NEW',
        'contactId=x',
        'campaignId=1',
        'templateId=',
        'startDate=soon',
        'endDate=2020-13-01',
      ])
        it(`rejects ${query} with 400`, async () => {
          expect(await project.server.get(`/emails?${query}`)).to.be.envelope(400, 'BAD_REQUEST');
        });
    });

    it('is empty before the first mail', async () => {
      expect(await get('/emails')).to.deep.equal({ data: [], cursor: null, hasMore: false, total: 0 });
    });

    it('answers 400 to an invalid limit or cursor, and to a cursor of another project', async () => {
      for (const query of ['limit=0', 'limit=x', 'cursor=nonsense'])
        expect(await project.server.get(`/emails?${query}`)).to.be.envelope(400, 'BAD_REQUEST');
      for (const to of ['a@example.com', 'b@example.com']) await send(to);
      const { cursor } = await get('/emails?limit=1');
      const other = await api.project();
      expect(await other.server.get(`/emails?cursor=${cursor}`)).to.be.envelope(400, 'BAD_REQUEST');
    });
  });

  describe('POST /emails/:id/resend', () => {
    const resend = (id: string) => project.server.post(`/emails/${id}/resend`);

    for (const status of ['FAILED', 'UNKNOWN'] as const)
      it(`queues ${status} mail again, once`, async () => {
        const { email: id } = await send();
        await become(id, { status, reason: '550 no', attempts: 3 });
        await makeDue(api.db, { id });
        const before = Date.now();
        const answer = await resend(id);
        expect(answer).to.have.status(200);
        expect(answer.body).to.include({ id, status: 'PENDING', reason: null, attemptCount: 3 });
        const row = await mailById(api.db, id);
        expect(row).to.include({ status: 'PENDING' });
        expect(row.dueAt.getTime()).to.be.within(before, Date.now());
        expect(await resend(id)).to.be.envelope(409, 'CONFLICT');
      });

    it('answers 409 to mail that is SENDING', async () => {
      const { email: id } = await send();
      await putInFlight(api.db, id);
      const answer = await resend(id);
      expect(answer).to.be.envelope(409, 'CONFLICT');
      expect(answer.body.error.message).to.contain('SENDING');
      expect(await mailById(api.db, id)).to.include({ status: 'PENDING' });
    });

    for (const status of ['PENDING', 'SENT', 'OPENED', 'BOUNCED', 'CANCELLED'] as const)
      it(`answers 409 to ${status} mail`, async () => {
        const { email: id } = await send();
        await become(id, { status });
        expect(await resend(id)).to.be.envelope(409, 'CONFLICT');
        expect(await readMail(project, id)).to.include({ status });
      });

    it('keeps a resent test mail of a campaign without events', async () => {
      const from = `x@${project.senderDomain}`;
      const content = { name: 'c', subject: 's', body: 'b', from, audienceType: 'ALL' };
      const campaign = (await project.server.post('/campaigns', content)).body.data;
      await project.server.post(`/campaigns/${campaign.id}/test`, { email: 'a@example.com' });
      const [{ id }] = await readMails(project);
      await become(id, { status: 'FAILED' });
      expect(await resend(id)).to.have.status(200);
      expect(await mailById(api.db, id)).to.include({ status: 'PENDING', withoutEvents: true });
    });

    it('answers 409 when the content was removed', async () => {
      const { email: id } = await send();
      await become(id, { status: 'FAILED' });
      await removeContents(api.db, { emailId: id });
      expect(await resend(id)).to.be.envelope(409, 'CONFLICT');
    });

    it('answers 404 to a mail of another project and leaves it unchanged', async () => {
      const other = await api.project();
      const { email: foreign } = await send('x@example.com', other);
      await become(foreign, { status: 'FAILED' });
      expect(await resend(foreign)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      expect(await readMail(other, foreign)).to.include({ status: 'FAILED' });
    });
  });
});
