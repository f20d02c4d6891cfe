import { expect } from 'chai';
import { startTestApi, type TestApi } from '../support/api.ts';
import { RawHttp } from '../support/raw-http.ts';
import { whileHidden } from '../support/rows/tables.ts';

const API_POLICY = "default-src 'none'; frame-ancestors 'none'";
const HSTS = 'max-age=31536000';

describe('security headers', () => {
  for (const [baseUrl, hsts] of [
    ['https://app.test', HSTS],
    ['http://app.test', null],
  ] as const)
    describe(`with the base URL ${baseUrl}`, () => {
      let api: TestApi;
      before(async () => {
        api = await startTestApi({ env: { BASE_URL: baseUrl } });
      });
      after(() => api.stop());

      const expectHeaders = (headers: Headers, policy: string) => {
        expect(headers.get('x-content-type-options')).to.equal('nosniff');
        expect(headers.get('content-security-policy')).to.equal(policy);
        expect(headers.get('strict-transport-security')).to.equal(hsts);
      };

      it('are on all answers of the API, including errors and unknown routes', async () => {
        const project = await api.project();
        const answers = [
          [200, await api.get('/health')],
          [200, await project.browser.post('/v1/track', { email: 'a@b.co', event: 'x' })],
          [422, await project.browser.post('/v1/track', {})],
          [401, await api.get('/contacts')],
          [404, await api.get('/nowhere')],
          [405, await api.post('/health')],
          [400, await api.get('/%ff')],
          [204, await api.request('OPTIONS', '/v1/track', undefined, preflight)],
          [404, await api.get('/t/o/none')],
        ] as const;
        for (const [status, answer] of answers) {
          expect(answer).to.have.status(status);
          expectHeaders(answer.headers, API_POLICY);
        }
      });

      const preflight = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };

      it('are on a 500', async () => {
        const project = await api.project();
        const answer = await whileHidden(api.db, 'contacts', () => project.server.get('/contacts'));
        expect(answer).to.have.status(500);
        expectHeaders(answer.headers, API_POLICY);
      });

      it("are on answers to requests that Node's parser rejects", async () => {
        const raw = await RawHttp.open(api.url);
        raw.write('NONSENSE\r\n\r\n');
        const answer = await raw.answer();
        expect(answer.status).to.equal(400);
        expectHeaders(new Headers([...answer.headers]), API_POLICY);
        raw.destroy();
      });

      it('allow pages their own style and their form, and nothing else', async () => {
        for (const path of ['/unsubscribe/none', '/verify-email/none', '/t/c/none']) {
          const { headers, body } = await api.get(path);
          expect(headers.get('content-type')).to.match(/^text\/html/);
          const [, nonce = ''] = /<style nonce="([^"]{20,})">/.exec(body) ?? [];
          expectHeaders(
            headers,
            `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
          );
          expect((await api.get(path)).body).not.to.contain(nonce);
        }
      });
    });
});
