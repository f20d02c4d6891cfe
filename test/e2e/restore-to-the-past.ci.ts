// Postgres restored to the past beside a Temporal that is ahead, and the reverse. docs/reliability.md states the results.
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { connectDb, type Db } from '../../db/connect.ts';
import { query } from '../../dev/postgres.ts';
import { workflowIds } from '../../services/outbox/ids.ts';
import { reconcileTemporal, type TemporalSide } from '../../services/reconciler/reconcile.ts';
import { createTemporal, type Temporal } from '../../temporal/connection.ts';
import { openRuns } from '../../temporal/open-runs.ts';
import { client } from '../support/api.ts';
import { runDirectory } from '../support/cleanup.ts';
import { makeProject, type TestProject } from '../support/connected-database.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { type ServiceProcess, startApi, startWorker } from '../support/processes.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { type OwnDevServer, ownDevServer } from '../support/temporal.ts';
import { temporalSettings } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';
import { build, enable } from '../support/workflow-building.ts';

describe('restoring one of two databases to the past', () => {
  let dev: OwnDevServer;
  let smtp: SmtpStandIn;
  let database: TestDatabase;
  let temporal: Temporal;
  let db: Db;
  let url: string;
  let project: TestProject;
  let workflowId: string;
  let processes: { api: ServiceProcess; worker: ServiceProcess } | undefined;
  const temporalFile = join(runDirectory(), 'restored-temporal.db');

  beforeEach(async () => {
    for (const file of filesOf(temporalFile)) rmSync(file, { force: true });
    dev = await ownDevServer({ dbFile: temporalFile });
    smtp = await startSmtp();
    database = await createDatabase();
    url = database.url;
    db = connectDb({ databaseUrl: url, poolSize: 3, name: 'everpost-test' });
    temporal = createTemporal(temporalSettings(dev.address));
    project = await makeProject(db);
    await start();
    ({ id: workflowId } = await build(apiProject(), {
      steps: {
        mark: { type: 'UPDATE_CONTACT', config: { data: { greeted: 'yes' } } },
        wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought' } },
        out: { type: 'EXIT', config: { reason: 'done' } },
      },
      transitions: [
        ['mark', 'wait'],
        ['wait', 'out'],
      ],
    }));
    await enable(apiProject(), workflowId);
  });
  afterEach(async () => {
    await stop();
    await db?.destroy();
    await temporal?.close();
    await Promise.all([dev?.kill(), smtp?.close()]);
    await database?.drop();
  });

  const filesOf = (file: string) => ['', '-wal', '-shm'].map((suffix) => file + suffix);
  const apiProject = () => ({ ...project, server: server() }) as never;
  const server = () => client(processes?.api.url ?? '', { authorization: `Bearer ${project.secretKey}` });

  async function start(): Promise<void> {
    const env = { DATABASE_URL: url, TEMPORAL_ADDRESS: dev.address, SMTP_URL: smtp.url };
    processes = { api: await startApi(env), worker: await startWorker(env) };
  }
  async function stop(): Promise<void> {
    await Promise.all([processes?.api.stop(), processes?.worker.stop()]);
    processes = undefined;
  }
  async function track(email: string, event: string): Promise<void> {
    const browser = client(processes?.api.url ?? '', { authorization: `Bearer ${project.publicKey}` });
    expect(await browser.post('/v1/track', { email, event })).to.have.status(200);
  }
  const send = async (to: string) => {
    const body = { to, from: `shop@${project.senderDomain}`, subject: 'Hello', body: '<p>Hello</p>' };
    expect(await server().post('/v1/send', body)).to.have.status(200);
  };
  const executionOf = async (email: string) => {
    const { rows } = await db.raw(
      `select x.id, x.status, x.generation, x.awaited_event from executions x join contacts c on c.id = x.contact_id
       where c.email = ?`,
      [email],
    );
    return rows[0] as { id: string; status: string; generation: number; awaited_event: string | null } | undefined;
  };
  const waits = (email: string) =>
    eventually(async () => (await executionOf(email))?.awaited_event === 'bought', {
      what: `${email} waits`,
    });
  const exits = (email: string) =>
    eventually(async () => (await executionOf(email))?.status === 'EXITED', { what: `${email} exits` });
  const isOpen = (id: string, generation: number) =>
    openRuns(temporal).isOpen({
      workflowId: workflowIds.execution(project.id, id, generation),
      workflowType: 'execution',
    });
  const visitsOf = async (id: string) =>
    (await db('executionSteps').where({ executionId: id }).orderBy('visit')).map(({ visit, status }) => [
      visit,
      status,
    ]);

  /** What the reconciler does every three minutes, as if everything were older than its grace. */
  async function reconcile() {
    await db.raw(`update executions set updated_at = now() - interval '10 minutes'`);
    const side = openRuns(temporal);
    const aged: TemporalSide = {
      ...side,
      async *open() {
        for await (const page of side.open()) yield page.map((run) => ({ ...run, startedAt: new Date(0) }));
      },
    };
    return reconcileTemporal(db, aged);
  }

  it('Postgres in the past: lost workflows are restarted, strays ended; mail of the time between may be sent twice', async () => {
    await track('before@example.com', 'signed up');
    await waits('before@example.com');
    // Accepted before the backup, sent after it.
    smtp.misbehave({ at: 'connect', do: { code: 421 } });
    for (let n = 0; n < 3; n++) await send(`pending${n}@example.com`);
    await stop();
    const { href: serverUrl, pathname } = new URL(database.url);
    const original = pathname.slice(1);
    const copy = `${original}_past`;
    await db.destroy();
    await query(withName(serverUrl, 'postgres'), `create database ${copy} template ${original}`);

    db = connectDb({ databaseUrl: url, poolSize: 3, name: 'everpost-test' });
    smtp.behave();
    await start();
    await track('before@example.com', 'bought');
    await exits('before@example.com');
    await track('after@example.com', 'signed up');
    await waits('after@example.com');
    const after = await executionOf('after@example.com');
    await send('later@example.com');
    await smtp.received(4);
    await stop();
    await db.destroy();

    url = withName(serverUrl, copy);
    db = connectDb({ databaseUrl: url, poolSize: 3, name: 'everpost-test' });
    try {
      await start();
      const before = await executionOf('before@example.com');
      expect(before).to.include({ status: 'WAITING', generation: 1 });
      expect(await executionOf('after@example.com')).to.equal(undefined);
      expect(await isOpen(before?.id ?? '', 1)).to.equal(false);
      expect(await isOpen(after?.id ?? '', 1)).to.equal(true);
      const { revived, ended } = await reconcile();
      expect(revived).to.be.at.least(1);
      expect(ended).to.be.at.least(1);
      const restarted = async () => (await isOpen(before?.id ?? '', 2)) && !(await isOpen(after?.id ?? '', 1));
      await eventually(restarted, { what: 'the same workflows on both sides' });
      await track('before@example.com', 'bought');
      await exits('before@example.com');
      expect(await visitsOf(before?.id ?? '')).to.deep.equal([1, 2, 3].map((visit) => [visit, 'COMPLETED']));
      // Sent before and after the restore, under the same Message-ID.
      await smtp.received(7);
      for (let n = 0; n < 3; n++) {
        const copies = smtp.mailsTo(`pending${n}@example.com`);
        expect(copies).to.have.length(2);
        expect(new Set(copies.map(({ messageId }) => messageId)).size).to.equal(1);
      }
      // The ledger does not know what was accepted after the backup; it was sent once.
      expect(smtp.mailsTo('later@example.com')).to.have.length(1);
      const { rows } = await db.raw(`select 1 from email_contents where to_email = 'later@example.com'`);
      expect(rows).to.deep.equal([]);
      await hasNothingToDo();
    } finally {
      await stop();
      await db.destroy();
      await query(withName(serverUrl, 'postgres'), `drop database ${copy} with (force)`);
      db = connectDb({ databaseUrl: database.url, poolSize: 3, name: 'everpost-test' });
    }
  });

  it('Temporal in the past: nothing is lost or doubled', async () => {
    await track('before@example.com', 'signed up');
    await waits('before@example.com');
    await stop();
    await dev.stop();
    const saved = join(runDirectory(), 'saved-temporal.db');
    copyAll(temporalFile, saved);

    await dev.start();
    await start();
    await track('before@example.com', 'bought');
    await exits('before@example.com');
    await track('after@example.com', 'signed up');
    await waits('after@example.com');
    await send('once@example.com');
    await smtp.received(1);
    await stop();
    await dev.stop();
    copyAll(saved, temporalFile);
    await dev.start();
    await start();

    const before = await executionOf('before@example.com');
    const after = await executionOf('after@example.com');
    await eventually(async () => !(await isOpen(after?.id ?? '', 1)));
    await reconcile();
    const agrees = async () => (await isOpen(after?.id ?? '', 2)) && !(await isOpen(before?.id ?? '', 1));
    await eventually(agrees, { what: 'the same workflows on both sides' });
    await track('after@example.com', 'bought');
    await exits('after@example.com');
    for (const execution of [before, after])
      expect(await visitsOf(execution?.id ?? '')).to.deep.equal([1, 2, 3].map((visit) => [visit, 'COMPLETED']));
    await send('again@example.com');
    await smtp.received(2);
    expect(smtp.mails.map(({ to }) => to[0])).to.deep.equal(['once@example.com', 'again@example.com']);
    await hasNothingToDo();
  });

  /** The list of open workflows lags behind. */
  const hasNothingToDo = () =>
    eventually(
      async () => {
        const { revived, ended } = await reconcile();
        return revived + ended === 0;
      },
      { what: 'a reconciler with nothing to do' },
    );

  /** SQLite keeps the newest changes in a file beside the database. */
  function copyAll(from: string, to: string): void {
    for (const [n, file] of filesOf(from).entries()) {
      const target = filesOf(to)[n] ?? '';
      rmSync(target, { force: true });
      if (existsSync(file)) copyFileSync(file, target);
    }
  }
});

function withName(address: string, name: string): string {
  const target = new URL(address);
  target.pathname = `/${name}`;
  return target.href;
}
