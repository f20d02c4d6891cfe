// API, worker, database, namespace and SMTP stand-in for one test file. Workers are processes, as in production.
import { connectApiTemporal } from '../../api/temporal.ts';
import { freePort } from '../../dev/ports.ts';
import { newId } from '../../platform/ids.ts';
import { readSettings } from '../../platform/settings.ts';
import type { Temporal } from '../../temporal/connection.ts';
import type { WorkerRole } from '../../worker/roles.ts';
import { type Client, client, startTestApi } from './api.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject, type TestProject } from './connected-database.ts';
import { type Env, type ServiceProcess, startApi, startWorker } from './processes.ts';
import { type SmtpStandIn, startSmtp } from './smtp.ts';

export interface Stack {
  database: ConnectedDatabase;
  smtp: SmtpStandIn;
  project: TestProject;
  /** The settings of every process. */
  env: Env;
  /** Sends one mail through the API and returns its id. */
  send(to?: string): Promise<string>;
  /** With all roles, unless some are named. */
  startWorker(env?: Env, roles?: WorkerRole[]): Promise<ServiceProcess>;
  api: { url: string };
  server: Client;
  end(): Promise<void>;
}

export type ProcessStack = Stack & { api: ServiceProcess };

type Namespace = Pick<Temporal, 'namespace'> & { address: string };
/** Settings that depend on the others, as the address of a pooler. */
type Change = (env: Env) => Promise<Env>;

/** With the API in this process, which starts in a fraction of the time of a process. */
export const startStack = (temporal: Namespace, more: Env = {}, change?: Change): Promise<Stack> =>
  start({ temporal, more, change }, startApiHere);

/** For tests that kill the API, read what it prints, or need what only a process has. */
export const startProcessStack = (temporal: Namespace, more: Env = {}, change?: Change): Promise<ProcessStack> =>
  start({ temporal, more, change }, async (env) => {
    const api = await startApi(env);
    return { api, end: api.kill };
  });

async function start<Api extends { url: string }>(
  { temporal, more, change }: { temporal: Namespace; more: Env; change: Change | undefined },
  startItsApi: (env: Env, database: ConnectedDatabase) => Promise<{ api: Api; end(): Promise<unknown> }>,
): Promise<Stack & { api: Api }> {
  const database = await connectTestDatabase();
  const smtp = await startSmtp();
  const given: Env = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    SMTP_URL: smtp.url,
    ...more,
  };
  const env = { ...given, ...(await change?.(given)) };
  const project = await makeProject(database.db);
  const { api, end } = await startItsApi(env, database);
  const server = client(api.url, { authorization: `Bearer ${project.secretKey}` });
  const workers: ServiceProcess[] = [];
  return {
    database,
    smtp,
    project,
    env,
    api,
    server,
    send: async (to = `${newId()}@example.com`) => {
      const body = { to, from: `shop@${project.senderDomain}`, subject: 'Hello', body: '<p>Hello</p>' };
      const answer = await server.post('/v1/send', body);
      if (answer.status !== 200) throw new Error(`the send was not accepted: ${JSON.stringify(answer.body)}`);
      return (answer.body as { data: { emails: { email: string }[] } }).data.emails[0]?.email ?? '';
    },
    startWorker: async (more = {}, roles = []) => {
      const worker = await startWorker({ ...env, ...more }, roles);
      workers.push(worker);
      return worker;
    },
    end: async () => {
      await Promise.all([end(), ...workers.map((worker) => worker.kill())]);
      await smtp.close();
      await database.close();
    },
  };
}

async function startApiHere(given: Env, database: ConnectedDatabase) {
  const PORT = String(await freePort());
  const env = { BASE_URL: `http://127.0.0.1:${PORT}`, ...given, PORT };
  const { close, ...temporal } = await connectApiTemporal(readSettings({ NODE_ENV: 'test', ...env }).temporal);
  const api = await startTestApi({ env, database, ...temporal });
  const end = async () => {
    await api.stop();
    await close();
  };
  return { api, end };
}

export { type OwnNamespace, ownNamespace } from './temporal-work.ts';
