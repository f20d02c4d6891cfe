import { expect } from 'chai';
import { type ApiProject, describeApi } from '../support/api.ts';
import { readContacts } from '../support/reading.ts';
import { addContactSeries } from '../support/rows/contacts.ts';
import { blockProject } from '../support/rows/projects.ts';

describeApi('contact fields over HTTP', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const save = (email: string, data: object) => project.server.post('/contacts', { email, data });
  const path = (field: string, rest = '') => `/contacts/fields/${encodeURIComponent(field)}${rest}`;

  describe('GET /contacts/fields', () => {
    it('answers 200 with the standard fields of an empty project', async () => {
      const answer = await project.server.get('/contacts/fields');
      expect(answer).to.have.status(200);
      expect(answer.body.count).to.equal(4);
      expect(answer.body.fields).to.deep.equal([
        { field: 'email', type: 'string', isCustom: false, coverage: 0 },
        { field: 'subscribed', type: 'boolean', isCustom: false, coverage: 0 },
        { field: 'createdAt', type: 'date', isCustom: false, coverage: 0 },
        { field: 'updatedAt', type: 'date', isCustom: false, coverage: 0 },
      ]);
    });

    it('lists custom fields with type and coverage, from every endpoint that writes contacts', async () => {
      await save('ann@example.com', { age: 30 });
      await project.browser.post('/v1/track', {
        email: 'bob@example.com',
        event: 'e',
        data: { age: 'old', since: '2026-01-01' },
      });
      await project.server.post('/v1/send', {
        to: { email: 'eve@example.com', name: 'Eve' },
        from: `hello@${project.senderDomain}`,
        subject: 'x',
        body: 'x',
        data: { vip: true },
      });
      await save('dan@example.com', {});
      const { fields, count } = (await project.server.get('/contacts/fields')).body;
      expect(count).to.equal(8);
      expect(fields.slice(4)).to.deep.equal([
        { field: 'data.age', type: 'number', isCustom: true, coverage: 0.5 },
        { field: 'data.name', type: 'string', isCustom: true, coverage: 0.25 },
        { field: 'data.since', type: 'date', isCustom: true, coverage: 0.25 },
        { field: 'data.vip', type: 'boolean', isCustom: true, coverage: 0.25 },
      ]);
    });
  });

  describe('GET /contacts/fields/:field/values', () => {
    it('answers 200 with the distinct values', async () => {
      await save('ann@example.com', { plan: 'pro' });
      await save('bob@example.com', { plan: 'free' });
      await save('eve@example.com', { plan: 'pro' });
      const expected = { field: 'data.plan', values: ['free', 'pro'], count: 2, limit: 100 };
      for (const field of ['data.plan', 'plan']) {
        const answer = await project.server.get(path(field, '/values'));
        expect(answer).to.have.status(200);
        expect(answer.body).to.deep.equal(expected);
      }
      expect((await project.server.get(path('email', '/values'))).body.values).to.have.lengthOf(3);
      expect((await project.server.get(path('subscribed', '/values'))).body.values).to.deep.equal([true]);
    });

    it('accepts keys with spaces, dots and slashes', async () => {
      for (const key of ['first name', 'a.b', 'a/b', 'ä?&=#', '%41', 'data.x', '../x']) {
        await save('ann@example.com', { [key]: key });
        const { body } = await project.server.get(path(`data.${key}`, '/values'));
        expect(body).to.deep.include({ field: `data.${key}`, values: [key] });
      }
    });

    it('accepts a limit, clamps it to 200, and rejects an invalid one', async () => {
      await save('ann@example.com', { n: 1 });
      await save('bob@example.com', { n: 2 });
      expect((await project.server.get(path('n', '/values?limit=1'))).body).to.deep.include({
        values: [1],
        count: 1,
        limit: 1,
      });
      expect((await project.server.get(path('n', '/values?limit=9999'))).body).to.include({ limit: 200, count: 2 });
      for (const limit of ['0', '-5', 'x', '1.5'])
        expect(await project.server.get(path('n', `/values?limit=${limit}`))).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('returns no values for a field without contacts, and none of other projects', async () => {
      const other = await api.project();
      await other.server.post('/contacts', { email: 'ann@example.com', data: { plan: 'pro' } });
      expect((await project.server.get(path('plan', '/values'))).body.values).to.deep.equal([]);
    });

    it('answers 404 to a name that is not a valid field', async () => {
      const answer = await project.server.get(path('k'.repeat(400), '/values'));
      expect(answer).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });
  });

  describe('GET /contacts/fields/:field/usage', () => {
    it('answers 200 with the resources that use it and the number of contacts that have it', async () => {
      await save('ann@example.com', { plan: 'pro' });
      await save('bob@example.com', {});
      const answer = await project.server.get(path('data.plan', '/usage'));
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal({
        usedInSegments: [],
        usedInCampaigns: [],
        usedInWorkflows: [],
        contactCount: 1,
        canDelete: true,
      });
    });
  });

  describe('DELETE /contacts/fields/:field', () => {
    it('answers 200 with the number of contacts and removes the field', async () => {
      await save('ann@example.com', { 'a/b c': 1, keep: 1 });
      await save('bob@example.com', { 'a/b c': 2 });
      const answer = await project.server.delete(path('data.a/b c'));
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal({ deletedFrom: 2 });
      const { fields } = (await project.server.get('/contacts/fields')).body;
      expect(fields.slice(4)).to.deep.equal([{ field: 'data.keep', type: 'number', isCustom: true, coverage: 0.5 }]);
      expect((await project.server.delete(path('data.a/b c'))).body).to.deep.equal({ deletedFrom: 0 });
    });

    for (const field of ['email', 'subscribed', 'createdAt', 'updatedAt'])
      it(`answers 400 for ${field}`, async () => {
        expect(await project.server.delete(path(field))).to.be.envelope(400, 'BAD_REQUEST');
      });

    it('answers 403 while the project is disabled', async () => {
      await save('ann@example.com', { plan: 'pro' });
      await blockProject(api.db, project.id);
      expect(await project.server.delete(path('plan'))).to.be.envelope(403, 'PROJECT_DISABLED');
      expect((await readContacts(project)).map(({ data }) => data)).to.deep.equal([{ plan: 'pro' }]);
    });
  });

  describe('GET /contacts/export', () => {
    it('answers 200 with all contacts as a CSV file', async () => {
      await save('ann@example.com', { plan: 'pro', formula: '=1+1' });
      await save('bob@example.com', { age: 30 });
      const answer = await project.server.get('/contacts/export');
      expect(answer).to.have.status(200);
      expect(answer.headers.get('content-type')).to.equal('text/csv; charset=utf-8');
      expect(answer.headers.get('content-disposition')).to.equal('attachment; filename="contacts.csv"');
      expect(answer.body).to.equal(
        "email,subscribed,age,formula,plan\r\nann@example.com,true,,'=1+1,pro\r\nbob@example.com,true,30,,\r\n",
      );
    });

    it('contains no contact of another project', async () => {
      const other = await api.project();
      await other.server.post('/contacts', { email: 'ann@example.com', data: { secret: 1 } });
      expect((await project.server.get('/contacts/export')).body).to.equal('email,subscribed\r\n');
    });

    it('keeps serving after a client disconnects in the middle of the export', async () => {
      await addContactSeries(api.db, project.id, 3000, { data: `jsonb_build_object('text', repeat('x', 2000))` });
      const gone = new AbortController();
      const response = await fetch(`${api.url}/contacts/export`, {
        headers: { authorization: `Bearer ${project.secretKey}` },
        signal: gone.signal,
      });
      await response.body?.getReader().read();
      gone.abort();
      expect(await project.server.get('/contacts?limit=1')).to.have.status(200);
      expect((await project.server.get('/contacts/export')).body.split('\r\n')).to.have.lengthOf(3_002);
    });
  });
});
