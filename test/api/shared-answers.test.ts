// Calls every operation of the OpenAPI document in each way that all of them refuse alike. `declared-answers.ts` compares
// the answers with the document.
import { expect } from 'chai';
import { freePort } from '../../dev/ports.ts';
import { seal } from '../../platform/crypto/seal.ts';
import { person } from '../support/accounts.ts';
import { type ApiAnswer, type ApiProject, startTestApi, type TestApi } from '../support/api.ts';
import { connectTestDatabase } from '../support/connected-database.ts';
import { credentialsFor, type DocumentOperation, documentOperations } from '../support/document-operations.ts';
import { testLinkSettings, testLinks } from '../support/links.ts';
import { startOAuthProvider } from '../support/oauth-provider.ts';
import { createOneOfEachResource, type ProjectResources, pathWith } from '../support/one-of-each.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { startSns, TOPIC } from '../support/sns.ts';
import { stripeSignature } from '../support/stripe.ts';

const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';

const limits = {
  BODY_MAX_BYTES: '20000',
  CONTENT_BODY_MAX_BYTES: '20000',
  MESSAGE_MAX_BYTES: '20000',
  IMPORT_MAX_BYTES: '20000',
};
const stripe = { STRIPE_SECRET_KEY: 'sk_test_x', STRIPE_API_BASE: 'http://127.0.0.1:1' };

async function readOperations(api: TestApi): Promise<DocumentOperation[]> {
  return documentOperations((await api.get('/openapi.json')).body);
}

