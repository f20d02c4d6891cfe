import { pino } from 'pino';
import './chai-answers.ts';
import type { RouteGroup } from '../../api/http/route.ts';
import { type Api, type ApiOptions, startApi } from '../../api/start.ts';
import type { Db } from '../../db/connect.ts';
import { logSerializers } from '../../platform/logger.ts';
import { readSettings } from '../../platform/settings.ts';
import { createSession } from '../../services/sessions/sessions.ts';
import { apiDocument } from './api-document.ts';
import type { ApiAnswer } from './chai-answers.ts';
import { atEndOfRun, once } from './cleanup.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject, type TestProject } from './connected-database.ts';
import { checkAnswersOf } from './declared-answers.ts';
import { readCatalogue } from './statement-catalogue.ts';
import { getCurrentTest, watchStatements } from './statement-watcher.ts';

export type { ApiAnswer } from './chai-answers.ts';

type HeaderMap = Record<string, string>;
export type Send = (path: string, body?: unknown, headers?: HeaderMap) => Promise<ApiAnswer>;

/** Sends requests to one address, with the headers it was created with. A body that is not a string is sent as JSON. */
export interface Client {
  get(path: string, headers?: HeaderMap): Promise<ApiAnswer>;
  post: Send;
  put: Send;
  patch: Send;
  delete: Send;
  request(method: string, path: string, body?: unknown, headers?: HeaderMap): Promise<ApiAnswer>;
}

export function client(url: string, baseHeaders: HeaderMap = {}): Client {
  const request: Client['request'] = async (method, path, body, headers = {}) => {
    const asJson = body !== undefined && typeof body !== 'string' && !(body instanceof FormData);
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        ...baseHeaders,
        ...headers,
      },
      ...(body === undefined ? {} : { body: asJson ? JSON.stringify(body) : (body as string | FormData) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, headers: response.headers, body: isJson && text ? JSON.parse(text) : text };
  };
  const sender =
    (method: string): Send =>
    (path, body, headers) =>
      request(method, path, body, headers);
  return {
    request,
    get: (path, headers) => request('GET', path, undefined, headers),
    post: sender('POST'),
    put: sender('PUT'),
    patch: sender('PATCH'),
    delete: sender('DELETE'),
  };
}

export interface ApiProject extends TestProject {
  /** Uses the public key. */
  browser: Client;
  /** Uses the secret key. */
  server: Client;
  /** Uses a session of the owner. */
  owner: Client;
  cookie: string;
}

export interface TestApi extends Client {
  url: string;
  db: Db;
  databaseUrl: string;
  /** The log records, parsed. */
  logs: Record<string, unknown>[];
  /** Creates a project with an owner, keys and a verified domain, and clients for it. */
  project(): Promise<ApiProject>;
  stop(): Promise<void>;
}

export interface TestApiOptions {
  /** Settings by name; the database and a free port are filled in. */
  env?: Record<string, string | undefined>;
  /** Runs several APIs on one database. Unset: a new database, dropped at the end. */
  database?: ConnectedDatabase;
  checkTemporal?: ApiOptions['checkTemporal'];
  checkByWorkflow?: ApiOptions['checkByWorkflow'];
  moreRoutes?: RouteGroup[];
  oauthAt?: ApiOptions['oauthAt'];
  concurrency?: ApiOptions['concurrency'];
  receiving?: ApiOptions['receiving'];
  rateLimiting?: ApiOptions['rateLimiting'];
}

/** Starts the real API in this process, on a free port. */
export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const { env = {}, database, moreRoutes = [], checkTemporal = async () => true, oauthAt } = options;
  const { concurrency, receiving, rateLimiting, checkByWorkflow } = options;
  const own = database ? undefined : await connectTestDatabase(5);
  const { db, url: databaseUrl } = own ?? (database as ConnectedDatabase);
  await watchStatements(async () => {
    const current = await connectTestDatabase(1);
    return readCatalogue(current.db).finally(() => current.close());
  });
  const logs: Record<string, unknown>[] = [];
  const log = pino(
    { level: env.LOG_LEVEL ?? 'debug', serializers: logSerializers },
    { write: (line: string) => void logs.push(JSON.parse(line)) },
  );
  const given = {
    NODE_ENV: 'test',
    PORT: '0',
    HOST: '127.0.0.1',
    BASE_URL: 'http://app.test',
    // Longer than in production: a new connection takes seconds while a busy machine runs all tests.
    DATABASE_CONNECT_TIMEOUT_MS: '30000',
    ...env,
  };
  const settings = readSettings({
    EVERPOST_TIMINGS: process.env.EVERPOST_TIMINGS,
    ...given,
    DATABASE_URL: databaseUrl,
  });
  const api: Api = await startApi({
    settings,
    log,
    document: apiDocument,
    checkTemporal,
    moreRoutes,
    oauthAt,
    ...(checkByWorkflow && { checkByWorkflow }),
    ...(concurrency && { concurrency }),
    ...(receiving && { receiving }),
    ...(rateLimiting && { rateLimiting }),
  });
  const stopChecking = checkAnswersOf(api.port, settings, getCurrentTest);
  return {
    ...client(api.url),
    url: api.url,
    db,
    databaseUrl,
    logs,
    project: () => createProjectWithClients(db, api.url),
    stop: async () => {
      await api.stop();
      stopChecking();
      await own?.close();
    },
  };
}

/** An API that is stopped by whoever started it. */
export type RunningApi = Omit<TestApi, 'stop'>;

/** The one API with default settings of this process. Its database has the projects of all files that use it. */
export const sharedApi = once(async (): Promise<RunningApi> => {
  const { stop, ...api } = await startTestApi({ env: { RATE_LIMIT_PER_MINUTE: '100000' } });
  atEndOfRun(stop);
  return api;
});

type ApiTests = (api: RunningApi) => void;

/** Runs tests against the shared API, or, with options, against an own API on a database of its own. */
export function describeApi(title: string, ...given: [ApiTests] | [TestApiOptions, ApiTests]): void {
  const [options, tests] = given.length === 1 ? [undefined, given[0]] : given;
  describe(title, () => {
    // Complete once the tests run.
    const api = {} as RunningApi;
    let own: TestApi | undefined;
    before(async () => {
      own = options && (await startTestApi(options));
      Object.assign(api, own ?? (await sharedApi()));
    });
    after(() => own?.stop());
    tests(api);
  });
}

/** Creates a project with clients for an API that runs in another process. */
export async function createProjectWithClients(db: Db, url: string): Promise<ApiProject> {
  const project = await makeProject(db);
  const cookie = `everpost_session=${await createSession(db, project.userId)}`;
  return {
    ...project,
    cookie,
    browser: client(url, { authorization: `Bearer ${project.publicKey}` }),
    server: client(url, { authorization: `Bearer ${project.secretKey}` }),
    owner: client(url, { cookie, 'x-project-id': project.id }),
  };
}
