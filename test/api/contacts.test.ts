import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { badAddresses } from '../support/bad-addresses.ts';
import { readEventNames, readMail } from '../support/reading.ts';

const email = 'ann@example.com';

describeApi('contacts', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const create = async (body: object) => (await project.server.post('/contacts', body)).body;
  const events = () => readEventNames(project);

  describe('GET /contacts/:id', () => {
    it('answers 200 with the contact, without _meta', async () => {
      const { _meta, ...contact } = await create({ email, data: { a: 1 } });
      const answer = await project.server.get(`/contacts/${contact.id}`);
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal(contact);
    });

    it('answers 404 to an unknown id, one of another project and an invalid one', async () => {
      const other = await api.project();
      const { id } = (await other.server.post('/contacts', { email })).body;
      for (const unknown of [newId(), id, 'ann', 'null', '1'])
        expect(await project.server.get(`/contacts/${unknown}`)).to.be.envelope(404, 'CONTACT_NOT_FOUND');
    });
  });

  describe('PATCH /contacts/:id', () => {
    it('answers 200 with the changed contact', async () => {
      const { id, createdAt } = await create({ email, data: { keep: 1, drop: 2 } });
      const answer = await project.server.patch(`/contacts/${id}`, {
        email: ' Anna@Example.com ',
        subscribed: false,
        data: { drop: null, add: 'x', keep: '' },
      });
      expect(answer).to.have.status(200);
      expect(answer.body).to.have.all.keys('id', 'email', 'subscribed', 'data', 'createdAt', 'updatedAt');
      expect(answer.body).to.deep.include({
        id,
        email: 'anna@example.com',
        subscribed: false,
        data: { keep: 1, add: 'x' },
        createdAt,
      });
      expect(await events()).to.deep.equal(['contact.unsubscribed']);
    });

    it('changes nothing for an empty body, and accepts the own address without a conflict', async () => {
      const { _meta, ...contact } = await create({ email, data: { a: 1 } });
      expect((await project.server.patch(`/contacts/${contact.id}`, {})).body).to.deep.equal(contact);
      expect((await project.server.patch(`/contacts/${contact.id}`, { email })).body).to.deep.equal(contact);
    });

    it('answers 409 with a plain error when another contact has the address', async () => {
      const { id } = await create({ email });
      await create({ email: 'bob@example.com' });
      const answer = await project.server.patch(`/contacts/${id}`, { email: 'BOB@example.com', subscribed: false });
      expect(answer).to.be.plainError(409);
      expect((await project.server.get(`/contacts/${id}`)).body).to.include({ email, subscribed: true });
      expect(await events()).to.deep.equal([]);
    });

    for (const data of [[1], 'text', 5, true, null])
      it(`answers 400 when data is ${JSON.stringify(data)}`, async () => {
        const { id } = await create({ email });
        expect(await project.server.patch(`/contacts/${id}`, { data })).to.be.envelope(400, 'BAD_REQUEST');
      });

    describe('422', () => {
      for (const [what, address] of badAddresses)
        it(`when the address is ${what}`, async () => {
          const { id } = await create({ email });
          const answer = await project.server.patch(`/contacts/${id}`, { email: address });
          expect(answer).to.be.envelope(422, 'VALIDATION_ERROR');
          expect(answer.body.error.errors[0].field).to.equal('email');
        });

      it('when subscribed is not a boolean', async () => {
        const { id } = await create({ email });
        expect(await project.server.patch(`/contacts/${id}`, { subscribed: 'no' })).to.have.validationError(
          'subscribed',
          'invalid_type',
        );
      });

      it('when data is too large', async () => {
        const { id } = await create({ email });
        const answer = await project.server.patch(`/contacts/${id}`, { data: { text: 'x'.repeat(70_000) } });
        expect(answer).to.have.validationError('data', 'too_big');
      });
    });

    it('answers 404 to an unknown id, one of another project and an invalid one', async () => {
      const other = await api.project();
      const { id } = (await other.server.post('/contacts', { email })).body;
      for (const unknown of [newId(), id, 'ann'])
        expect(await project.server.patch(`/contacts/${unknown}`, { subscribed: false })).to.be.envelope(
          404,
          'CONTACT_NOT_FOUND',
        );
      expect((await other.server.get(`/contacts/${id}`)).body.subscribed).to.equal(true);
    });
  });

  describe('DELETE /contacts/:id', () => {
    it('answers 204 without a body and removes the contact', async () => {
      const { id } = await create({ email });
      const answer = await project.server.delete(`/contacts/${id}`);
      expect(answer).to.have.status(204);
      expect(answer.body).to.equal('');
      expect(await project.server.get(`/contacts/${id}`)).to.have.status(404);
      expect(await project.server.delete(`/contacts/${id}`)).to.be.envelope(404, 'CONTACT_NOT_FOUND');
      expect(await project.server.post('/contacts', { email })).to.have.status(201);
    });

    it('cancels the pending mail of the contact', async () => {
      const sent = await project.server.post('/v1/send', {
        to: email,
        from: `hello@${project.senderDomain}`,
        subject: 'Hello',
        body: '<p>Hello</p>',
      });
      const [{ contact, email: emailId }] = sent.body.data.emails;
      expect(await project.server.delete(`/contacts/${contact.id}`)).to.have.status(204);
      const row = await readMail(project, emailId);
      expect(row).to.include({ status: 'CANCELLED', reason: 'contact deleted' });
    });

    it('answers 404 to an id of another project and keeps that contact', async () => {
      const other = await api.project();
      const { id } = (await other.server.post('/contacts', { email })).body;
      expect(await project.server.delete(`/contacts/${id}`)).to.be.envelope(404, 'CONTACT_NOT_FOUND');
      expect(await project.server.delete('/contacts/ann')).to.be.envelope(404, 'CONTACT_NOT_FOUND');
      expect(await other.server.get(`/contacts/${id}`)).to.have.status(200);
    });
  });

  describe('POST /contacts/lookup', () => {
    it('returns which addresses are contacts, as the caller spelled them', async () => {
      await create({ email });
      const emails = [' ANN@example.com', 'bob@example.com', email, 'no address', ''];
      const answer = await project.server.post('/contacts/lookup', { emails });
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal({
        found: [' ANN@example.com', email],
        notFound: ['bob@example.com', 'no address', ''],
      });
    });

    it('finds no contact of another project', async () => {
      const other = await api.project();
      await other.server.post('/contacts', { email });
      const { body } = await project.server.post('/contacts/lookup', { emails: [email] });
      expect(body).to.deep.equal({ found: [], notFound: [email] });
    });

    it('accepts 500 addresses', async () => {
      const emails = Array.from({ length: 500 }, (_, n) => `c${n}@example.com`);
      const { body } = await project.server.post('/contacts/lookup', { emails });
      expect(body.notFound).to.deep.equal(emails);
    });

    const faulty: [string, object, string, string][] = [
      ['no list', {}, 'emails', 'required'],
      ['an empty list', { emails: [] }, 'emails', 'too_small'],
      ['501', { emails: Array.from({ length: 501 }, () => email) }, 'emails', 'too_big'],
      ['a text', { emails: email }, 'emails', 'invalid_type'],
      ['a list with a number', { emails: [email, 5] }, 'emails.1', 'invalid_type'],
      ['an address that is too long', { emails: ['a'.repeat(2_000)] }, 'emails.0', 'too_big'],
    ];
    for (const [what, body, field, code] of faulty)
      it(`answers 422 to ${what}`, async () => {
        expect(await project.server.post('/contacts/lookup', body)).to.have.validationError(field, code);
      });
  });
});
