import { expect } from 'chai';
import { connectDb } from '../../db/connect.ts';
import { type ApiProject, describeApi, startTestApi } from '../support/api.ts';
import { documentOperations } from '../support/document-operations.ts';
import { startOwnPostgres } from '../support/postgres.ts';
import { RawHttp } from '../support/raw-http.ts';
import { hideTable } from '../support/rows/tables.ts';
import { eventually } from '../support/waiting.ts';

describeApi('errors', {}, (api) => {
  let project: ApiProject;

  before(async () => {
    project = await api.project();
  });

  describe('an address that a browser opens', () => {
    const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
    // As a browser without HTTPS sends it: `fetch` would add that it is no navigation.
    const navigate = async (path: string) => {
      const raw = await RawHttp.open(api.url);
      raw.write(
        `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: ${browser.accept}\r\nAccept-Language: de-AT,en;q=0.5\r\n\r\n`,
      );
      const answer = await raw.answer();
      raw.destroy();
      return answer;
    };

    it('shows a page in the language of the browser when it fails', async () => {
      const { status, headers, body } = await navigate('/nowhere');
      expect(status).to.equal(404);
      expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(headers.get('content-security-policy')).to.include("default-src 'none'");
      expect(body).to.include('Hier ist nichts').and.to.include(headers.get('x-request-id'));
    });

    it('escapes what the address contains', async () => {
      const { body } = await navigate('/%3Cscript%3E');
      expect(body).to.not.include('<script>');
    });

    it('stays JSON for requests of scripts and programs', async () => {
      const others: Record<string, string>[] = [{}, { accept: 'text/html' }, { ...browser, 'sec-fetch-mode': 'cors' }];
      for (const headers of others)
        expect((await api.get('/nowhere', headers)).body.error.code).to.equal('RESOURCE_NOT_FOUND');
    });
  });

  describe('X-Request-Id', () => {
    it('is generated per request when the caller sends none', async () => {
      const first = await api.get('/health');
      const second = await api.get('/health');
      expect(first.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
      expect(first.headers.get('x-request-id')).not.to.equal(second.headers.get('x-request-id'));
    });

    it("repeats the caller's id in the header and in the envelope", async () => {
      const answer = await api.get('/nowhere', { 'x-request-id': 'trace:42.a_b-c' });
      expect(answer.headers.get('x-request-id')).to.equal('trace:42.a_b-c');
      expect(answer.body.error.requestId).to.equal('trace:42.a_b-c');
    });

    for (const bad of ['', 'a b', 'x'.repeat(129), '<script>', 'ä'])
      it(`is generated when the caller's is invalid: ${JSON.stringify(bad.slice(0, 10))}`, async () => {
        const raw = await RawHttp.open(api.url);
        raw.write(`GET /health HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${bad}\r\n\r\n`);
        const answer = await raw.answer();
        raw.destroy();
        expect(answer.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
      });
  });

  describe('404', () => {
    for (const path of [
      '/',
      '/nowhere',
      '/v1',
      '/v1/nowhere',
      '/V1/TRACK',
      '/v1/track/more',
      '//',
      '/..%2f..%2fetc/passwd',
      '/favicon.ico',
    ])
      it(`on ${path}`, async () => {
        const answer = await api.get(path);
        expect(answer).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
        expect(answer.body.error.suggestion).to.contain('/openapi.json');
      });
  });

  describe('405', () => {
    it('lists the allowed methods in Allow and in the suggestion', async () => {
      const answer = await project.browser.get('/v1/track');
      expect(answer).to.be.envelope(405, 'BAD_REQUEST');
      expect(answer.headers.get('allow')).to.equal('POST');
      expect(answer.body.error.suggestion).to.contain('POST');
    });

    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      it(`on ${method} /health`, async () => {
        const answer = await api.request(method, '/health', '{}');
        expect(answer).to.be.envelope(405, 'BAD_REQUEST');
        expect(answer.headers.get('allow')).to.equal('GET, HEAD');
      });

    it('on a path that another route with a parameter matches', async () => {
      const paths: [string, string, string][] = [
        ['DELETE', '/contacts/fields', 'GET, HEAD'],
        ['PUT', '/contacts/fields', 'GET, HEAD'],
        ['GET', `/workflows/${project.id}/cases/run`, 'POST'],
      ];
      for (const [method, path, allow] of paths) {
        const answer = await project.server.request(method, path);
        expect(answer, path).to.be.envelope(405, 'BAD_REQUEST');
        expect(answer.headers.get('allow'), path).to.equal(allow);
      }
      expect(await project.server.delete('/contacts/nothing')).to.have.status(404);
      expect((await project.server.delete('/events/track')).status, 'an event of this name').to.not.equal(405);
    });

    it('on a method that no route has', async () => {
      expect(await api.request('PROPFIND', '/health')).to.be.envelope(405, 'BAD_REQUEST');
    });
  });

  it('answers HEAD like GET, without a body', async () => {
    const head = await api.request('HEAD', '/openapi.json');
    const get = await api.get('/openapi.json');
    expect(head).to.have.status(200);
    expect(head.body).to.equal('');
    expect(head.headers.get('content-length')).to.equal(get.headers.get('content-length'));
    expect(await api.request('HEAD', '/users/@me')).to.have.status(401);
  });

  it('answers OPTIONS that is not a preflight with the allowed methods', async () => {
    const answer = await api.request('OPTIONS', '/v1/track');
    expect(answer).to.have.status(204);
    expect(answer.headers.get('allow')).to.equal('POST');
  });

  describe('400', () => {
    it('for a range outside the years 1970 to 2200, on every route with one', async () => {
      const operations = documentOperations((await api.get('/openapi.json')).body);
      let borders = 0;
      for (const { method, path, access, parameters } of operations)
        for (const { name } of parameters.filter((one) => /^(startDate|endDate|since|until)$/.test(one.name)))
          for (const at of ['1969-12-31', '2201-01-01T00:00:00Z', '9999-12-31T23:59:59Z']) {
            borders++;
            const given = path.replaceAll(/\{\w+\}/g, project.id);
            const send = access === 'secretKey' ? project.server : project.owner;
            const answer = await send.request(method, `${given}?${name}=${at}`);
            expect(answer, `${path} ${name} ${at}`).to.be.envelope(400, 'BAD_REQUEST');
            expect(answer.body.error.message).to.equal(
              `The query is invalid: "${name}" must be between the years 1970 and 2200.`,
            );
          }
      expect(borders).to.be.greaterThan(50);
    });

    for (const path of [
      '/%',
      '/users/%zz',
      '/health?x=%',
      '/health?x=%ff%fe',
      '/v1/track%00',
      '/health?x=%00',
      '/%c0%ae',
    ])
      it(`on a path that does not decode or contains NUL, with the reason: ${path}`, async () => {
        const raw = await RawHttp.open(api.url);
        raw.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
        const { status, body } = await raw.answer();
        raw.destroy();
        expect(status).to.equal(400);
        const reason = path.includes('%00') ? 'contains a NUL character' : 'is not validly percent-encoded UTF-8';
        expect(JSON.parse(body).error).to.include({
          code: 'BAD_REQUEST',
          statusCode: 400,
          message: `The path or the query of this request ${reason}.`,
        });
      });

    it('on a request without a Host, in the envelope', async () => {
      const raw = await RawHttp.open(api.url);
      raw.write('GET /health HTTP/1.1\r\n\r\n');
      const { status, headers, body } = await raw.answer();
      raw.destroy();
      expect(status).to.equal(400);
      expect(JSON.parse(body).error).to.include({ code: 'BAD_REQUEST', requestId: headers.get('x-request-id') });
    });

    it('ignores an unknown Expect header', async () => {
      const raw = await RawHttp.open(api.url);
      raw.write('GET /health HTTP/1.1\r\nHost: x\r\nExpect: everything\r\n\r\n');
      const { status, headers } = await raw.answer();
      raw.destroy();
      expect(status).to.equal(200);
      expect(headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
    });

    it('on bytes that are not HTTP', async () => {
      const raw = await RawHttp.open(api.url);
      raw.write('HELO everpost\r\n\r\n');
      const { status, headers, body } = await raw.answer();
      await raw.closed();
      expect(status).to.equal(400);
      expect(JSON.parse(body).error).to.include({ code: 'BAD_REQUEST', requestId: headers.get('x-request-id') });
    });
  });

  describe('431', () => {
    const tooLarge = 'x'.repeat(20_000);
    for (const [what, request] of [
      ['headers', `GET /health HTTP/1.1\r\nHost: x\r\nX-Large: ${tooLarge}\r\n\r\n`],
      ['an address', `GET /health?x=${tooLarge} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ] as const)
      it(`on ${what} of 20,000 characters, in the envelope`, async () => {
        const raw = await RawHttp.open(api.url);
        raw.write(request);
        const { status, headers, body } = await raw.answer();
        await raw.closed();
        expect(status).to.equal(431);
        expect(headers.get('content-type')).to.match(/^application\/json/);
        expect(JSON.parse(body)).to.include({ success: false });
        expect(JSON.parse(body).error).to.include({ statusCode: 431, requestId: headers.get('x-request-id') });
      });

    it('accepts a thousand parameters within the limit', async () => {
      expect(await api.get(`/health?${'a=1&'.repeat(1000)}`)).to.have.status(200);
    });
  });

  describe('500', () => {
    let restore: () => Promise<void>;
    before(async () => {
      restore = await hideTable(api.db, 'events');
    });
    after(() => restore());

    it('answers INTERNAL_SERVER_ERROR without the text of the error and logs that with the request id', async () => {
      const answer = await project.browser.post(
        '/v1/track',
        { email: 'a@b.co', event: 'x' },
        { 'x-request-id': 'find-me' },
      );
      expect(answer).to.be.envelope(500, 'INTERNAL_SERVER_ERROR');
      expect(JSON.stringify(answer.body)).not.to.contain('events').and.not.to.contain('relation');
      const logged = api.logs.filter(({ requestId, level }) => requestId === 'find-me' && level === 50);
      expect(logged).to.have.length(1);
      expect(JSON.stringify(logged)).to.contain('events');
    });

    it('includes the rate limit headers', async () => {
      const answer = await project.browser.post('/v1/track', { email: 'a@b.co', event: 'x' });
      expect(answer).to.have.status(500);
      expect(answer.headers.get('ratelimit-limit')).to.equal('1000');
    });
  });

  it('logs no keys, addresses or bodies', async () => {
    await project.browser.post('/v1/track', { email: 'private@example.com', event: 'secret-event' });
    await project.browser.post('/v1/track', { email: 'private@', event: 'secret-event' });
    const all = JSON.stringify(api.logs);
    expect(all).to.contain('/v1/track');
    for (const secret of [project.publicKey, 'private@', 'secret-event']) expect(all).not.to.contain(secret);
  });
});

describe('an unavailable database', () => {
  it('causes 503 INTERNAL_SERVER_ERROR with Retry-After until it is available again', async () => {
    const postgres = await startOwnPostgres();
    const db = connectDb({ databaseUrl: postgres.url, poolSize: 2 });
    // Low enough that every request asks the database for a grant.
    const api = await startTestApi({
      env: { RATE_LIMIT_PER_MINUTE: '9' },
      database: { db, url: postgres.url, close: async () => {} },
    });
    try {
      const project = await api.project();
      const event = { email: 'a@b.co', event: 'x' };
      expect(await project.browser.post('/v1/track', event)).to.have.status(200);
      await postgres.stop();
      const answer = await project.browser.post('/v1/track', event);
      expect(answer).to.be.envelope(503, 'INTERNAL_SERVER_ERROR');
      expect(Number(answer.headers.get('retry-after'))).to.be.at.least(1);
      expect(await api.get('/health')).to.have.status(200);
      expect(await api.get('/ready')).to.have.status(503);
      await postgres.start();
      expect(await project.browser.post('/v1/track', event)).to.have.status(200);
      // Not while a check of the database takes longer than it may.
      await eventually(async () => (await api.get('/ready')).status === 200, { what: 'the API to be ready' });
    } finally {
      await api.stop();
      await db.destroy();
      await postgres.stop();
    }
  });
});
