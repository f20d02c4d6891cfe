import { expect } from 'chai';
import type { Role } from '../../db/models/membership.ts';
import { hasRole } from '../../services/access/membership.ts';
import { type GrantedScope, grantedScopes } from '../../services/access/scopes.ts';
import { disableProject } from '../../services/projects/disable.ts';
import { type Person, person } from '../support/accounts.ts';
import { type ApiAnswer, type ApiProject, client, startTestApi, type TestApi } from '../support/api.ts';
import { fingerprint } from '../support/fingerprint.ts';
import { createOneOfEachResource, type ProjectResources, pathWith } from '../support/one-of-each.ts';
import { addMembership, expireScopedKey, promoteToOperator } from '../support/rows/accounts.ts';
import { setProject } from '../support/rows/projects.ts';
import { eventually } from '../support/waiting.ts';

const accesses = [
  'publicKey',
  'anyKey',
  'secretKey',
  'session',
  'projectSession',
  'member',
  'memberOrKey',
  'operator',
  'public',
];
type Access = (typeof accesses)[number];
/** They take a secret key. */
const WITH_SCOPES: Access[] = ['secretKey', 'memberOrKey', 'anyKey'];

interface Operation {
  /** The path as declared. */
  name: string;
  method: string;
  path: string;
  access: Access;
  /** The minimum role of a member, on routes that members call. */
  role: Role | undefined;
  /** One of these is needed by a scoped key. */
  scopes: string[];
  /** Needed besides. */
  alsoScope: string | undefined;
  /** Its path has an id, which may belong to another project. */
  hasId: boolean;
  /** Its answer has no end. */
  streams: boolean;
}

/** The routes without authentication. A new one must be added here on purpose. */
const open = [
  'GET /',
  'POST /auth/login-link',
  'GET /auth/login-link/{token}',
  'GET /health',
  'GET /ready',
  'GET /metrics',
  'GET /openapi.json',
  'GET /docs',
  'GET /config',
  'GET /uploads/{key}',
  'GET /unsubscribe/{token}',
  'POST /unsubscribe/{token}',
  'GET /subscribe/{token}',
  'POST /subscribe/{token}',
  'GET /manage/{token}',
  'POST /manage/{token}',
  'GET /preferences/{projectId}',
  'POST /preferences/{projectId}',
  'GET /f/{formId}.js',
  'GET /f/{formId}/challenge',
  'GET /f/{formId}',
  'POST /f/{formId}',
  'GET /confirm/{token}',
  'POST /confirm/{token}',
  'GET /decline/{token}',
  'POST /decline/{token}',
  'GET /t/o/{token}',
  'GET /t/c/{token}',
  'GET /verify-email/{token}',
  'POST /verify-email/{token}',
  'GET /reset-password/{token}',
  'POST /reset-password/{token}',
  'GET /invitations/{token}',
  'POST /invitations/{token}',
  'POST /auth/signup',
  'POST /auth/login',
  'GET /auth/logout',
  'POST /auth/logout',
  'GET /auth/oauth-config',
  'GET /auth/oauth/{provider}',
  'GET /auth/oauth/{provider}/callback',
  'POST /auth/oauth/{provider}/code',
  'POST /auth/verify-email',
  'POST /auth/request-verification',
  'POST /auth/request-password-reset',
  'POST /auth/reset-password',
  'POST /auth/accept-invitation',
  'POST /webhooks/sns',
  'POST /webhooks/incoming/stripe',
];

