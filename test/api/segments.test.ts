import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiAnswer, type ApiProject, describeApi } from '../support/api.ts';
import { readContacts, readEvents } from '../support/reading.ts';
import { storedMembers } from '../support/rows/contacts.ts';

const tree = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] });
const isPro = tree({ field: 'data.plan', operator: 'equals', value: 'pro' });

describeApi('segments', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const make = async (body: object = { name: 'Pro', condition: isPro }): Promise<ApiAnswer['body']> => {
    const answer = await project.server.post('/segments', body);
    expect(answer).to.have.status(201);
    return answer.body;
  };
  const makeStatic = () => make({ name: 'List', type: 'STATIC' });
  const contact = async (email: string, data = {}) =>
    (await project.server.post('/contacts', { email, data })).body as { id: string };

  describe('POST /segments', () => {
    it('creates a dynamic segment when the type is omitted', async () => {
      await contact('ann@example.com', { plan: 'pro' });
      const segment = await make({ name: 'VIP Customers', description: 'The best', condition: isPro });
      expect(segment).to.have.all.keys(
        'id',
        'name',
        'slug',
        'description',
        'type',
        'condition',
        'trackMembership',
        'memberCount',
        'countedAt',
        'projectId',
        'createdAt',
        'updatedAt',
      );
      expect(segment).to.include({
        name: 'VIP Customers',
        slug: 'vip-customers',
        description: 'The best',
        type: 'DYNAMIC',
        trackMembership: false,
        memberCount: 1,
        projectId: project.id,
      });
      expect(segment.condition).to.deep.equal(isPro);
      expect(new Date(segment.createdAt).toISOString()).to.equal(segment.createdAt);
    });

    it('creates a static segment and ignores any condition', async () => {
      const segment = await make({ name: 'List', type: 'STATIC', condition: 'nonsense', trackMembership: true });
      expect(segment).to.include({ type: 'STATIC', condition: null, memberCount: 0, trackMembership: true });
    });

    const refused: [what: string, body: unknown, word: string][] = [
      ['no name', { condition: isPro }, 'name'],
      ['an empty name', { name: '', condition: isPro }, 'name'],
      ['a name over 100 characters', { name: 'a'.repeat(101), condition: isPro }, 'name'],
      [
        'a description over 500 characters',
        { name: 'a', description: 'a'.repeat(501), condition: isPro },
        'description',
      ],
      ['an unknown type', { name: 'a', type: 'dynamic', condition: isPro }, 'type'],
      ['trackMembership that is text', { name: 'a', trackMembership: 'yes', condition: isPro }, 'trackMembership'],
      ['no condition', { name: 'a' }, 'condition'],
      ['a condition that is null', { name: 'a', condition: null }, 'condition'],
      ['a condition that is text', { name: 'a', condition: 'x' }, 'condition'],
      ['a condition that is a list', { name: 'a', condition: [] }, 'condition'],
      ['a condition without groups', { name: 'a', condition: { logic: 'AND' } }, 'condition.groups'],
      [
        'an unknown operator',
        { name: 'a', condition: tree({ field: 'email', operator: 'is' }) },
        'condition.groups.0.filters.0.operator',
      ],
      [
        'an unknown segment',
        { name: 'a', condition: tree({ field: `segment.${newId()}`, operator: 'memberOfSegment' }) },
        'condition.groups.0.filters.0.field',
      ],
      ['a body that is a list', [], 'body'],
    ];
    for (const [what, body, word] of refused)
      it(`answers a plain 400 to ${what}`, async () => {
        const answer = await project.server.post('/segments', body);
        expect(answer).to.be.plainError(400);
        expect(answer.body.error).to.include(word);
        expect((await project.server.get('/segments')).body).to.deep.equal([]);
      });

    it('accepts names and descriptions of the maximum length', async () => {
      await make({ name: 'a'.repeat(100), description: 'b'.repeat(500), condition: isPro });
      expect(await make({ name: 'c', description: '', condition: isPro })).to.include({ description: '' });
      expect(await make({ name: 'd', description: null, condition: isPro })).to.include({ description: null });
    });

    it('answers malformed JSON in the envelope', async () => {
      expect(await project.server.post('/segments', '{')).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('treats special characters in keys as text', async () => {
      const key = `'; drop table contacts; --`;
      await contact('ann@example.com', { [key]: 'x' });
      const segment = await make({
        name: 'Hostile',
        condition: tree({ field: `data.${key}`, operator: 'equals', value: 'x' }),
      });
      expect(segment.memberCount).to.equal(1);
    });
  });

  describe('GET /segments', () => {
    it('returns a plain array of all segments, newest first', async () => {
      expect(await project.server.get('/segments')).to.have.status(200);
      for (let n = 0; n < 25; n++) await make({ name: `S${n}`, type: 'STATIC' });
      const { body } = await project.server.get('/segments');
      expect(body.map(({ name }: { name: string }) => name)).to.deep.equal(
        Array.from({ length: 25 }, (_, n) => `S${24 - n}`),
      );
    });

    it('returns one by its id, with the cached count', async () => {
      const segment = await make();
      await contact('ann@example.com', { plan: 'pro' });
      const { body } = await project.server.get(`/segments/${segment.id}`);
      expect(body).to.deep.equal(segment);
    });
  });

  describe('PATCH /segments/:id', () => {
    it('changes only the given fields', async () => {
      const segment = await make();
      const answer = await project.server.patch(`/segments/${segment.id}`, {
        name: 'Other',
        type: 'STATIC',
        slug: 'x',
      });
      expect(answer).to.have.status(200);
      expect({ ...answer.body, updatedAt: segment.updatedAt }).to.deep.equal({ ...segment, name: 'Other' });
      const cleared = await project.server.patch(`/segments/${segment.id}`, {
        description: 'x',
        trackMembership: true,
      });
      expect(cleared.body).to.include({ description: 'x', trackMembership: true });
    });

    it('answers 422 to an invalid field, and 400 with the path to an invalid condition', async () => {
      const { id } = await make();
      expect(await project.server.patch(`/segments/${id}`, { name: '' })).to.have.validationError('name', 'too_small');
      expect(await project.server.patch(`/segments/${id}`, { trackMembership: 1 })).to.have.validationError(
        'trackMembership',
        'invalid_type',
      );
      for (const condition of [null, 'x', {}, tree({ field: 'plan', operator: 'equals', value: 1 })]) {
        const answer = await project.server.patch(`/segments/${id}`, { condition });
        expect(answer).to.be.envelope(400, 'BAD_REQUEST');
        expect(answer.body.error.message).to.include('condition');
        expect(answer.body.error.errors[0].field).to.match(/^condition/);
      }
    });

    it('rejects a circular reference', async () => {
      const a = await make();
      const b = await make({ name: 'B', condition: tree({ field: `segment.${a.id}`, operator: 'memberOfSegment' }) });
      const answer = await project.server.patch(`/segments/${a.id}`, {
        condition: tree({ field: `segment.${b.id}`, operator: 'notMemberOfSegment' }),
      });
      expect(answer).to.be.envelope(400, 'BAD_REQUEST');
    });
  });

  describe('DELETE /segments/:id', () => {
    it('answers 204, then 404', async () => {
      const { id } = await make();
      const answer = await project.server.delete(`/segments/${id}`);
      expect(answer).to.have.status(204);
      expect(answer.body).to.equal('');
      expect(await project.server.delete(`/segments/${id}`)).to.be.envelope(404, 'SEGMENT_NOT_FOUND');
    });

    it('answers 409 while another segment uses it', async () => {
      const { id } = await make();
      await make({ name: 'B', condition: tree({ field: `segment.${id}`, operator: 'memberOfSegment' }) });
      expect(await project.server.delete(`/segments/${id}`)).to.be.envelope(409, 'CONFLICT');
    });
  });

  describe('GET /segments/:id/contacts', () => {
    it('pages through contacts with all fields', async () => {
      for (const name of ['ann', 'bob', 'cid']) await contact(`${name}@example.com`, { plan: 'pro' });
      await contact('dan@example.com');
      const { id } = await make();
      const { body } = await project.server.get(`/segments/${id}/contacts?page=2&pageSize=2`);
      expect(body).to.have.all.keys('data', 'total', 'page', 'pageSize', 'totalPages');
      expect(body).to.include({ total: 3, page: 2, pageSize: 2, totalPages: 2 });
      expect(body.data).to.have.lengthOf(1);
      expect(body.data[0]).to.have.all.keys('id', 'email', 'subscribed', 'data', 'createdAt', 'updatedAt');
      expect(body.data[0]).to.include({ email: 'ann@example.com' });
    });

    it('has defaults, clamps a large page size and rejects invalid values', async () => {
      const { id } = await make();
      const path = `/segments/${id}/contacts`;
      expect((await project.server.get(path)).body).to.include({ page: 1, pageSize: 20, total: 0, totalPages: 0 });
      expect((await project.server.get(`${path}?pageSize=5000`)).body).to.include({ pageSize: 100 });
      for (const query of ['page=0', 'pageSize=0', 'page=x', 'pageSize=1.5'])
        expect(await project.server.get(`${path}?${query}`)).to.be.envelope(400, 'BAD_REQUEST');
    });
  });

  describe('the members of a static segment', () => {
    it('are added and removed by address', async () => {
      await contact('ann@example.com');
      const { id } = await makeStatic();
      const path = `/segments/${id}/members`;
      const added = await project.server.post(path, { emails: ['Ann@example.com', 'Bob@example.com'] });
      expect(added).to.have.status(200);
      expect(added.body).to.deep.equal({ added: 1, created: 0, notFound: ['Bob@example.com'] });
      const created = await project.server.post(path, { emails: ['bob@example.com'], createMissing: true });
      expect(created.body).to.deep.equal({ added: 1, created: 1, notFound: [] });
      expect((await project.server.get(`/segments/${id}`)).body.memberCount).to.equal(2);
      const removed = await project.server.delete(path, { emails: ['ann@example.com', 'nobody@example.com'] });
      expect(removed).to.have.status(200);
      expect(removed.body).to.deep.equal({ removed: 1 });
      const { body } = await project.server.get(`/segments/${id}/contacts`);
      expect(body.data.map(({ email }: { email: string }) => email)).to.deep.equal(['bob@example.com']);
    });

    it('are given as a list of 1 to 500 addresses', async () => {
      const { id } = await makeStatic();
      const path = `/segments/${id}/members`;
      const many = (n: number) => Array.from({ length: n }, (_, i) => `u${i}@example.com`);
      expect(await project.server.post(path, {})).to.have.validationError('emails', 'required');
      expect(await project.server.post(path, { emails: [] })).to.have.validationError('emails', 'too_small');
      expect(await project.server.post(path, { emails: many(501) })).to.have.validationError('emails', 'too_big');
      expect(await project.server.post(path, { emails: ['ann'] })).to.have.validationError(
        'emails.0',
        'invalid_string',
      );
      expect(await project.server.delete(path, { emails: many(501) })).to.have.validationError('emails', 'too_big');
      const all = await project.server.post(path, { emails: many(500), createMissing: true });
      expect(all.body).to.deep.equal({ added: 500, created: 500, notFound: [] });
    });

    it('cannot be set on a dynamic segment', async () => {
      const { id } = await make();
      for (const method of ['post', 'delete'] as const)
        expect(await project.server[method](`/segments/${id}/members`, { emails: ['a@example.com'] })).to.be.envelope(
          400,
          'BAD_REQUEST',
        );
    });
  });

  describe('POST /segments/:id/compute and /refresh', () => {
    it('computes a tracked dynamic segment and records its events', async () => {
      const { id } = await make({ name: 'Pro', condition: isPro, trackMembership: true });
      await contact('ann@example.com', { plan: 'pro' });
      const answer = await project.server.post(`/segments/${id}/compute`);
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal({ added: 1, removed: 0, total: 1 });
      const events = await readEvents(project);
      expect(events.map(({ name }) => name)).to.deep.equal(['segment.pro.entry']);
    });

    it('rejects computing any other segment', async () => {
      for (const { id } of [await make(), await makeStatic()])
        expect(await project.server.post(`/segments/${id}/compute`)).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('counts again without recording events', async () => {
      const { id } = await make({ name: 'Pro', condition: isPro, trackMembership: true });
      await contact('ann@example.com', { plan: 'pro' });
      const answer = await project.server.post(`/segments/${id}/refresh`);
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal({ memberCount: 1 });
      expect((await project.server.get(`/segments/${id}`)).body.memberCount).to.equal(1);
      expect(await readEvents(project)).to.deep.equal([]);
      expect(await storedMembers(api.db, id)).to.deep.equal([]);
    });
  });

  it('answers the same 404 to an unknown id, one of another project and an invalid one', async () => {
    const { id } = await makeStatic();
    const other = await api.project();
    const calls: [method: string, path: string, body?: object][] = [
      ['GET', ''],
      ['PATCH', '', { name: 'x' }],
      ['DELETE', ''],
      ['GET', '/contacts'],
      ['POST', '/members', { emails: ['a@example.com'], createMissing: true }],
      ['DELETE', '/members', { emails: ['a@example.com'] }],
      ['POST', '/compute'],
      ['POST', '/refresh'],
    ];
    for (const given of [id, newId(), 'vip'])
      for (const [method, path, body] of calls)
        expect(await other.server.request(method, `/segments/${given}${path}`, body)).to.be.envelope(
          404,
          'SEGMENT_NOT_FOUND',
        );
    expect(await readContacts(other)).to.deep.equal([]);
    expect((await project.server.get(`/segments/${id}`)).body).to.include({ name: 'List', memberCount: 0 });
  });

  it('accepts sessions of members of the project', async () => {
    const { id } = await makeStatic();
    expect(await project.owner.get(`/segments/${id}`)).to.have.status(200);
    expect(await project.browser.get(`/segments/${id}`)).to.be.envelope(401, 'INVALID_API_KEY');
  });
});
