import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiAnswer, type ApiProject, startTestApi, type TestApi } from '../support/api.ts';

interface Operation {
  /** As it is declared. */
  name: string;
  method: string;
  path: string;
  access: 'publicKey' | 'secretKey' | 'session' | 'nobody';
  takesSession: boolean;
  /** Of which the walk makes one up. */
  hasId: boolean;
}

/** Who may be let in by nobody at all; a route that joins them must be added here on purpose. */
const open = [
  'GET /health',
  'GET /ready',
  'GET /metrics',
  'GET /openapi.json',
  'GET /docs',
  'GET /unsubscribe/{token}',
  'POST /unsubscribe/{token}',
  'GET /subscribe/{token}',
  'POST /subscribe/{token}',
  'GET /manage/{token}',
  'GET /t/o/{token}',
  'GET /t/c/{token}',
  'POST /webhooks/sns',
];

describe('the walk of all routes', () => {
  let api: TestApi;
  let project: ApiProject;
  let operations: Operation[];

  before(async () => {
    api = await startTestApi({ env: { RATE_LIMIT_PER_MINUTE: '100000' } });
    project = await api.project();
    const { paths } = (await api.get('/openapi.json')).body;
    operations = Object.entries<Record<string, { security?: Record<string, unknown>[] }>>(paths).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(([method, { security }]) => ({
          name: `${method.toUpperCase()} ${path}`,
          method: method.toUpperCase(),
          path: path.replace(/\{\w+\}/g, () => newId()),
          hasId: /\{(id|\w+Id|email)\}/.test(path),
          ...accessOf(`${method.toUpperCase()} ${path}`, security),
        })),
    );
  });
  after(() => api.stop());

  function accessOf(name: string, security?: Record<string, unknown>[]): Pick<Operation, 'access' | 'takesSession'> {
    if (!security) throw new Error(`${name} does not say who may call it`);
    const [first] = security.map((scheme) => Object.keys(scheme)[0]);
    const takesSession = security.some((scheme) => 'session' in scheme);
    return { access: (first ?? 'nobody') as Operation['access'], takesSession };
  }

  const call = ({ method, path }: Operation, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
    api.request(method, path, method === 'GET' ? undefined : '{}', headers);
  const guarded = () => operations.filter(({ access }) => access !== 'nobody');
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

  it('finds them', () => {
    expect(operations.length).to.be.at.least(7);
  });

  it('lets nobody in without asking, but to the routes of which that is known', () => {
    const found = operations.filter(({ access }) => access === 'nobody').map(({ name }) => name);
    expect(found).to.have.members(open);
  });

  it('refuses whoever brings nothing', async () => {
    for (const operation of guarded()) {
      const code = operation.access === 'session' ? 'UNAUTHORIZED' : 'INVALID_API_KEY';
      expect(await call(operation), `${operation.method} ${operation.path}`).to.be.envelope(401, code);
    }
  });

  it('refuses the wrong kind of key', async () => {
    const wrong = { publicKey: project.secretKey, secretKey: project.publicKey, session: project.secretKey };
    for (const operation of guarded()) {
      const key = wrong[operation.access as keyof typeof wrong];
      const code = operation.access === 'session' ? 'UNAUTHORIZED' : 'INVALID_API_KEY';
      expect(await call(operation, bearer(key)), `${operation.method} ${operation.path}`).to.be.envelope(401, code);
    }
  });

  it('refuses keys that nobody has', async () => {
    for (const operation of guarded()) {
      const prefix = operation.access === 'publicKey' ? 'pk' : 'sk';
      const answer = await call(operation, bearer(`${prefix}_${'A'.repeat(48)}`));
      expect(answer, `${operation.method} ${operation.path}`).to.have.status(401);
    }
  });

  it('refuses a session for a project that its user has nothing to do with', async () => {
    const other = await api.project();
    for (const operation of operations.filter(({ takesSession, access }) => takesSession && access !== 'session')) {
      const answer = await call(operation, { cookie: project.cookie, 'x-project-id': other.id });
      // Where the project stands in the path, one that is not the caller's is not there.
      const inPath = operation.path.startsWith('/projects/');
      if (inPath) expect(answer, operation.name).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      else expect(answer, operation.name).to.be.envelope(403, 'FORBIDDEN');
    }
  });

  it('lets the right caller in, and finds nothing under an id that is not of its project', async () => {
    const right = {
      publicKey: bearer(project.publicKey),
      secretKey: bearer(project.secretKey),
      session: { cookie: project.cookie },
    };
    for (const operation of guarded()) {
      const { status } = await call(operation, right[operation.access as keyof typeof right]);
      const name = `${operation.method} ${operation.path}`;
      if (operation.hasId) expect(status, name).to.be.oneOf([404, 422]);
      else expect(status, name).not.to.be.oneOf([401, 403, 404, 500]);
    }
  });
});