/** Bodies of routes with an id in the path, valid enough to reach the lookup of the id. */
const bodies: Record<string, (own: { project: ApiProject; things: ProjectResources }) => object> = {
  'PATCH /contacts/{id}': () => ({ data: { x: 1 }, subscribed: false }),
  'PATCH /templates/{id}': () => ({ name: 'x' }),
  'PUT /templates/{id}/draft': () => ({ expectedRevision: 0 }),
  'POST /templates/{id}/draft/publish': () => ({ expectedRevision: 0 }),
  'PATCH /saved-blocks/{id}': () => ({ name: 'x' }),
  'PATCH /topics/{id}': () => ({ name: 'x' }),
  'PATCH /contacts/{id}/topics': () => ({ snoozedUntil: null }),
  'POST /templates/{id}/test': () => ({ email: 'a@b.co' }),
  'PUT /campaigns/{id}': ({ project }) => ({
    name: 'x',
    subject: 's',
    body: 'b',
    audienceType: 'ALL',
    from: `x@${project.senderDomain}`,
  }),
  'PATCH /campaigns/{id}': () => ({ ratePerMinute: 5 }),
  'POST /campaigns/{id}/recipients/segment': () => ({ name: 'x' }),
  'POST /campaigns/{id}/recipients/resend': () => ({ status: 'FAILED' }),
  'PATCH /views/{id}': () => ({ name: 'x' }),
  'POST /campaigns/{id}/test': () => ({ email: 'a@b.co' }),
  'POST /campaigns/{id}/follow-up': () => ({ to: 'NOT_RECEIVED' }),
  'POST /campaigns/{id}/resolve': () => ({ action: 'close' }),
  'PATCH /segments/{id}': () => ({ name: 'x' }),
  'POST /segments/{id}/members': () => ({ emails: ['a@b.co'], createMissing: true }),
  'DELETE /segments/{id}/members': () => ({ emails: ['a@b.co'] }),
  'PATCH /workflows/{id}': () => ({ name: 'x' }),
  'POST /workflows/{id}/steps': () => ({ type: 'EXIT', name: 'x', config: {} }),
  'PATCH /workflows/{id}/steps/{stepId}': () => ({ name: 'x' }),
  'POST /workflows/{id}/transitions': ({ things }) => ({ fromStepId: things.stepId, toStepId: things.stepId }),
  'POST /workflows/{id}/executions': ({ things }) => ({ contactId: things.contactId }),
  'POST /workflows/{id}/executions/retry-failed': () => ({}),
  'POST /workflows/{id}/simulate': ({ things }) => ({ contactId: things.contactId }),
  'PUT /workflows/{id}/draft': () => ({ graph: { steps: [], transitions: [] }, expectedRevision: 0 }),
  'POST /workflows/{id}/publish': () => ({ expectedRevision: 0 }),
  'POST /workflows/{id}/cases': () => ({ name: 'x', contact: { email: 'a@b.co' }, expect: [] }),
  'PUT /workflows/{id}/cases/{caseId}': () => ({ name: 'x', contact: { email: 'a@b.co' }, expect: [] }),
  'PATCH /users/@me/projects/{id}': () => ({ name: 'x' }),
  'PUT /users/@me/projects/{id}/billing-limits': () => ({ transactional: 1 }),
  'POST /operator/projects/{id}/disable': () => ({ reason: 'x' }),
  'POST /projects/{id}/members': () => ({ email: 'a@b.co', role: 'MEMBER' }),
  'PATCH /projects/{id}/members/{userId}': () => ({ role: 'ADMIN' }),
  'PATCH /webhook-endpoints/{id}': () => ({ enabled: false }),
  'POST /webhook-endpoints/{id}/recover': () => ({ since: '2026-01-01T00:00:00Z' }),
};