describe('an answer that all operations share', () => {
  let api: TestApi;
  let project: ApiProject;
  let own: ProjectResources;
  let operatorCookie: string;
  let operations: DocumentOperation[];

  before(async () => {
    api = await startTestApi({ env: { RATE_LIMIT_PER_MINUTE: '100000', ...limits, ...stripe } });
    project = await api.project();
    own = await createOneOfEachResource(api, project);
    // Without a sender, /preferences is a page with 404.
    const pages = { from: `news@${project.senderDomain}` };
    expect(await project.owner.patch(`/projects/${project.id}/pages`, pages)).to.have.status(200);
    const operator = await person(api);
    await api.db('users').where({ id: operator.id }).update({ operator: true });
    operatorCookie = operator.cookie;
    operations = await readOperations(api);
  });
  after(() => api.stop());

  /** Public routes have tokens and other parameters in their paths that need not exist here, but for those of forms and projects. */
  const pathOf = ({ path, access }: DocumentOperation) =>
    access === 'public'
      ? path
          .replace('{provider}', 'github')
          .replace('{formId}', own.formId)
          .replace('{projectId}', project.id)
          .replaceAll(/\{\w+\}/g, 'A'.repeat(48))
      : pathWith(own, path);
  const headersFor = ({ access }: DocumentOperation) => credentialsFor(access, { project, operatorCookie });

  const declaring = (status: number, isChosen: (operation: DocumentOperation) => boolean = () => true) => {
    const chosen = operations.filter((operation) => operation.statuses.includes(status) && isChosen(operation));
    expect(chosen.length).to.be.greaterThan(0);
    return chosen;
  };

  const send = (operation: DocumentOperation, body: unknown, headers: Record<string, string> = {}) =>
    api.request(operation.method, pathOf(operation), body, { ...headersFor(operation), ...headers });

  it('is 400 to a body that is no JSON', async () => {
    for (const operation of declaring(400, ({ body }) => body?.type === JSON_TYPE))
      expect(await send(operation, '{'), operation.name).to.be.envelope(400, 'BAD_REQUEST');
  });

  it('is 400 to a file in a body of another type', async () => {
    for (const operation of declaring(400, ({ body }) => body?.type === MULTIPART))
      expect(await send(operation, 'x'), operation.name).to.be.envelope(400, 'BAD_REQUEST');
  });

  it('is 404 to a parameter of the path that nothing can have', async () => {
    const wrong = 'x'.repeat(2_000);
    for (const operation of declaring(404, ({ path }) => path.includes('{'))) {
      const { method, path, body: declared } = operation;
      const headers = { ...headersFor(operation), 'content-type': declared?.type ?? JSON_TYPE };
      const body = method === 'GET' || method === 'DELETE' ? undefined : '';
      const answer = await api.request(method, path.replaceAll(/\{\w+\}/g, wrong), body, headers);
      expect(answer, operation.name).to.have.status(404);
    }
  });

  it('is 400 to a session that names no project', async () => {
    const ofSession = operations.filter(
      ({ access, path }) => access === 'projectSession' || (access === 'secretKey' && !path.startsWith('/v1/')),
    );
    for (const { name, method, path } of ofSession)
      expect(
        await api.request(method, pathWith(own, path), undefined, { cookie: project.cookie }),
        name,
      ).to.be.envelope(400, 'BAD_REQUEST');
  });

  it('is 400 to a parameter that is given twice', async () => {
    for (const operation of operations.filter(({ body }) => !body)) {
      const inQuery = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
      // That of a session, which a key does not need.
      const names = inQuery.filter((name) => name !== 'projectId');
      if (names.length === 0 || !operation.statuses.includes(400)) continue;
      const query = names.map((name) => `${encodeURIComponent(name)}=1&${encodeURIComponent(name)}=2`).join('&');
      const { method } = operation;
      const { status, body } = await api.request(
        method,
        `${pathOf(operation)}?${query}`,
        undefined,
        headersFor(operation),
      );
      expect(status, `${operation.name} ${JSON.stringify(body)}`).to.be.oneOf([400, 404]);
    }
  });

  it('is 413 to a body that is too large', async () => {
    for (const operation of declaring(413, ({ body }) => body !== undefined && body.type !== MULTIPART)) {
      const isRaw = operation.body?.type === '*/*';
      const type = isRaw ? 'text/plain' : (operation.body?.type ?? JSON_TYPE);
      const size = type === FORM || isRaw ? 1_100_000 : 70_000;
      const body = type === FORM ? `x=${'x'.repeat(size)}` : JSON.stringify('x'.repeat(size));
      expect(await send(operation, body, { 'content-type': type }), operation.name).to.be.envelope(
        413,
        'PAYLOAD_TOO_LARGE',
      );
    }
    for (const operation of declaring(413, ({ body }) => body?.type === MULTIPART)) {
      const form = new FormData();
      form.set(
        operation.path === '/uploads/image' ? 'image' : 'file',
        new Blob(['x'.repeat(11 * 1024 * 1024)]),
        'x.csv',
      );
      expect(await send(operation, form), operation.name).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
    }
  });

  it('is 415 to a body of another type, and to one that is compressed', async () => {
    for (const operation of declaring(415)) {
      const headers: Record<string, string> =
        operation.body?.type === MULTIPART
          ? { 'content-type': `${MULTIPART}; boundary=x`, 'content-encoding': 'gzip' }
          : { 'content-type': 'text/plain' };
      expect(await send(operation, 'x', headers), operation.name).to.be.envelope(415, 'BAD_REQUEST');
    }
  });

  it('is 422 to a body that breaks rules', async () => {
    for (const operation of declaring(422, ({ body }) => body?.type === JSON_TYPE))
      expect(await send(operation, '[]'), operation.name).to.be.envelope(422, 'VALIDATION_ERROR');
    for (const operation of declaring(422, ({ body }) => body?.type === FORM)) {
      const fields = Object.keys(operation.body?.schema.properties ?? {}).map((name) => `${name}=${'x'.repeat(2_000)}`);
      expect(await send(operation, fields.join('&'), { 'content-type': FORM }), operation.name).to.have.status(422);
    }
    for (const operation of declaring(422, ({ body }) => body?.type === MULTIPART)) {
      const form = new FormData();
      form.set('file', new Blob(['email\na@example.com']), 'x.csv');
      for (const name of Object.keys(operation.body?.schema.properties ?? {}))
        if (name !== 'file') form.set(name, '\0');
      expect(await send(operation, form), operation.name).to.be.envelope(422, 'VALIDATION_ERROR');
    }
  });

  it('is 403 to a browser with a session on another site, on public routes that change something', async () => {
    const headers = { cookie: project.cookie, origin: 'https://evil.example' };
    for (const operation of declaring(403, ({ access, method }) => access === 'public' && method !== 'GET'))
      expect(await send(operation, undefined, headers), operation.name).to.be.envelope(403, 'FORBIDDEN');
  });

  it('is 403 to a user whose address is not verified, where that is required', async () => {
    const strict = await startTestApi({
      env: { EMAIL_VERIFICATION_REQUIRED: 'true', RATE_LIMIT_PER_MINUTE: '100000' },
      database: { db: api.db, url: api.databaseUrl, close: async () => {} },
    });
    const guest = await person(strict, { project: project.id, role: 'OWNER' }, { emailVerified: false });
    const headers = { cookie: guest.cookie, 'x-project-id': project.id };
    const asked = declaring(403, ({ access }) => ['session', 'projectSession', 'member'].includes(access));
    const answers: Record<string, number> = {};
    for (const { name, method, path } of asked) {
      if (name === 'POST /auth/logout') continue;
      answers[name] = (await strict.request(method, pathWith(own, path), undefined, headers)).status;
    }
    await strict.stop();
    const refused = Object.values(answers).filter((status) => status === 403);
    expect(refused.length, JSON.stringify(answers)).to.be.greaterThan(3);
  });

  it('is 429 beyond the limit of the project or the user', async () => {
    const strict = await startTestApi({
      env: { RATE_LIMIT_PER_MINUTE: '1' },
      database: { db: api.db, url: api.databaseUrl, close: async () => {} },
    });
    try {
      const limited = declaring(429, ({ access }) => access !== 'public');
      const ask = (operation: DocumentOperation) =>
        strict.request(operation.method, pathOf(operation), undefined, headersFor(operation));
      for (const access of [
        'publicKey',
        'anyKey',
        'secretKey',
        'projectSession',
        'member',
        'session',
        'operator',
      ] as const) {
        const first = limited.find((operation) => operation.access === access && !streams(operation));
        if (first) await ask(first);
      }
      // No new minute begins meanwhile, in which the first call would be accepted.
      const openedAt = new Date(Date.now() + 3_600_000);
      for (const table of ['rateWindows', 'sessionRateWindows']) await api.db(table).update({ openedAt });
      for (const operation of limited)
        expect(await ask(operation), operation.name).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
    } finally {
      await strict.stop();
    }
  });

  const streams = ({ responses }: DocumentOperation): boolean =>
    JSON.stringify(responses[200] ?? {}).includes('text/event-stream');
});

