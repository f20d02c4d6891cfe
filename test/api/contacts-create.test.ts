import { expect } from 'chai';
import { type ApiProject, describeApi } from '../support/api.ts';
import { badAddresses } from '../support/bad-addresses.ts';
import { readContacts, readEventNames } from '../support/reading.ts';
import { blockProject } from '../support/rows/projects.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const email = 'ann@example.com';

describeApi('creating contacts', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const create = async (body: object) => (await project.server.post('/contacts', body)).body;
  const events = () => readEventNames(project);

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

    it('answers 200 with the changed contact when the address exists in any spelling', async () => {
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

    it('merges data by its documented rules', async () => {
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

    it('accepts null as no data, returns {} for none, and ignores unknown fields', async () => {
      expect((await create({ email, data: null, colour: 'red' })).data).to.deep.equal({});
    });

    it('emits nothing on creation, and one event per change of subscription', async () => {
      for (const subscribed of [true, undefined, false, false, true, true]) await create({ email, subscribed });
      expect(await events()).to.deep.equal(['contact.unsubscribed', 'contact.subscribed']);
    });

    it('accepts a session of the owner', async () => {
      expect(await project.owner.post('/contacts', { email })).to.have.status(201);
    });

    describe('400 with a plain error', () => {
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
        ['a key is __proto__', `{"email":"${email}","data":{"__proto__":{"admin":true}}}`],
        ['a nested key is __proto__', `{"email":"${email}","data":{"a":{"__proto__":1}}}`],
        ['a text in data has a NUL character', { email, data: { text: 'a\u0000b' } }],
        ['data is nested very deeply', `{"email":"${email}","data":{"a":${'['.repeat(100)}${']'.repeat(100)}}}`],
        ['the body is an array', [email]],
        ['the body is a text', '"ann@example.com"'],
      ];
      for (const [what, body] of faulty)
        it(`when ${what}`, async () => {
          expect(await project.server.post('/contacts', body)).to.be.plainError(400);
          expect(await readContacts(project)).to.deep.equal([]);
        });

      it('when the data of the contact would exceed 128 KB', async () => {
        const part = (key: string) => ({ email, data: { [key]: 'x'.repeat(60_000) } });
        expect(await project.server.post('/contacts', part('a'))).to.have.status(201);
        expect(await project.server.post('/contacts', part('b'))).to.have.status(200);
        expect(await project.server.post('/contacts', part('c'))).to.be.plainError(400);
        const track = await project.browser.post('/v1/track', { ...part('d'), event: 'e' });
        expect(track).to.have.validationError('data', 'too_big');
      });
    });

    it('answers malformed JSON with the error envelope', async () => {
      expect(await project.server.post('/contacts', '{"email":')).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('answers 413 to a body larger than 1 MB', async () => {
      const answer = await project.server.post('/contacts', { email, data: { text: 'x'.repeat(1_100_000) } });
      expect(answer).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
    });

    it('answers 403 while the project is disabled', async () => {
      await blockProject(api.db, project.id);
      expect(await project.server.post('/contacts', { email })).to.be.envelope(403, 'PROJECT_DISABLED');
    });
  });
});
