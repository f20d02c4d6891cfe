// API and worker behind PgBouncer in transaction mode, with the configuration of docs/operations.md.
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startChild, waitUntilReady } from '../../dev/child.ts';
import { canConnect, freePort } from '../../dev/ports.ts';
import { onPath } from '../../dev/run.ts';
import { client } from '../support/api.ts';
import { atEnd } from '../support/cleanup.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject, type TestProject } from '../support/connected-database.ts';
import { type Env, type ServiceProcess, startApi, startWorker } from '../support/processes.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { type OwnNamespace, ownNamespace } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';
import { build, enable } from '../support/workflow-building.ts';

const WAIT = { timeoutMs: 60_000 };

/** Starts PgBouncer before a Postgres, and returns the address of the same database behind it. */
async function startPgBouncer(databaseUrl: string): Promise<string> {
  const program = onPath('pgbouncer');
  if (!program) throw new Error('PgBouncer is not on the PATH: apt-get install pgbouncer');
  const { hostname, port, username, password } = new URL(databaseUrl);
  const dir = mkdtempSync(join(tmpdir(), 'everpost-pgbouncer-'));
  const own = await freePort();
  const docs = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const documented = /```ini\n\[pgbouncer\]\n([\s\S]*?)```/.exec(docs)?.[1] ?? expect.fail('no configuration in the docs');
  const users = join(dir, 'users.txt');
  writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`);
  writeFileSync(
    join(dir, 'pgbouncer.ini'),
    `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
max_client_conn = 200
default_pool_size = 10
${documented}`,
  );
  for (const file of [dir, users, join(dir, 'pgbouncer.ini')]) chmodSync(file, 0o755);
  // It refuses to run as root.
  const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = await startChild({
    name: 'PgBouncer',
    command: program,
    args: [...account, join(dir, 'pgbouncer.ini')],
    logFile: join(dir, 'log'),
  });
  atEnd(async () => void (await child.kill()));
  await waitUntilReady(child, 20_000, () => canConnect(own));
  const pooled = new URL(databaseUrl);
  pooled.port = String(own);
  return pooled.toString();
}

describe('API and worker behind PgBouncer in transaction mode', function () {
  this.timeout(240_000);
  let temporal: OwnNamespace;
  let database: ConnectedDatabase;
  let smtp: SmtpStandIn;
  let project: TestProject;
  let api: ServiceProcess;
  let worker: ServiceProcess;

  before(async () => {
    temporal = await ownNamespace();
    [database, smtp] = [await connectTestDatabase(5), await startSmtp()];
    project = await makeProject(database.db);
    const env: Env = {
      DATABASE_URL: await startPgBouncer(database.url),
      DATABASE_DIRECT_URL: database.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SMTP_URL: smtp.url,
    };
    [api, worker] = await Promise.all([startApi(env), startWorker(env)]);
  });
  after(async () => {
    await Promise.all([api, worker].map((child) => child?.kill()));
    await smtp?.close();
    await database?.close();
    await temporal?.close();
  });

  it('send mail, run executions and finish a campaign', async () => {
    const server = client(api.url, { authorization: `Bearer ${project.secretKey}` });
    const own = { ...project, server } as never;
    const from = `shop@${project.senderDomain}`;
    const workflow = await build(own, {
      steps: { tag: { type: 'UPDATE_CONTACT', config: { data: { welcomed: true } } } },
    });
    await enable(own, workflow.id);
    // More requests at once than the pool has connections.
    const requests = Array.from({ length: 40 }, (_, n) => n).flatMap((n) => [
      server.post('/v1/send', { to: `mail${n}@example.com`, from, subject: 'Hi', body: '<p>Hi</p>' }),
      server.post('/events/track', { email: `person${n}@example.com`, event: 'signed up', subscribed: true }),
    ]);
    for (const answer of await Promise.all(requests)) expect(answer).to.have.status(200);
    await smtp.received(40, WAIT);
    const { db } = database;
    await eventually(async () => (await db('executions').where({ status: 'COMPLETED' })).length === 40, {
      what: 'the end of all executions',
      ...WAIT,
    });
    const draft = { name: 'News', subject: 'News', body: '<p>News</p>', audienceType: 'ALL', from };
    const { body } = await server.post('/campaigns', draft);
    expect((await server.post(`/campaigns/${body.data.id}/send`, {})).status).to.be.oneOf([200, 202]);
    await eventually(async () => (await server.get(`/campaigns/${body.data.id}`)).body.status === 'SENT', {
      what: 'the end of the campaign',
      ...WAIT,
    });
    expect(worker.logs()).not.to.include('prepared statement');
  });
});