/** A job is found on the route of its type, and ours is a bulk job. */
const NOT_THERE = ['/contacts/import/{jobId}', '/contacts/import/{jobId}/errors'];
describe('access to all routes', () => {
  let api: TestApi;
  let project: ApiProject;
  let other: ApiProject;
  let own: ProjectResources;
  let foreign: ProjectResources;
  let operations: Operation[];

  before(async () => {
    const env = {
      RATE_LIMIT_PER_MINUTE: '100000',
      SCOPED_KEYS_PER_PROJECT: '50',
      STRIPE_SECRET_KEY: 'sk_test_x',
      STRIPE_API_BASE: 'http://127.0.0.1:1',
    };
    api = await startTestApi({ env });
    project = await api.project();
    other = await api.project();
    own = await createOneOfEachResource(api, project);
    foreign = await createOneOfEachResource(api, other);
    const { paths } = (await api.get('/openapi.json')).body;
    operations = Object.entries<Record<string, Record<string, unknown>>>(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, declared]) => operationOf(method.toUpperCase(), path, declared)),
    );
  });
  after(() => api.stop());

  function operationOf(method: string, path: string, declared: Record<string, unknown>): Operation {
    const name = `${method} ${path}`;
    const access = declared['x-access'] as Access;
    if (!accesses.includes(access)) throw new Error(`${name} does not say who may call it`);
    const role = declared['x-role'] as Operation['role'];
    const scopes = [declared['x-scope'] ?? []].flat() as string[];
    const alsoScope = (declared['x-also-scope'] as { scope: string } | undefined)?.scope;
    const streams = JSON.stringify(declared.responses).includes('text/event-stream');
    return { name, method, path, access, role, scopes, alsoScope, hasId: /\{(id|\w+Id|email)\}/.test(path), streams };
  }

  const guarded = () => operations.filter(({ access }) => access !== 'public' && access !== 'operator');
  /** Routes that members call with a session. */
  const forMembers = () => guarded().filter(({ role }) => role !== undefined);
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const ofSession = (access: Access) => ['session', 'projectSession', 'member'].includes(access);

  function call({ name, method, path }: Operation, things: ProjectResources, headers: Record<string, string> = {}) {
    const body = bodies[name]?.({ project, things }) ?? {};
    return api.request(method, pathWith(things, path), method === 'GET' ? undefined : body, headers);
  }

  /** Calls each operation and checks that no row has changed. */
  async function walk(
    chosen: Operation[],
    visit: (operation: Operation) => Promise<ApiAnswer>,
    expected: (answer: ApiAnswer, operation: Operation) => void,
  ): Promise<void> {
    const before = await fingerprint(api.db);
    expect(chosen.length).to.be.greaterThan(0);
    for (const operation of chosen) expected(await visit(operation), operation);
    expect(await fingerprint(api.db), 'nothing has changed').to.deep.equal(before);
  }

  const is401 = (answer: ApiAnswer, { name, access }: Operation) =>
    expect(answer, name).to.be.envelope(401, ofSession(access) ? 'UNAUTHORIZED' : 'INVALID_API_KEY');

  it('finds every route with its declared access', () => {
    expect(operations.length).to.be.at.least(120);
    for (const access of accesses)
      expect(
        operations.some((operation) => operation.access === access),
        access,
      ).to.equal(true);
  });

  it('requires authentication on all routes except the listed ones', () => {
    const found = operations.filter(({ access }) => access === 'public').map(({ name }) => name);
    expect(found).to.have.members(open);
  });

  it('rejects calls without credentials', () => walk(guarded(), (operation) => call(operation, own), is401));

  it('rejects the wrong type of key, and a key where a session is required', async () => {
    const wrong = (access: Access) =>
      access === 'publicKey' || ofSession(access) ? project.secretKey : project.publicKey;
    const chosen = guarded().filter(({ access }) => access !== 'anyKey');
    await walk(chosen, (operation) => call(operation, own, bearer(wrong(operation.access))), is401);
  });

  it('rejects unknown keys and sessions', async () => {
    await walk(
      guarded(),
      (operation) => {
        const prefix = operation.access === 'publicKey' ? 'pk' : 'sk';
        const key = bearer(`${prefix}_${'A'.repeat(48)}`);
        return call(
          operation,
          own,
          ofSession(operation.access) ? { cookie: `everpost_session=${'A'.repeat(48)}` } : key,
        );
      },
      is401,
    );
  });

  it('rejects a session for a project that its user is not a member of', async () => {
    const chosen = guarded().filter(
      ({ access, path }) => !['publicKey', 'session'].includes(access) && !path.startsWith('/v1/'),
    );
    const headers = { cookie: project.cookie, 'x-project-id': other.id };
    await walk(
      chosen,
      (operation) => call(operation, foreign, headers),
      (answer, { name, access }) =>
        access === 'secretKey' || access === 'projectSession'
          ? expect(answer, name).to.be.envelope(403, 'FORBIDDEN')
          : expect(answer, name).to.be.envelope(404, 'RESOURCE_NOT_FOUND'),
    );
  });

  it('answers 404 to ids of another project, by key and by session, and changes nothing', async () => {
    const named = guarded().filter(({ path }) => path.includes('{'));
    const credentials: Record<string, Record<string, string>> = {
      key: bearer(project.secretKey),
      session: { cookie: project.cookie, 'x-project-id': project.id },
    };
    for (const [kind, headers] of Object.entries(credentials))
      await walk(
        kind === 'key' ? named.filter(({ access }) => !ofSession(access)) : named,
        (operation) => call(operation, foreign, headers),
        ({ status, body }, { name, hasId }) => {
          const said = `${name} by ${kind}: ${JSON.stringify(body)}`;
          if (hasId) expect(status, said).to.equal(404);
          else expect(status, said).to.be.below(500);
        },
      );
  });

  describe('a key with scopes', () => {
    const needingScope = () => operations.filter(({ access }) => WITH_SCOPES.includes(access));
    const includes = (granted: GrantedScope, { scopes }: Operation) =>
      granted === 'all' || scopes.some((scope) => scope === granted || scope.replace(/read$/, 'write') === granted);
    const keyOf = async ({ id, owner }: ApiProject, scopes: GrantedScope[]): Promise<string> =>
      (await owner.post(`/projects/${id}/keys`, { name: 'scoped', scopes })).body.key;

    it('needs a scope on every route that takes a secret key, and the public key has track', () => {
      for (const operation of needingScope())
        expect(
          operation.scopes.every((scope) => (grantedScopes as readonly string[]).includes(scope)),
          operation.name,
        ).to.equal(true);
      for (const { name, access, scopes } of operations)
        if (access === 'publicKey') expect(scopes, name).to.deep.equal(['track']);
        else expect(scopes.length > 0, name).to.equal(WITH_SCOPES.includes(access));
      const used = needingScope().flatMap(({ scopes }) => scopes);
      for (const scope of grantedScopes) if (scope.endsWith(':read')) expect(used).to.include(scope);
    });

    it('is rejected on every route with all scopes but those of the route, and changes nothing', async () => {
      const othersOf = (operation: Operation) => grantedScopes.filter((granted) => !includes(granted, operation));
      const keys = new Map<string, string>();
      for (const others of needingScope().map(othersOf))
        if (!keys.has(others.join())) keys.set(others.join(), await keyOf(project, others));
      await walk(
        needingScope(),
        (operation) => call(operation, own, bearer(keys.get(othersOf(operation).join()) ?? '')),
        (answer, { name, scopes }) => {
          expect(answer, name).to.be.envelope(403, 'FORBIDDEN');
          expect(answer.body.error.message, name).to.include(scopes.join(' or '));
        },
      );
    });

    for (const granted of grantedScopes)
      it(`with ${granted} is accepted on all routes of that scope`, async () => {
        const scratch = await api.project();
        const things = await createOneOfEachResource(api, scratch);
        const key = await keyOf(scratch, [granted]);
        for (const operation of needingScope().filter((one) => includes(granted, one) && !one.streams)) {
          const { status, body } = await call(operation, things, bearer(key));
          const said = `${operation.name}: ${JSON.stringify(body)}`;
          expect(status, said).not.to.be.oneOf([401, 500]);
          // Where several scopes suffice to call a route, the resource decides which one is needed.
          const deciding = [...(operation.scopes.length > 1 ? operation.scopes : []), operation.alsoScope];
          if (status === 403 && body.error.code === 'FORBIDDEN')
            expect(body.error.details?.missingScope ?? 'none', said)
              .to.be.oneOf(deciding)
              .and.not.to.equal(granted);
        }
      });

    it('is rejected on all routes once it is revoked or expired, and from another address', async () => {
      const address = `/projects/${project.id}/keys`;
      const scopes = ['all'];
      const revoked = (await project.owner.post(address, { name: 'revoked', scopes })).body;
      const expired = (await project.owner.post(address, { name: 'expired', scopes })).body;
      const elsewhere = (await project.owner.post(address, { name: 'x', scopes, allowedIps: ['192.0.2.1'] })).body;
      expect((await project.owner.delete(`${address}/${revoked.id}`)).status).to.equal(204);
      await expireScopedKey(api.db, expired.id);
      for (const { key } of [revoked, expired, elsewhere])
        await walk(needingScope(), (operation) => call(operation, own, bearer(key)), is401);
    });
  });

  it('rejects ids of another project in a body', async () => {
    const from = `x@${project.senderDomain}`;
    const campaign = { name: 'x', subject: 's', body: 'b', from };
    const tree = {
      logic: 'AND',
      groups: [{ filters: [{ field: `segment.${foreign.segments}`, operator: 'memberOfSegment' }] }],
    };
    const asks: [string, string, object][] = [
      ['POST', '/v1/send', { to: 'a@b.co', from, template: foreign.templates }],
      ['POST', '/v1/send', { to: 'a@b.co', from: `x@${other.senderDomain}`, subject: 's', body: 'b' }],
      ['POST', '/campaigns', { ...campaign, audienceType: 'SEGMENT', segmentId: foreign.segments }],
      ['POST', '/campaigns', { ...campaign, audienceType: 'FILTERED', audienceCondition: tree }],
      ['POST', '/campaigns', { ...campaign, audienceType: 'ALL', from: `x@${other.senderDomain}` }],
      ['POST', '/segments', { name: 'x', condition: tree }],
      ['POST', '/events/track', { name: 'x', contactId: foreign.contactId }],
      ['POST', `/workflows/${own.workflows}/executions`, { contactId: foreign.contactId }],
      ['POST', `/workflows/${own.workflows}/transitions`, { fromStepId: own.stepId, toStepId: foreign.stepId }],
      ['POST', '/domains', { domain: other.senderDomain }],
    ];
    const before = await fingerprint(api.db);
    for (const [method, path, body] of asks) {
      const answer = await api.request(method, path, body, bearer(project.secretKey));
      expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).to.be.oneOf([400, 403, 404, 409, 422]);
    }
    expect(await fingerprint(api.db)).to.deep.equal(before);
  });

  describe('a member without permission', () => {
    for (const role of ['VIEWER', 'MEMBER', 'ADMIN'] as const)
      it(`is rejected as ${role}, and changes nothing`, async () => {
        const member = await person(api, { project: project.id, role });
        const chosen = forMembers().filter((operation) => operation.role && !hasRole(role, operation.role));
        await walk(
          chosen,
          (operation) => call(operation, own, { cookie: member.cookie, 'x-project-id': project.id }),
          (answer, { name }) => expect(answer, name).to.be.envelope(403, 'FORBIDDEN'),
        );
      });

    it('reads as VIEWER what a MEMBER reads, and changes nothing', async () => {
      const member = await person(api, { project: project.id, role: 'MEMBER' });
      const viewer = await person(api, { project: project.id, role: 'VIEWER' });
      const asked = (operation: Operation, { cookie }: Person) =>
        call(operation, own, { cookie, 'x-project-id': project.id });
      const expected = new Map<string, number>();
      // The GET of the contract that checks DNS now stores what it found.
      const checks = 'GET /domains/{id}/verify';
      const chosen = forMembers().filter(({ name, role }) => role === 'VIEWER' && name !== checks);
      for (const operation of chosen) expected.set(operation.name, (await asked(operation, member)).status);
      await walk(
        chosen,
        (operation) => asked(operation, viewer),
        ({ status, body }, { name }) => expect(status, `${name} ${JSON.stringify(body)}`).to.equal(expected.get(name)),
      );
      expect([...expected.values()].filter((status) => status === 200)).to.have.length.greaterThan(40);
    });

    it('may as VIEWER read, preview, render, simulate and look up, but write and export nothing', () => {
      const rule = ({ method, path }: Operation) =>
        method === 'GET'
          ? !/export|[/]errors$/.test(path)
          : /^POST/.test(method) && /[/](preview|render|simulate|lookup|run)$/.test(path);
      for (const operation of forMembers().filter(({ role }) => role === 'VIEWER' || role === 'MEMBER'))
        expect(operation.role, operation.name).to.equal(rule(operation) ? 'VIEWER' : 'MEMBER');
    });

    it('is rejected without the two-factor authentication that the project requires', async () => {
      const strict = await api.project();
      const things = await createOneOfEachResource(api, strict);
      await setProject(api.db, strict.id, { requireTwoFactor: true });
      await walk(
        forMembers(),
        (operation) => call(operation, things, { cookie: strict.cookie, 'x-project-id': strict.id }),
        (answer, { name }) => {
          expect(answer, name).to.be.envelope(403, 'FORBIDDEN');
          expect(answer.body.error.suggestion, name).to.contain('/users/@me/totp');
        },
      );
    });

    it('is rejected while the invitation is pending', async () => {
      const guest: Person = await person(api);
      await addMembership(api.db, { projectId: project.id, userId: guest.id, role: 'OWNER', status: 'PENDING' });
      const chosen = guarded().filter(({ access }) => access === 'member' || access === 'memberOrKey');
      await walk(
        chosen,
        (operation) => call(operation, own, { cookie: guest.cookie }),
        (answer, { name }) => expect(answer, name).to.be.envelope(404, 'RESOURCE_NOT_FOUND'),
      );
      const resources = guarded().filter(({ access, path }) => access === 'secretKey' && !path.startsWith('/v1/'));
      await walk(
        resources,
        (operation) => call(operation, own, { cookie: guest.cookie, 'x-project-id': project.id }),
        (answer, { name }) => expect(answer, name).to.be.envelope(403, 'FORBIDDEN'),
      );
    });

    it('is rejected with a session from another origin, in any role', async () => {
      const writing = guarded().filter(
        ({ access, method, path }) => access !== 'publicKey' && method !== 'GET' && !path.startsWith('/v1/'),
      );
      const headers = { cookie: project.cookie, 'x-project-id': project.id, origin: 'https://evil.example' };
      await walk(
        writing,
        (operation) => call(operation, own, headers),
        (answer, { name }) => expect(answer, name).to.be.envelope(403, 'FORBIDDEN'),
      );
    });
  });

  it('rejects writes of a disabled project and accepts reads on all routes of a project', async () => {
    const disabled = await api.project();
    const things = await createOneOfEachResource(api, disabled);
    await disableProject(api.db, disabled.id, { reason: 'spam' });
    const server = client(api.url, bearer(disabled.secretKey));
    await eventually(async () => (await server.post('/v1/send', {})).status === 403, {
      what: 'the notification to arrive',
    });
    /** Read-only routes that are not GET. */
    const reads = [
      'POST /contacts/lookup',
      'POST /v1/verify',
      'POST /workflows/{id}/simulate',
      'POST /workflows/{id}/publish/preview',
      'POST /workflows/{id}/cases/run',
      'POST /segments/preview',
      'POST /render',
    ];
    await walk(
      guarded().filter(({ access, method }) => access === 'secretKey' && method !== 'GET'),
      ({ name, method, path }) =>
        server.request(method, pathWith(things, path), bodies[name]?.({ project, things }) ?? {}),
      (answer, { name }) =>
        reads.includes(name)
          ? expect(answer.status, name).not.to.equal(403)
          : expect(answer, name).to.be.envelope(403, 'PROJECT_DISABLED'),
    );
    const reading = guarded().filter(
      ({ access, method, streams }) => access === 'secretKey' && method === 'GET' && !streams,
    );
    for (const { name, path } of reading)
      if (!NOT_THERE.includes(path)) expect((await server.get(pathWith(things, path))).status, name).to.equal(200);
  });

  it('answers 404 on the routes of operators to everybody else', async () => {
    const chosen = operations.filter(({ access }) => access === 'operator');
    const unknown = { cookie: `everpost_session=${'A'.repeat(48)}` };
    for (const headers of [{}, bearer(project.secretKey), { cookie: project.cookie }, unknown])
      await walk(
        chosen,
        (operation) => call(operation, own, headers),
        (answer, { name }) => expect(answer, name).to.be.envelope(404, 'RESOURCE_NOT_FOUND'),
      );
  });

  it('accepts the declared callers', async () => {
    const operator = await person(api);
    await promoteToOperator(api.db, operator.id);
    const right: Record<Access, Record<string, string>> = {
      operator: { cookie: operator.cookie },
      publicKey: bearer(project.publicKey),
      secretKey: bearer(project.secretKey),
      memberOrKey: bearer(project.secretKey),
      session: { cookie: project.cookie },
      projectSession: { cookie: project.cookie, 'x-project-id': project.id },
      member: { cookie: project.cookie },
      public: {},
    };
    const reading = operations.filter(
      ({ access, method, streams }) => access !== 'public' && method === 'GET' && !streams,
    );
    for (const operation of reading) {
      const { status, body, headers } = await call(operation, own, right[operation.access]);
      const text = `${operation.name}: ${JSON.stringify(body).slice(0, 200)}`;
      if (NOT_THERE.includes(operation.path)) expect(status, text).to.equal(404);
      else expect(status, text).to.equal(200);
      expect(headers.get('ratelimit-limit'), text).to.equal('100000');
    }
  });
});