describe('an operation while the database fails', () => {
  const SECRET = 'our-secret';
  const WEBHOOK_SECRET = 'whsec_x';
  /** Fewer than the connections of the API. */
  const AT_ONCE = 4;

  interface Asked {
    path: string;
    body?: unknown;
    headers?: Record<string, string>;
  }

  it('answers 500 when a table is missing and 503 when it cannot be reached, unless it works without', async () => {
    const database = await connectTestDatabase();
    const proxy = await startPostgresProxy(database.url);
    const provider = await startOAuthProvider(SECRET);
    const sns = await startSns();
    const port = await freePort();
    const api = await startTestApi({
      env: {
        // Sign-in links work under the host of BASE_URL only.
        PORT: String(port),
        BASE_URL: `http://127.0.0.1:${port}`,
        RATE_LIMIT_PER_MINUTE: '0',
        OAUTH_GITHUB_ID: 'our-id',
        OAUTH_GITHUB_SECRET: SECRET,
        ...stripe,
        STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
        SNS_TOPIC_ARNS: TOPIC,
        SNS_CERT_HOSTS: sns.host,
      },
      database: { ...database, url: proxy.url },
      oauthAt: provider.at,
    });
    try {
      const project = await api.project();
      const own = await createOneOfEachResource(api, project);
      const operations = await readOperations(api);
      const failing = operations.filter(({ statuses }) => statuses.includes(500));
      const asPublic = await publicRequests(project, own);
      const mail = { to: 'a@example.com', from: `x@${project.senderDomain}`, subject: 's', body: 'b' };
      const checkingKeyLater: Record<string, object> = {
        'POST /v1/send': mail,
        'POST /v1/track': { email: 'a@example.com', event: 'bought' },
      };
      const ask = async (operation: DocumentOperation): Promise<ApiAnswer> => {
        const { name, method, access, path, body: declared } = operation;
        if (access !== 'public') {
          // The other routes ask the database who calls, before they read the body.
          const body = checkingKeyLater[name];
          const headers = credentialsFor(access, { project, operatorCookie: project.cookie });
          return api.request(method, pathWith(own, path), body, headers);
        }
        const { path: filled = path, body = declared?.example, headers = {} } = (await asPublic[name]?.()) ?? {};
        return api.request(method, filled, method === 'GET' ? undefined : body, headers);
      };
      await database.db.raw('alter schema public rename to gone');
      const wrong: string[] = [];
      const check = async (expected: (status: number) => boolean, chosen: DocumentOperation[]) => {
        for (let n = 0; n < chosen.length; n += AT_ONCE)
          await Promise.all(
            chosen.slice(n, n + AT_ONCE).map(async (operation) => {
              const { status, body } = await ask(operation);
              if (!expected(status)) wrong.push(`${operation.name}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
            }),
          );
      };
      await check((status) => status === 500, failing);
      await database.db.raw('alter schema gone rename to public');
      expect(wrong.join('\n')).to.equal('');

      await proxy.close();
      const declares503 = ({ statuses }: DocumentOperation) => statuses.includes(503);
      await check((status) => status === 503, operations.filter(declares503));
      await check(
        (status) => status < 500,
        operations.filter((operation) => !declares503(operation)),
      );
      expect(wrong.join('\n')).to.equal('');
    } finally {
      await api.stop();
      await database.close();
      await provider.close();
      await sns.stop();
    }

    /** Requests that reach the database although nobody is authenticated. */
    async function publicRequests(
      project: ApiProject,
      own: ProjectResources,
    ): Promise<Record<string, () => Asked | Promise<Asked>>> {
      const page = testLinks.contactLinks({ contactId: own.contacts, emailId: own.emails });
      const token = new URL(page.manageUrl).pathname.split('/').at(-1) ?? '';
      const withCookie = { cookie: project.cookie };
      const form = { 'content-type': FORM };
      const any = 'A'.repeat(48);
      const hosted = Object.fromEntries(
        ['/unsubscribe', '/subscribe', '/manage'].flatMap((path) =>
          ['GET', 'POST'].map((method) => [
            `${method} ${path}/{token}`,
            () => ({ path: `${path}/${token}`, body: '', headers: form }),
          ]),
        ),
      );
      const { confirmUrl } = testLinks.confirmationLinks({ submissionId: own.submissionId, emailId: own.emails });
      const confirmation = new URL(confirmUrl).pathname.split('/').at(-1) ?? '';
      const confirmations = Object.fromEntries(
        ['/confirm', '/decline'].flatMap((path) =>
          ['GET', 'POST'].map((method) => [
            `${method} ${path}/{token}`,
            () => ({ path: `${path}/${confirmation}`, body: '', headers: form }),
          ]),
        ),
      );
      const ofForms: Record<string, () => Asked> = {
        'GET /f/{formId}.js': () => ({ path: `/f/${own.forms}.js` }),
        'GET /f/{formId}/challenge': () => ({ path: `/f/${own.forms}/challenge` }),
        'GET /f/{formId}': () => ({ path: `/f/${own.forms}` }),
        'POST /f/{formId}': () => ({ path: `/f/${own.forms}`, body: { email: 'a@example.com' } }),
        'GET /preferences/{projectId}': () => ({ path: `/preferences/${project.id}` }),
        'POST /preferences/{projectId}': () => ({
          path: `/preferences/${project.id}`,
          body: 'email=a@example.com',
          headers: form,
        }),
      };
      const accountPages = Object.fromEntries(
        ['verify-email', 'reset-password', 'invitations'].flatMap((name) => [
          [`GET /${name}/{token}`, () => ({ path: `/${name}/${any}` })],
          [`POST /${name}/{token}`, () => ({ path: `/${name}/${any}`, body: 'password=correct+horse', headers: form })],
        ]),
      );
      const period = { current_period_start: 1_700_000_000, current_period_end: 1_702_600_000 };
      const subscription = { id: 'sub_1', customer: 'cus_1', status: 'canceled', items: { data: [period] } };
      const event = JSON.stringify({
        id: 'evt_1',
        object: 'event',
        type: 'customer.subscription.deleted',
        created: Math.floor(Date.now() / 1000),
        data: { object: subscription },
      });
      return {
        ...hosted,
        ...confirmations,
        ...ofForms,
        ...accountPages,
        'GET /auth/login-link/{token}': () => ({ path: `/auth/login-link/${any}` }),
        'POST /auth/login-link': () => ({ path: '/auth/login-link', body: {} }),
        'GET /uploads/{key}': () => ({ path: `/uploads/${'A'.repeat(32)}.png` }),
        'GET /auth/logout': () => ({ path: '/auth/logout', headers: withCookie }),
        'POST /auth/logout': () => ({ path: '/auth/logout', headers: withCookie }),
        'GET /auth/oauth/{provider}/callback': signInAtProvider,
        'POST /auth/oauth/{provider}/code': () => {
          const pending = { provider: 'github', userId: project.userId, until: Date.now() + 60_000 };
          const sealed = seal(testLinkSettings.secretKeys, ['everpost_oauth', 'pending'], JSON.stringify(pending));
          const headers = { ...form, cookie: `everpost_oauth=${encodeURIComponent(sealed)}` };
          return { path: '/auth/oauth/github/code', body: 'code=123456', headers };
        },
        'POST /webhooks/incoming/stripe': () => ({
          path: '/webhooks/incoming/stripe',
          body: event,
          headers: { 'stripe-signature': stripeSignature(event, WEBHOOK_SECRET) },
        }),
        'POST /webhooks/sns': () => ({
          path: '/webhooks/sns',
          body: JSON.stringify(
            sns.sign(sns.notification({ notificationType: 'Bounce', mail: { messageId: 'x', headers: [] } })),
          ),
        }),
      };
    }

    async function signInAtProvider(): Promise<Asked> {
      const begun = await fetch(`${api.url}/auth/oauth/github`, { redirect: 'manual' });
      const back = await provider.consent(begun.headers.get('location') ?? '');
      const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
      return { path: back.pathname + back.search, headers: { cookie } };
    }
  });
});
