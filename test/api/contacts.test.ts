import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiProject, startTestApi, type TestApi } from '../support/api.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const email = 'ann@example.com';

/** Everything that may be wrong with an address. */
const badAddresses: [string, unknown][] = [
  ['empty', ''],
  ['no address', 'ann at example'],
  ['without a domain', 'ann@'],
  ['without a dot in its domain', 'ann@localhost'],
  ['two addresses', 'ann@example.com, bob@example.com'],
  ['with a line break', 'ann\r\n@example.com'],
  ['with a line break behind it and more', 'ann@example.com\nBcc: eve@example.com'],
  ['with an invisible character', 'ann\u200b@example.com'],
  ['with a NUL', 'ann\u0000@example.com'],
  ['over 64 characters before the @', `${'a'.repeat(65)}@example.com`],
  [
    'over 254 characters',
    `ann@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(60)}.${'f'.repeat(20)}.com`,
  ],
  ['a number', 5],
  ['null', null],
  ['an object', { email }],
];

describe('contacts', () => {
  let api: TestApi;
  let project: ApiProject;

  before(async () => {
    api = await startTestApi({ env: { RATE_LIMIT_PER_MINUTE: '100000' } });
  });
  after(() => api.stop());
  beforeEach(async () => {
    project = await api.project();
  });

  const create = async (body: object) => (await project.server.post('/contacts', body)).body;
  const events = async () =>
    (await api.db('events').where({ projectId: project.id }).orderBy('id')).map(({ name }) => name);

  describe('POST /contacts', () => {
    it('answers 201 with the new contact, subscribed', async () => {
      const answer = await project.server.post('/contacts', { email: ' Ann@Example.com', data: { plan: 'pro' } });
      expect(answer).to.have.status(201);
      expect(answer.body).to.have.all.keys('id', 'email', 'subscribed', 'data', 'createdAt', 'updatedAt', '_meta');
      expect(answer.body).to.deep.include({
        email,
        subscribed: true,
        data: { plan: 'pro' },
        _meta: { isNew: true, isUpdate: false },
      });
      expect(answer.body.id).to.match(UUID);
      for (const time of [answer.body.createdAt, answer.body.updatedAt])
        expect(new Date(time).toISOString()).to.equal(time);
    });

    it('answers 200 with the changed contact when there is one, however the address is written', async () => {
      const first = await create({ email, subscribed: false, data: { plan: 'pro', age: 3 } });
      const answer = await project.server.post('/contacts', {
        email: 'ANN@example.com',
        data: { age: null, city: 'Ulm' },
      });
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.include({
        id: first.id,
        subscribed: false,
        data: { plan: 'pro', city: 'Ulm' },
        _meta: { isNew: false, isUpdate: true },
      });
    });

    it('stores by the rules for data', async () => {
      const data = {
        text: 'x',
        number: 1.5,
        flag: false,
        object: { a: [1] },
        list: [1],
        empty: '',
        nothing: null,
        passing: { value: 1, persistent: false },
        kept: { value: 2, persistent: true },
        locale: 'de',
        id: 'x',
        email: 'x',
        service_id: 'x',
        service_email: 'x',
        everpost_id: 'x',
        everpost_email: 'x',
        unsubscribeUrl: 'x',
        subscribeUrl: 'x',
        manageUrl: 'x',
      };
      expect((await create({ email, data })).data).to.deep.equal({
        text: 'x',
        number: 1.5,
        flag: false,
        object: { a: [1] },
        list: [1],
        kept: 2,
        locale: 'de',
      });
    });

    it('takes null for no data, gives {} for none, and ignores fields that it does not know', async () => {
      expect((await create({ email, data: null, colour: 'red' })).data).to.deep.equal({});
    });

    it('emits nothing on creation, and one event per change of subscription', async () => {
      for (const subscribed of [true, undefined, false, false, true, true]) await create({ email, subscribed });
      expect(await events()).to.deep.equal(['contact.unsubscribed', 'contact.subscribed']);
    });

    it('is open to the owner in a session, too', async () => {
      expect(await project.owner.post('/contacts', { email })).to.have.status(201);
    });

    describe('400, as a plain error,', () => {
      it('when the address is missing', async () => {
        const answer = await project.server.post('/contacts', { subscribed: true });
        expect(answer).to.be.plainError(400);
        expect(answer.body.error).to.match(/email/);
        expect(await project.server.post('/contacts')).to.be.plainError(400);
      });

      for (const [what, address] of badAddresses)
        it(`when the address is ${what}`, async () => {
          expect(await project.server.post('/contacts', { email: address })).to.be.plainError(400);
        });

      const faulty: [string, object | string][] = [
        ['subscribed is a text', { email, subscribed: 'true' }],
        ['subscribed is null', { email, subscribed: null }],
        ['data is an array', { email, data: [1] }],
        ['data is a text', { email, data: '{}' }],
        ['data is larger than 64 KB', { email, data: { text: 'x'.repeat(65_536) } }],
        ['a key is longer than 256 characters', { email, data: { ['k'.repeat(257)]: 1 } }],
        ['a key reaches for the prototype', `{"email":"${email}","data":{"__proto__":{"admin":true}}}`],
        ['a nested key reaches for the prototype', `{"email":"${email}","data":{"a":{"__proto__":1}}}`],
        ['a text in data cannot be stored', { email, data: { text: 'a\u0000b' } }],
        ['data is nested very deeply', `{"email":"${email}","data":{"a":${'['.repeat(100)}${']'.repeat(100)}}}`],
        ['the body is an array', [email]],
        ['the body is a text', '"ann@example.com"'],
      ];
      for (const [what, body] of faulty)
        it(`when ${what}`, async () => {
          expect(await project.server.post('/contacts', body)).to.be.plainError(400);
          expect(await api.db('contacts').where({ projectId: project.id })).to.deep.equal([]);
        });

      it('when the contact would gather more than 128 KB', async () => {
        const part = (key: string) => ({ email, data: { [key]: 'x'.repeat(60_000) } });
        expect(await project.server.post('/contacts', part('a'))).to.have.status(201);
        expect(await project.server.post('/contacts', part('b'))).to.have.status(200);
        expect(await project.server.post('/contacts', part('c'))).to.be.plainError(400);
        const track = await project.browser.post('/v1/track', { ...part('d'), event: 'e' });
        expect(track).to.have.fault('data', 'too_big');
      });
    });

    it('answers malformed JSON in the envelope, as everywhere', async () => {
      expect(await project.server.post('/contacts', '{"email":')).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('answers 413 to a body of more than a megabyte', async () => {
      const answer = await project.server.post('/contacts', { email, data: { text: 'x'.repeat(1_100_000) } });
      expect(answer).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
    });

    it('answers 403 while the project is disabled', async () => {
      await api.db('projects').where({ id: project.id }).update({ disabled: true });
      expect(await project.server.post('/contacts', { email })).to.be.envelope(403, 'PROJECT_DISABLED');
    });
  });

  describe('GET /contacts/:id', () => {
    it('answers 200 with the contact, without _meta', async () => {
      const { _meta, ...contact } = await create({ email, data: { a: 1 } });
      const answer = await project.server.get(`/contacts/${contact.id}`);
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal(contact);
    });

    it('answers 404 for an unknown id, a foreign one, and one that is none', async () => {
      const other = await api.project();
      const { id } = (await other.server.post('/contacts', { email })).body;
      for (const unknown of [newId(), id, 'ann', 'null', '1'])
        expect(await project.server.get(`/contacts/${unknown}`)).to.be.envelope(404, 'CONTACT_NOT_FOUND');
    });
  });

  describe('PATCH /contacts/:id', () => {
    it('answers 200 with the contact as it is then', async () => {
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

    it('changes nothing when nothing is sent, and keeps its own address without a conflict', async () => {
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

      it('when subscribed is no boolean', async () => {
        const { id } = await create({ email });
        expect(await project.server.patch(`/contacts/${id}`, { subscribed: 'no' })).to.have.fault(
          'subscribed',
          'invalid_type',
        );
      });

      it('when data is too large', async () => {
        const { id } = await create({ email });
        const answer = await project.server.patch(`/contacts/${id}`, { data: { text: 'x'.repeat(70_000) } });
        expect(answer).to.have.fault('data', 'too_big');
      });
    });

    it('answers 404 for an unknown id, a foreign one, and one that is none', async () => {
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
    it('answers 204 with no body, and the contact is gone', async () => {
      const { id } = await create({ email });
      const answer = await project.server.delete(`/contacts/${id}`);
      expect(answer).to.have.status(204);
      expect(answer.body).to.equal('');
      expect(await project.server.get(`/contacts/${id}`)).to.have.status(404);
      expect(await project.server.delete(`/contacts/${id}`)).to.be.envelope(404, 'CONTACT_NOT_FOUND');
      expect(await project.server.post('/contacts', { email })).to.have.status(201);
    });

    it('cancels the mail that waits for it', async () => {
      const sent = await project.server.post('/v1/send', {
        to: email,
        from: `hello@${project.senderDomain}`,
        subject: 'Hello',
        body: '<p>Hello</p>',
      });
      const [{ contact, email: emailId }] = sent.body.data.emails;
      expect(await project.server.delete(`/contacts/${contact.id}`)).to.have.status(204);
      const row = await api.db('emails').where({ id: emailId }).first();
      expect(row).to.include({ status: 'CANCELLED', reason: 'contact deleted' });
    });

    it('answers 404 for a foreign id, and leaves that contact alone', async () => {
      const other = await api.project();
      const { id } = (await other.server.post('/contacts', { email })).body;
      expect(await project.server.delete(`/contacts/${id}`)).to.be.envelope(404, 'CONTACT_NOT_FOUND');
      expect(await project.server.delete('/contacts/ann')).to.be.envelope(404, 'CONTACT_NOT_FOUND');
      expect(await other.server.get(`/contacts/${id}`)).to.have.status(200);
    });
  });

  describe('POST /contacts/lookup', () => {
    it('tells which addresses are contacts, in the spelling of the caller', async () => {
      await create({ email });
      const emails = [' ANN@example.com', 'bob@example.com', email, 'no address', ''];
      const answer = await project.server.post('/contacts/lookup', { emails });
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal({
        found: [' ANN@example.com', email],
        notFound: ['bob@example.com', 'no address', ''],
      });
    });

    it('knows nobody of another project', async () => {
      const other = await api.project();
      await other.server.post('/contacts', { email });
      const { body } = await project.server.post('/contacts/lookup', { emails: [email] });
      expect(body).to.deep.equal({ found: [], notFound: [email] });
    });

    it('takes 500', async () => {
      const emails = Array.from({ length: 500 }, (_, n) => `c${n}@example.com`);
      const { body } = await project.server.post('/contacts/lookup', { emails });
      expect(body.notFound).to.deep.equal(emails);
    });

    const faulty: [string, object, string, string][] = [
      ['no list', {}, 'emails', 'required'],
      ['an empty list', { emails: [] }, 'emails', 'too_small'],
      ['501', { emails: Array.from({ length: 501 }, () => email) }, 'emails', 'too_big'],
      ['a text', { emails: email }, 'emails', 'invalid_type'],
      ['a number among them', { emails: [email, 5] }, 'emails.1', 'invalid_type'],
      ['one that is endless', { emails: ['a'.repeat(2_000)] }, 'emails.0', 'too_big'],
    ];
    for (const [what, body, field, code] of faulty)
      it(`answers 422 to ${what}`, async () => {
        expect(await project.server.post('/contacts/lookup', body)).to.have.fault(field, code);
      });
  });
});
