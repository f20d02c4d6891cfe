import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiAnswer, type ApiProject, client, describeApi } from '../support/api.ts';

describeApi('forms', (api) => {
  let project: ApiProject;
  let from: string;

  beforeEach(async () => {
    project = await api.project();
    from = `news@${project.senderDomain}`;
  });

  const create = async (body: object = {}) => {
    const answer = await project.server.post('/forms', { name: 'Newsletter', from, ...body });
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body;
  };
  const fieldOf = ({ body }: ApiAnswer): string => body.error.errors[0].field;

  describe('POST /forms', () => {
    it('fills in the defaults', async () => {
      const form = await create();
      const baseUrl = new URL(form.urls.page).origin;
      expect(form).to.deep.equal({
        id: form.id,
        key: 'newsletter',
        name: 'Newsletter',
        status: 'ACTIVE',
        topicIds: [],
        fields: [],
        consentText: '',
        consentRequired: false,
        privacyUrl: null,
        doubleOptIn: true,
        confirm: 'LINK',
        from,
        fromName: null,
        confirmationTemplateId: null,
        reminderAfterHours: 48,
        expiresAfterHours: 168,
        redirects: { submitted: null, confirmed: null, already: null, declined: null, expired: null },
        allowedOrigins: [],
        blockDisposable: false,
        captureTimezone: true,
        captureLocale: true,
        translations: {},
        design: { color: null, css: null },
        submitLabel: null,
        version: 1,
        attackedSince: null,
        urls: { page: `${baseUrl}/f/${form.id}`, script: `${baseUrl}/f/${form.id}.js` },
        projectId: project.id,
        createdAt: form.createdAt,
        updatedAt: form.updatedAt,
      });
      expect((await project.server.get(`/forms/${form.id}`)).body).to.deep.equal(form);
      expect((await project.server.get('/forms')).body).to.deep.equal([form]);
    });

    it('makes a key of the name, and rejects one that is taken with 409', async () => {
      const keys = [];
      for (const name of ['Café', 'cafe', '???']) keys.push((await create({ name })).key);
      expect(keys).to.deep.equal(['cafe', 'cafe-2', 'form']);
      expect(await project.server.post('/forms', { name: 'x', from, key: 'cafe' })).to.have.status(409);
    });

    it('fills in the defaults of fields', async () => {
      const { fields } = await create({
        fields: [{ key: 'plan', label: 'Plan', type: 'SELECT', options: ['a', 'b'] }],
      });
      expect(fields).to.deep.equal([
        {
          key: 'plan',
          label: 'Plan',
          type: 'SELECT',
          required: false,
          options: ['a', 'b'],
          maxLength: 500,
          default: null,
        },
      ]);
    });

    it('rejects what cannot be with 422, naming the field', async () => {
      const archived = (await project.server.post('/topics', { name: 'Old' })).body.id;
      await project.server.patch(`/topics/${archived}`, { archived: true });
      const template = (type: string, body: string) =>
        project.server.post('/templates', { name: 't', subject: 's', type, body, from });
      const plain = (await template('TRANSACTIONAL', 'hello')).body.id;
      const marketing = (await template('MARKETING', '{{confirmUrl}}')).body.id;
      const field = (key: string, more: object = {}) => ({ fields: [{ key, label: 'x', ...more }] });
      const cases: [object, string][] = [
        [{ name: '' }, 'name'],
        [{ key: 'News' }, 'key'],
        [{ key: newId() }, 'key'],
        [field('email'), 'fields.0.key'],
        [field('_x'), 'fields.0.key'],
        ...['topic', 'consent', 'lang'].map((key): [object, string] => [field(key), 'fields.0.key']),
        [
          {
            fields: [
              { key: 'a', label: '' },
              { key: 'a', label: '' },
            ],
          },
          'fields.1.key',
        ],
        [field('a', { type: 'SELECT' }), 'fields.0.options'],
        [field('a', { type: 'NUMBER', default: 'x' }), 'fields.0.default'],
        [field('a', { type: 'SELECT', options: Array(101).fill('x') }), 'fields.0.options'],
        [{ fields: Array.from({ length: 31 }, (_, n) => ({ key: `k${n}`, label: '' })) }, 'fields'],
        [{ redirects: { confirmed: 'javascript:alert(1)' } }, 'redirects.confirmed'],
        [{ allowedOrigins: ['ftp://x.example'] }, 'allowedOrigins.0'],
        [{ topicIds: [archived] }, 'topicIds'],
        [{ expiresAfterHours: 2_161 }, 'expiresAfterHours'],
        [{ reminderAfterHours: 5, expiresAfterHours: 5 }, 'reminderAfterHours'],
        [{ confirmationTemplateId: newId() }, 'confirmationTemplateId'],
        [{ confirmationTemplateId: plain }, 'confirmationTemplateId'],
        [{ confirmationTemplateId: marketing }, 'confirmationTemplateId'],
        [{ design: { css: 'a</style>' } }, 'design.css'],
      ];
      for (const [body, name] of cases) {
        const answer = await project.server.post('/forms', { name: 'x', from, ...body });
        expect(answer, JSON.stringify(body)).to.have.status(422);
        expect(fieldOf(answer), JSON.stringify(body)).to.equal(name);
      }
      expect((await project.server.get('/forms')).body).to.deep.equal([]);
    });

    it('rejects an ACTIVE form without a sender with 400, an unverified one with 403 and an unknown topic with 404', async () => {
      expect(await project.server.post('/forms', { name: 'x' })).to.have.status(400);
      expect(await project.server.post('/forms', { name: 'x', status: 'PAUSED' })).to.have.status(201);
      expect(await project.server.post('/forms', { name: 'x', from: 'a@elsewhere.example' })).to.have.status(403);
      expect(await project.server.post('/forms', { name: 'x', from, topicIds: [newId()] })).to.have.status(404);
    });

    it('rejects one form too many with 409, and deleted ones make room', async () => {
      for (let n = 0; n < 99; n++) await project.server.post('/forms', { name: `f ${n}`, status: 'PAUSED' });
      const last = await create();
      expect(await project.server.post('/forms', { name: 'x', from })).to.have.status(409);
      expect(await project.server.post(`/forms/${last.id}/duplicate`)).to.have.status(409);
      await project.server.delete(`/forms/${last.id}`);
      await create();
    });

    it('requires a topic of marketing email once: not after a person has switched it off', async () => {
      const required = async () =>
        (await api.db('projects').where({ id: project.id }).first('topicRequired')).topicRequired;
      await create();
      expect(await required()).to.equal(false);
      const topicId = (await project.server.post('/topics', { name: 'News' })).body.id;
      await create({ topicIds: [topicId] });
      expect(await required()).to.equal(true);
      await project.owner.patch(`/users/@me/projects/${project.id}`, { topicRequired: false });
      await create({ topicIds: [topicId] });
      expect(await required()).to.equal(false);
    });
  });

  describe('PATCH /forms/:id', () => {
    it('makes a new version of changed fields and texts, and of nothing else', async () => {
      const { id } = await create();
      const patch = async (change: object) => (await project.server.patch(`/forms/${id}`, change)).body;
      expect(await patch({ confirm: 'BUTTON', key: 'x' })).to.include({
        version: 1,
        key: 'newsletter',
        confirm: 'BUTTON',
      });
      expect(await patch({ consentText: 'I agree' })).to.include({ version: 2 });
      expect(await patch({ fields: [{ key: 'a', label: 'A' }] })).to.include({ version: 3 });
      expect(await patch({ fields: [{ key: 'a', label: 'A' }] })).to.include({ version: 3 });
      expect(await patch({ translations: { de: { submitLabel: 'Los' } } })).to.include({ version: 4 });
    });

    it('keeps the sender of an ACTIVE form with 400', async () => {
      const { id } = await create();
      expect(await project.server.patch(`/forms/${id}`, { from: null })).to.have.status(400);
      expect(await project.server.patch(`/forms/${id}`, { from: null, status: 'PAUSED' })).to.have.status(200);
      expect(await project.server.patch(`/forms/${id}`, { status: 'ACTIVE' })).to.have.status(400);
    });

    it('takes the sender of the pages, which cannot be removed then', async () => {
      const pages = `/projects/${project.id}/pages`;
      expect(await project.owner.patch(pages, { from })).to.have.status(200);
      const answer = await project.server.post('/forms', { name: 'x' });
      expect(answer).to.have.status(201);
      expect(await project.owner.patch(pages, { from: null })).to.have.status(409);
      await project.server.delete(`/forms/${answer.body.id}`);
      expect(await project.owner.patch(pages, { from: null })).to.have.status(200);
    });
  });

  it('duplicates a form PAUSED, under a new key', async () => {
    const form = await create({ fields: [{ key: 'a', label: 'A' }], confirm: 'BUTTON' });
    const answer = await project.server.post(`/forms/${form.id}/duplicate`);
    expect(answer).to.have.status(201);
    const { id, key, name, status, version, urls, createdAt, updatedAt, ...rest } = answer.body;
    expect({ key, name, status, version }).to.deep.equal({
      key: 'newsletter-copy',
      name: 'Newsletter (Copy)',
      status: 'PAUSED',
      version: 1,
    });
    expect(form).to.deep.include(rest);
  });

  it('keeps a topic that a form names from being deleted', async () => {
    const topicId = (await project.server.post('/topics', { name: 'News' })).body.id;
    const { id } = await create({ topicIds: [topicId] });
    expect(await project.server.delete(`/topics/${topicId}`)).to.have.status(409);
    expect(await project.server.delete(`/forms/${id}`)).to.have.status(204);
    expect(await project.server.get(`/forms/${id}`)).to.have.status(404);
    expect(await project.server.delete(`/topics/${topicId}`)).to.have.status(204);
  });

  it('need their scope, and are 404 for other projects', async () => {
    const { id } = await create();
    const key = await project.owner.post(`/projects/${project.id}/keys`, { name: 'k', scopes: ['forms:read'] });
    const scoped = client(api.url, { authorization: `Bearer ${key.body.key}` });
    expect(await scoped.get('/forms')).to.have.status(200);
    expect(await scoped.patch(`/forms/${id}`, { name: 'x' })).to.have.status(403);
    const other = await api.project();
    expect(await other.server.get(`/forms/${id}`)).to.have.status(404);
    expect(await other.server.patch(`/forms/${id}`, { fields: [{ key: 'email', label: '' }] })).to.have.status(404);
  });
});
