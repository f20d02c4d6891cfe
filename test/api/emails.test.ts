import { expect } from 'chai';
import type { Email } from '../../db/models/email.ts';
import { newId } from '../../platform/ids.ts';
import { type ApiProject, startTestApi, type TestApi } from '../support/api.ts';

describe('e-mail records', () => {
  let api: TestApi;
  let project: ApiProject;

  before(async () => {
    api = await startTestApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    project = await api.project();
  });

  const send = async (to = 'ann@example.com', by = project): Promise<{ email: string; contact: { id: string } }> => {
    const from = `Shop <hello@${by.senderDomain}>`;
    const answer = await by.server.post('/v1/send', { to, from, subject: 'Hello', body: '<p>Hello</p>' });
    expect(answer).to.have.status(200);
    return answer.body.data.emails[0];
  };
  const become = (id: string, state: Partial<Email>) => api.db('emails').where({ id }).update(state);
  const get = async (path: string) => {
    const answer = await project.server.get(path);
    expect(answer).to.have.status(200);
    return answer.body;
  };

  describe('GET /emails/:id', () => {
    it('shows what became of a mail', async () => {
      const { email: id, contact } = await send();
      const fresh = await get(`/emails/${id}`);
      expect(fresh).to.deep.equal({
        id,
        contactId: contact.id,
        sourceType: 'TRANSACTIONAL',
        templateId: null,
        status: 'PENDING',
        reason: null,
        attempts: 0,
        unknownOutcomes: 0,
        messageId: `<${id}@${project.senderDomain}>`,
        providerMessageId: null,
        to: 'ann@example.com',
        from: `hello@${project.senderDomain}`,
        subject: 'Hello',
        createdAt: fresh.createdAt,
        updatedAt: fresh.updatedAt,
        sentAt: null,
      });
      const sentAt = new Date();
      await become(id, { status: 'SENT', attempts: 2, unknownOutcomes: 1, providerMessageId: 'abc', sentAt });
      expect(await get(`/emails/${id}`)).to.include({
        status: 'SENT',
        attempts: 2,
        unknownOutcomes: 1,
        providerMessageId: 'abc',
        sentAt: sentAt.toISOString(),
      });
    });

    it('shows the template that it came from', async () => {
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

    it('no longer shows the address of a contact that is deleted', async () => {
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

    it('is 404 for what is not there, is somebody else’s, or no id', async () => {
      const other = await api.project();
      const { email } = await send('x@example.com', other);
      for (const id of [newId(), email, 'nonsense'])
        expect(await project.server.get(`/emails/${id}`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });
  });

  describe('GET /emails', () => {
    it('lists the project’s mails, the newest first, page by page', async () => {
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
      expect(first.data[0]).to.deep.equal(await get(`/emails/${ids[0]}`));
    });

    it('is empty before the first mail', async () => {
      expect(await get('/emails')).to.deep.equal({ data: [], cursor: null, hasMore: false, total: 0 });
    });

    it('is 400 with a limit or a cursor that cannot be read, or that is another project’s', async () => {
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
      it(`puts ${status} mail back into the ledger, once`, async () => {
        const { email: id } = await send();
        await become(id, { status, reason: '550 no', attempts: 3, batchId: newId() });
        await api
          .db('emails')
          .where({ id })
          .update({ dueAt: new Date(0) });
        const answer = await resend(id);
        expect(answer).to.have.status(200);
        expect(answer.body).to.include({ id, status: 'PENDING', reason: null, attempts: 3 });
        const row = await api.db('emails').where({ id }).first();
        expect(row).to.include({ status: 'PENDING', batchId: null });
        expect(row.dueAt.getTime()).to.be.above(Date.now() - 60_000);
        expect(await resend(id)).to.be.envelope(409, 'CONFLICT');
      });

    for (const status of ['PENDING', 'SENDING', 'SENT', 'OPENED', 'BOUNCED', 'CANCELLED'] as const)
      it(`is 409 for ${status} mail`, async () => {
        const { email: id } = await send();
        await become(id, { status });
        expect(await resend(id)).to.be.envelope(409, 'CONFLICT');
        expect(await api.db('emails').where({ id }).first()).to.include({ status });
      });

    it('is 409 when the content is gone', async () => {
      const { email: id } = await send();
      await become(id, { status: 'FAILED' });
      await api.db('email_contents').where({ emailId: id }).del();
      expect(await resend(id)).to.be.envelope(409, 'CONFLICT');
    });

    it('is 404 for somebody else’s mail, which stays as it is', async () => {
      const other = await api.project();
      const { email: foreign } = await send('x@example.com', other);
      await become(foreign, { status: 'FAILED' });
      expect(await resend(foreign)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      expect(await api.db('emails').where({ id: foreign }).first()).to.include({ status: 'FAILED' });
    });
  });
});
