import { expect } from 'chai';
import { type ApiProject, describeApi } from '../support/api.ts';

const anywhere = 'https://shop.example';
const dashboard = 'https://app.everpost.example';

describeApi('CORS', { env: { CORS_ORIGINS: `${dashboard}, http://localhost:5173` } }, (api) => {
  let project: ApiProject;

  before(async () => {
    project = await api.project();
  });

  const preflight = (path: string, origin: string, method = 'POST') =>
    api.request('OPTIONS', path, undefined, {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization, content-type, idempotency-key',
    });

  describe('under /v1', () => {
    for (const path of ['/v1/track', '/v1/send'])
      it(`answers a preflight on ${path} with * and without a key`, async () => {
        const { status, headers } = await preflight(path, anywhere);
        expect(status).to.equal(204);
        expect(headers.get('access-control-allow-origin')).to.equal('*');
        expect(headers.get('access-control-allow-credentials')).to.equal(null);
        expect(headers.get('access-control-allow-methods')).to.contain('POST');
        expect(headers.get('access-control-allow-headers')).to.equal('authorization, content-type, idempotency-key');
        expect(headers.get('x-request-id')).to.be.a('string');
      });

    it('lets any origin read the answer, its rate limit and its request id', async () => {
      const answer = await project.browser.post('/v1/track', { email: 'a@b.co', event: 'x' }, { origin: anywhere });
      expect(answer).to.have.status(200);
      expect(answer.headers.get('access-control-allow-origin')).to.equal('*');
      const exposed = answer.headers.get('access-control-expose-headers') ?? '';
      for (const name of ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After', 'X-Request-Id'])
        expect(exposed).to.contain(name);
    });

    it('lets any origin read an error', async () => {
      const unauthorized = await api.post('/v1/track', {}, { origin: anywhere });
      expect(unauthorized).to.be.envelope(401, 'INVALID_API_KEY');
      expect(unauthorized.headers.get('access-control-allow-origin')).to.equal('*');
      const invalid = await project.browser.post('/v1/track', {}, { origin: anywhere });
      expect(invalid).to.have.status(422);
      expect(invalid.headers.get('access-control-allow-origin')).to.equal('*');
    });
  });

  describe('elsewhere', () => {
    for (const origin of ['http://app.test', dashboard, 'http://localhost:5173'])
      it(`allows ${origin}, with credentials`, async () => {
        const { status, headers } = await preflight('/users/@me', origin, 'GET');
        expect(status).to.equal(204);
        expect(headers.get('access-control-allow-origin')).to.equal(origin);
        expect(headers.get('access-control-allow-credentials')).to.equal('true');
        const answer = await api.get('/users/@me', { origin, cookie: project.cookie });
        expect(answer).to.have.status(200);
        expect(answer.headers.get('access-control-allow-origin')).to.equal(origin);
        expect(answer.headers.get('access-control-allow-credentials')).to.equal('true');
        expect(answer.headers.get('vary')).to.contain('Origin');
      });

    for (const origin of [anywhere, 'null', 'https://app.everpost.example.evil.example', 'http://app.everpost.example'])
      it(`sends no CORS headers to ${origin}`, async () => {
        const { headers } = await preflight('/users/@me', origin, 'GET');
        expect(headers.get('access-control-allow-origin')).to.equal(null);
        expect(headers.get('access-control-allow-credentials')).to.equal(null);
        const answer = await api.get('/users/@me', { origin, cookie: project.cookie });
        expect(answer.headers.get('access-control-allow-origin')).to.equal(null);
        expect(answer.headers.get('vary')).to.contain('Origin');
      });
  });
});
