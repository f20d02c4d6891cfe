// API, worker, database, namespace and SMTP stand-in for one test file, in separate processes as in production.
import { newId } from '../../platform/ids.ts';
import type { Temporal } from '../../temporal/connection.ts';
import type { WorkerRole } from '../../worker/roles.ts';
import { type Client, client } from './api.ts';
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
  api: ServiceProcess;
  server: Client;
  end(): Promise<void>;
}

/** `change` may add settings that depend on the others, as the address of a pooler. */
export async function startStack(
  temporal: Pick<Temporal, 'namespace'> & { address: string },
  more: Env = {},
  change: (env: Env) => Promise<Env> = async () => ({}),
): Promise<Stack> {
  const [database, smtp] = [await connectTestDatabase(), await startSmtp()];
  const given: Env = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    SMTP_URL: smtp.url,
    ...more,
  };
  const env = { ...given, ...(await change(given)) };
  const project = await makeProject(database.db);
  const api = await startApi(env);
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
      await Promise.all([api, ...workers].map((child) => child.kill()));
      await smtp.close();
      await database.close();
    },
  };
}

export { type OwnNamespace, ownNamespace } from './temporal-work.ts';
