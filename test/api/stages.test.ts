import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect } from 'chai';
import joi from 'joi';
import { answer, created, missing, noContent, ok, plainFailure } from '../../api/http/answers.ts';
import { route, routes } from '../../api/http/route.ts';
import { cursorPage, email, offsetPage, optional, text, uuid } from '../../api/http/schemas.ts';
import { ApiError, validationError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { createSession } from '../../services/sessions/sessions.ts';
import { type ApiProject, client, startTestApi, type TestApi } from '../support/api.ts';
import { blockProject } from '../support/rows/projects.ts';
import { insertUser } from '../support/users.ts';
import { eventually } from '../support/waiting.ts';

// The smallest routes that use each feature of a route declaration.
const seen: string[] = [];
const things = routes('Things', [
  route({
    method: 'GET',
    path: '/things',
    summary: 'List',
    access: 'secretKey',
    scope: 'send:read',
    query: { ...offsetPage(), ...cursorPage(), subscribed: optional(joi.boolean()) },
    answers: { 200: answer('Things.') },
    handle: ({ query, project, role }) => ok({ query, projectId: project.projectId, role }),
  }),
  route({
    method: 'GET',
    path: '/things/:id',
    summary: 'One',
    access: 'secretKey',
    scope: 'send:read',
    params: { id: uuid() },
    answers: { 200: answer('The thing.'), 404: missing('contact', 'CONTACT_NOT_FOUND') },
    handle: ({ params }) => ok({ id: params.id }),
  }),
  route({
    method: 'GET',
    path: '/things/fields',
    summary: 'Fields',
    access: 'secretKey',
    scope: 'send:read',
    answers: { 200: answer('Fields.') },
    handle: () => ok({ fields: [] }),
  }),
  route({
    method: 'POST',
    path: '/things',
    summary: 'Create',
    access: 'secretKey',
    scope: 'send:read',
    body: { email: email() },
    invalidBody: 400,
    answers: { 201: answer('Created.'), 400: plainFailure('The body breaks a rule.') },
    handle: ({ body }) => {
      if (body.email === 'taken@example.com') throw new ApiError(409, 'CONFLICT', 'It is taken.');
      if (body.email === 'odd@example.com')
        throw validationError([{ field: 'email', message: '"email" is odd', code: 'custom' }]);
      return created(body);
    },
  }),
  route({
    method: 'PATCH',
    path: '/things/:id',
    summary: 'Change',
    access: 'secretKey',
    scope: 'send:read',
    params: { id: uuid() },
    body: { name: optional(text()) },
    answers: { 200: answer('Changed.'), 409: plainFailure('Taken.'), 404: missing('contact', 'CONTACT_NOT_FOUND') },
    handle: ({ body }) => {
      if (body.name === 'taken') throw new ApiError(409, 'CONFLICT', 'The name is taken.');
      return ok(body);
    },
  }),
  route({
    method: 'PUT',
    path: '/things/:id',
    summary: 'Replace',
    access: 'secretKey',
    scope: 'send:read',
    params: { id: uuid() },
    body: { name: text() },
    invalidBody: 400,
    answers: { 200: answer('Replaced.') },
    handle: ({ body }) => ok(body),
  }),
  route({
    method: 'DELETE',
    path: '/things/:id',
    summary: 'Delete',
    access: 'secretKey',
    scope: 'send:read',
    params: { id: uuid() },
    answers: { 204: answer('Gone.') },
    handle: () => noContent(),
  }),
  route({
    method: 'POST',
    path: '/things/import',
    summary: 'Import',
    access: 'secretKey',
    scope: 'send:read',
    multipart: { name: 'ImportRequest', description: 'A file.', files: { file: 'A file.' }, maxFileBytes: 1000 },
    body: { note: optional(text()) },
    answers: { 200: answer('Imported.') },
    handle: async ({ files, body }) => {
      if (files.file) seen.push(files.file.path);
      const content = files.file ? await readFile(files.file.path, 'utf8') : null;
      return ok({ content, name: files.file?.name ?? null, body, fields: Object.keys(files) });
    },
  }),
  route({
    method: 'GET',
    path: '/caller',
    summary: 'Who calls',
    access: 'public',
    answers: { 200: answer('The caller.') },
    handle: ({ request }) => ok({ ip: request.ip, id: request.id }),
  }),
]);

describe('stages of a route', () => {
  let api: TestApi;
  let project: ApiProject;

  before(async () => {
    api = await startTestApi({ moreRoutes: [things] });
  });
  beforeEach(async () => {
    project = await api.project();
  });
  after(() => api.stop());

  describe('path', () => {
    it('passes its id to the handler', async () => {
      const id = newId();
      expect((await project.server.get(`/things/${id}`)).body).to.deep.equal({ id });
    });

    for (const id of [
      '1',
      'x'.repeat(300),
      '%20',
      '01890000-0000-7000-8000-00000000000g',
      '{01890000-0000-7000-8000-000000000000}',
    ])
      it(`answers 404 like an unknown id to an invalid UUID: ${id.slice(0, 40)}`, async () => {
        const answer = await project.server.get(`/things/${id}`);
        expect(answer).to.be.envelope(404, 'CONTACT_NOT_FOUND');
        expect(answer.headers.get('ratelimit-limit')).to.equal('1000');
      });

    it('prefers the route without a parameter', async () => {
      expect((await project.server.get('/things/fields')).body).to.deep.equal({ fields: [] });
    });
  });

  describe('query', () => {
    it('has the documented defaults', async () => {
      const { body } = await project.server.get('/things');
      expect(body.query).to.deep.equal({ page: 1, pageSize: 20, limit: 20 });
    });

    it('parses numbers and booleans, and ignores unknown parameters', async () => {
      const { body } = await project.server.get('/things?page=3&limit=7&subscribed=false&x=1&__proto__=1');
      expect(body.query).to.deep.equal({ page: 3, pageSize: 20, limit: 7, subscribed: false });
    });

    for (const size of ['101', '5000', '99999999999999999999', '1e21'])
      it(`clamps a size of ${size}`, async () => {
        const { body } = await project.server.get(`/things?limit=${size}&pageSize=${size}`);
        expect(body.query).to.include({ limit: 100, pageSize: 100 });
      });

    for (const query of [
      'page=0',
      'pageSize=0',
      'limit=-1',
      'limit=abc',
      'limit=',
      'limit=1.5',
      'page=NaN',
      'limit=1&limit=2',
      'subscribed=maybe',
      'limit=Infinity',
      'cursor=',
    ])
      it(`answers 400 to an invalid value: ${query}`, async () => {
        const answer = await project.server.get(`/things?${query}`);
        expect(answer).to.be.envelope(400, 'BAD_REQUEST');
        expect(answer.body.error.errors[0].field).to.equal(query.split('=')[0]);
      });
  });

  describe('body', () => {
    it('is rejected with a plain 400 where the contract says so', async () => {
      expect(await project.server.post('/things', { email: 'a@b.co' })).to.have.status(201);
      const answer = await project.server.post('/things', {});
      expect(answer).to.be.plainError(400);
      expect(answer.body.error).to.contain('email');
      expect(await project.server.post('/things', '{"email":"a\\u0000@b.co"}')).to.be.plainError(400);
      expect(await project.server.post('/things', '[]')).to.be.plainError(400);
    });

    it('is rejected with a plain 400 also when the service finds the validation error', async () => {
      const answer = await project.server.post('/things', { email: 'odd@example.com' });
      expect(answer).to.be.plainError(400);
      expect(answer.body.error).to.equal('"email" is odd');
    });

    it('is rejected with the envelope when it is malformed', async () => {
      expect(await project.server.post('/things', '{')).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('does not change the envelope of other errors of the route', async () => {
      expect(await project.server.post('/things', { email: 'taken@example.com' })).to.be.envelope(409, 'CONFLICT');
    });

    it('is rejected with a plain 409 where the contract says so', async () => {
      const answer = await project.server.patch(`/things/${newId()}`, { name: 'taken' });
      expect(answer).to.be.plainError(409);
      expect(answer.body.error).to.equal('The name is taken.');
      expect(await project.server.patch(`/things/${newId()}`, { name: 5 })).to.have.validationError(
        'name',
        'invalid_type',
      );
    });

    it('is rejected with 400 in the envelope where only the status differs', async () => {
      const answer = await project.server.put(`/things/${newId()}`, {});
      expect(answer).to.be.envelope(400, 'BAD_REQUEST');
      expect(answer.body.error.errors[0]).to.include({ field: 'name', code: 'required' });
    });

    it('is missing from a 204 answer', async () => {
      const answer = await project.server.delete(`/things/${newId()}`);
      expect(answer).to.have.status(204);
      expect(answer.body).to.equal('');
    });
  });

  describe('multipart', () => {
    const form = (content: string | Uint8Array<ArrayBuffer>, name = 'file', fields: Record<string, string> = {}) => {
      const data = new FormData();
      for (const [key, value] of Object.entries(fields)) data.append(key, value);
      data.append(name, new Blob([content], { type: 'text/csv' }), 'people.csv');
      return data;
    };

    it('passes file and fields to the handler and removes temporary files', async () => {
      const { status, body } = await project.server.post('/things/import', form('a,b', 'file', { note: 'hello' }));
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ content: 'a,b', name: 'people.csv', body: { note: 'hello' }, fields: ['file'] });
      expect(existsSync(seen.at(-1) ?? '/')).to.equal(false);
    });

    it('passes an empty file to the handler', async () => {
      expect((await project.server.post('/things/import', form(''))).body.content).to.equal('');
    });

    it('ignores files in unknown fields', async () => {
      expect((await project.server.post('/things/import', form('x', 'other'))).body.fields).to.deep.equal([]);
    });

    // The pattern of formidable's temporary file names.
    const leftovers = () => readdirSync(tmpdir()).filter((name) => /^[a-z0-9]{25}$/.test(name));

    it('answers 413 to a file that is too large and removes it', async () => {
      const before = leftovers();
      const answer = await project.server.post('/things/import', form('x'.repeat(1001)));
      expect(answer).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
      const huge = await project.server.post('/things/import', form(new Uint8Array(30_000_000)));
      expect(huge).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
      // Other processes upload there as well.
      await eventually(() => leftovers().every((name) => before.includes(name)), { what: 'the file to be removed' });
    });

    it('answers 422 to an invalid field, and 400 to a body that is not a form', async () => {
      const answer = await project.server.post('/things/import', form('x', 'file', { note: 'a\0b' }));
      expect(answer).to.have.validationError('note', 'invalid_string');
      expect(await project.server.post('/things/import', {})).to.be.envelope(400, 'BAD_REQUEST');
    });

    for (const [what, type, body] of [
      ['no boundary', 'multipart/form-data', 'x'],
      ['an invalid multipart body', 'multipart/form-data; boundary=abc', 'nonsense'],
      [
        'an end that never comes',
        'multipart/form-data; boundary=abc',
        '--abc\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nx',
      ],
    ] as const)
      it(`answers 400 to ${what}`, async () => {
        const answer = await project.server.post('/things/import', body, { 'content-type': type });
        expect(answer).to.be.envelope(400, 'BAD_REQUEST');
      });
  });

  describe('a session with X-Project-Id', () => {
    it('is accepted like the secret key, with the role of its user', async () => {
      const answer = await project.owner.get('/things');
      expect(answer).to.have.status(200);
      expect(answer.body).to.include({ projectId: project.id, role: 'OWNER' });
      expect(answer.headers.get('ratelimit-limit')).to.equal('1000');
    });

    it('is rejected with 403 for an unknown project and one that its user is not a member of', async () => {
      const stranger = await insertUser(api.db, { email: `x-${project.id}@example.com` });
      const cookie = `everpost_session=${await createSession(api.db, stranger.id)}`;
      for (const id of [project.id, newId(), 'nonsense'])
        expect(await api.get('/things', { cookie, 'x-project-id': id })).to.be.envelope(403, 'FORBIDDEN');
    });

    it('is rejected with 400 without X-Project-Id, and with 401 UNAUTHORIZED when it has ended', async () => {
      expect(await api.get('/things', { cookie: project.cookie })).to.be.envelope(400, 'BAD_REQUEST');
      const ended = { cookie: 'everpost_session=gone', 'x-project-id': project.id };
      expect(await api.get('/things', ended)).to.be.envelope(401, 'UNAUTHORIZED');
    });

    it('is ignored when the request has a key', async () => {
      const both = client(api.url, { cookie: project.cookie, authorization: 'Bearer nonsense' });
      expect(await both.get('/things')).to.be.envelope(401, 'INVALID_API_KEY');
    });

    it('is rejected for writes from another origin', async () => {
      const body = { email: 'a@b.co' };
      for (const origin of ['https://evil.example', 'null', 'http://app.test.evil.example'])
        expect(await project.owner.post('/things', body, { origin })).to.be.envelope(403, 'FORBIDDEN');
      expect(await project.owner.post('/things', body, { origin: 'http://app.test' })).to.have.status(201);
      expect(await project.owner.post('/things', body)).to.have.status(201);
    });
  });

  it('accepts reads and rejects writes of a disabled project', async () => {
    await blockProject(api.db, project.id);
    expect(await project.server.get('/things')).to.have.status(200);
    expect(await project.server.request('HEAD', '/things')).to.have.status(200);
    expect(await project.server.post('/things', { email: 'a@b.co' })).to.be.envelope(403, 'PROJECT_DISABLED');
    expect(await project.server.delete(`/things/${newId()}`)).to.be.envelope(403, 'PROJECT_DISABLED');
  });

  it('reads the address of the client from the header of a trusted proxy only', async () => {
    const forwarded = { 'x-forwarded-for': '6.6.6.6, 203.0.113.7' };
    expect((await api.get('/caller', forwarded)).body.ip).to.equal('127.0.0.1');
    const trusting = await startTestApi({ moreRoutes: [things], env: { TRUST_PROXY: 'true' } });
    const { body } = await trusting.get('/caller', forwarded);
    await trusting.stop();
    expect(body.ip).to.equal('203.0.113.7');
  });
});
