// API and worker behind PgBouncer in transaction mode. It runs by name only and needs PgBouncer 1.21 or newer, named by
// PGBOUNCER_PATH: docs/operations.md#connections says what was seen.
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { startChild, waitUntilReady } from '../../dev/child.ts';
import { canConnect, freePort } from '../../dev/ports.ts';
import { postgresAccount } from '../../dev/postgres-account.ts';
import { atEnd, runDirectory } from '../support/cleanup.ts';
import type { ServiceProcess } from '../support/processes.ts';
import { type OwnNamespace, ownNamespace, type ProcessStack, startProcessStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';
import { build, enable } from '../support/workflow-building.ts';

const MAILS = 60;
const CONTACTS = 20;
/** Fewer than either process has in its pool, so that connections of the clients share those of the server. */
const SERVER_CONNECTIONS = 4;

/** Returns the address of a PgBouncer in front of the database. */
async function startPgBouncer(databaseUrl: string): Promise<string> {
  const { hostname, port, username, password } = new URL(databaseUrl);
  const dir = join(runDirectory(), 'pgbouncer');
  mkdirSync(dir, { recursive: true });
  const ownPort = await freePort();
  const users = join(dir, 'users.txt');
  const config = join(dir, 'pgbouncer.ini');
  writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`);
  writeFileSync(
    config,
    `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = transaction
max_prepared_statements = 500
default_pool_size = ${SERVER_CONNECTIONS}
max_client_conn = 200
ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout
`,
  );
  const command = process.env.PGBOUNCER_PATH;
  if (!command) throw new Error('PGBOUNCER_PATH does not name PgBouncer 1.21 or newer.');
  const { uid, gid } = postgresAccount(command, dir);
  if (uid !== undefined && gid !== undefined) for (const file of [dir, users, config]) chownSync(file, uid, gid);
  const child = await startChild({
    name: 'PgBouncer',
    command,
    args: [config],
    logFile: join(runDirectory(), 'pgbouncer.log'),
    ...(uid !== undefined && gid !== undefined && { uid, gid }),
  });
  atEnd(async () => void (await child.kill()));
  await waitUntilReady(child, 10_000, () => canConnect(ownPort));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(ownPort);
  return url.toString();
}

describe('API and worker behind PgBouncer in transaction mode', () => {
  let temporal: OwnNamespace;
  let stack: ProcessStack;
  let worker: ServiceProcess;

  before(async () => {
    temporal = await ownNamespace();
    stack = await startProcessStack(
      temporal,
      { RATE_LIMIT_PER_MINUTE: '0' },
      async ({ DATABASE_URL: direct = '' }) => ({
        DATABASE_URL: await startPgBouncer(direct),
        DATABASE_DIRECT_URL: direct,
      }),
    );
    worker = await stack.startWorker();
  });
  after(async () => {
    await stack?.end();
    await temporal?.close();
  });

  it('send mail and a campaign, run executions and import, over few connections', async () => {
    const { server, project, smtp } = stack;
    const { db } = stack.database;
    const own = { ...project, server } as never;
    const workflow = await build(own, {
      steps: {
        wait: { type: 'DELAY', config: { amount: 1, unit: 'seconds' } },
        tag: { type: 'UPDATE_CONTACT', config: { data: { welcomed: true } } },
      },
      transitions: [['wait', 'tag']],
    });
    await enable(own, workflow.id);
    await Promise.all(Array.from({ length: MAILS }, (_, n) => stack.send(`mail${n}@example.com`)));
    const track = (n: number) => server.post('/events/track', { email: `person${n}@example.com`, event: 'signed up' });
    const tracked = await Promise.all(Array.from({ length: CONTACTS }, (_, n) => track(n)));
    expect(tracked.map(({ status }) => status)).to.deep.equal(tracked.map(() => 200));
    const csv = `email,plan\n${Array.from({ length: 3_000 }, (_, n) => `reader${n}@example.com,free`).join('\n')}\n`;
    const form = new FormData();
    form.set('file', new Blob([csv], { type: 'text/csv' }), 'contacts.csv');
    const imported = await fetch(`${stack.api.url}/contacts/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${project.secretKey}` },
      body: form,
    });
    expect(imported.status).to.be.oneOf([200, 201, 202]);

    await smtp.received(MAILS);
    const completed = async () => (await db('executions').where({ status: 'COMPLETED' })).length === CONTACTS;
    await eventually(completed, { what: 'the end of all executions' });
    const isImported = async () => (await db('jobs').where({ status: 'COMPLETED' })).length === 1;
    await eventually(isImported, { what: 'the import' });

    const draft = { name: 'News', subject: 'News', body: '<p>News</p>', audienceType: 'ALL' };
    const { body } = await server.post('/campaigns', { ...draft, from: `shop@${project.senderDomain}` });
    expect((await server.post(`/campaigns/${body.data.id}/send`, {})).status).to.be.oneOf([200, 202]);
    const isSent = async () => (await server.get(`/campaigns/${body.data.id}`)).body.status === 'SENT';
    await eventually(isSent, { what: 'the end of the campaign' });

    const problems = [stack.api, worker].flatMap((child) =>
      child
        .logs()
        .split('\n')
        // Temporal's SDK warns of slow workflow tasks on a busy machine.
        .filter((line) => /"level":"(warn|error|fatal)"/.test(line) && !line.includes('"sdk":"temporal"')),
    );
    expect(problems).to.deep.equal([]);
  });
});
