// Databases of different times under the real `npm start`: Postgres of the backup beside a newer Temporal, and the reverse.
// docs/reliability.md states what is lost or doubled. `npm run proof -- --only backup` runs this file too.
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { connectDb } from '../../db/connect.ts';
import { createTemporal } from '../../temporal/connection.ts';
import { OneCommandStack } from '../support/one-command-stack.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { temporalSettings } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

/** A workflow must be older than two minutes before the reconciler ends it. */
const RECONCILED = { timeoutMs: 400_000 };
const TRIGGER_MS = 5_000;
const PENDING = ['pending0@example.com', 'pending1@example.com', 'pending2@example.com'];

describe('the one-command stack with databases of different times', function () {
  this.timeout(1_200_000);
  let stack: OneCommandStack;
  let smtp: SmtpStandIn;
  let workflowId: string;

  beforeEach(async () => {
    smtp = await startSmtp();
    stack = new OneCommandStack({ SMTP_URL: smtp.url });
    await stack.start();
    workflowId = (await stack.server.post('/workflows', { name: 'Wait', eventName: 'signed up' })).body.id;
    const mark = { type: 'UPDATE_CONTACT', name: 'Mark', config: { data: { greeted: 'yes' } } };
    const wait = { type: 'WAIT_FOR_EVENT', name: 'Wait', config: { eventName: 'bought' } };
    const ids: string[] = [];
    for (const step of [mark, wait])
      ids.push((await stack.server.post(`/workflows/${workflowId}/steps`, step)).body.id);
    const transition = { fromStepId: ids[0], toStepId: ids[1] };
    expect(await stack.server.post(`/workflows/${workflowId}/transitions`, transition)).to.have.status(201);
    expect(await stack.server.patch(`/workflows/${workflowId}`, { enabled: true })).to.have.status(200);
  });
  afterEach(async () => {
    await stack.end();
    await smtp.close();
  });

  async function send(to: string): Promise<void> {
    const body = { to, from: `shop@${stack.info.senderDomain}`, subject: 'Hello', body: '<p>Hello</p>' };
    expect(await stack.server.post('/v1/send', body)).to.have.status(200);
  }
  async function track(email: string, event: string): Promise<void> {
    expect(await stack.browser.post('/v1/track', { email, event })).to.have.status(200);
  }
  const withDatabase = async <T>(read: (db: ReturnType<typeof connectDb>) => Promise<T>): Promise<T> => {
    const db = connectDb({ databaseUrl: stack.info.databaseUrl, poolSize: 1, name: 'everpost-test' });
    return read(db).finally(() => db.destroy());
  };
  const executionOf = (email: string) =>
    withDatabase(async (db) => {
      const { rows } = await db.raw(
        `select x.status, x.generation, array(
           select s.type || ' ' || s.status from execution_steps s where s.execution_id = x.id order by s.visit) as steps
         from executions x join contacts c on c.id = x.contact_id where c.email = ?`,
        [email],
      );
      return rows[0] as { status: string; generation: number; steps: string[] } | undefined;
    });
  const reaches = (email: string, status: string) =>
    eventually(async () => (await executionOf(email))?.status === status, {
      what: `the execution of ${email} is ${status}`,
    });
  const isInLedger = (to: string) =>
    withDatabase(async (db) => {
      const { rows } = await db.raw('select 1 from email_contents where to_email = ?', [to]);
      return rows.length === 1;
    });

  /** The reconciler runs every three minutes; its Schedule is triggered more often. */
  async function reconciled(what: string, isDone: () => Promise<boolean>): Promise<void> {
    const temporal = createTemporal(temporalSettings(stack.info.temporalAddress));
    const trigger = setInterval(
      () =>
        void temporal.client.schedule
          .getHandle('reconciler')
          .trigger()
          .catch(() => {}),
      TRIGGER_MS,
    );
    await eventually(isDone, { ...RECONCILED, what }).finally(() => clearInterval(trigger));
    await temporal.close();
  }
  /** How many executions are open in Temporal. */
  async function openExecutions(): Promise<number> {
    const temporal = createTemporal(temporalSettings(stack.info.temporalAddress));
    try {
      const query = `WorkflowType = 'execution' and ExecutionStatus = 'Running'`;
      return (await temporal.client.workflow.count(query)).count;
    } finally {
      await temporal.close();
    }
  }

  /** Restores the backup, but keeps the newer data of one database. */
  function restoreBut(newer: 'postgres' | 'temporal', file: string): void {
    stack.everpost('restore', file, '--replace');
    const [aside = ''] = readdirSync(stack.home).filter((name) => name.startsWith('before-restore-'));
    const kept = join(stack.home, aside, newer);
    rmSync(join(stack.home, newer), { recursive: true });
    renameSync(kept, join(stack.home, newer));
  }

  it('Postgres in the past: what came after the backup is lost, what was pending at the backup is sent twice', async () => {
    await track('before@example.com', 'signed up');
    await reaches('before@example.com', 'WAITING');
    smtp.misbehave({ at: 'connect', do: { code: 421 } });
    for (const to of PENDING) await send(to);
    await stack.stop();
    const file = join(stack.folder, 'everpost.tar.gz');
    stack.everpost('backup', file);

    smtp.behave();
    await stack.start();
    await track('before@example.com', 'bought');
    await reaches('before@example.com', 'COMPLETED');
    await track('after@example.com', 'signed up');
    await reaches('after@example.com', 'WAITING');
    await send('later@example.com');
    await smtp.received(4);
    await stack.stop();
    restoreBut('temporal', file);

    await stack.start();
    expect(await executionOf('before@example.com')).to.include({ status: 'WAITING', generation: 1 });
    expect(await executionOf('after@example.com')).to.equal(undefined);
    expect(await isInLedger('later@example.com')).to.equal(false);
    await reconciled('the lost workflow is started again, the other ended', async () => {
      const isRestarted = (await executionOf('before@example.com'))?.generation === 2;
      return isRestarted && (await openExecutions()) === 1;
    });
    await track('before@example.com', 'bought');
    await reaches('before@example.com', 'COMPLETED');
    const { steps } = (await executionOf('before@example.com')) ?? {};
    expect(steps).to.deep.equal(['UPDATE_CONTACT COMPLETED', 'WAIT_FOR_EVENT COMPLETED']);
    await smtp.received(7);
    for (const to of PENDING) {
      const copies = smtp.mailsTo(to);
      expect(copies, to).to.have.length(2);
      expect(new Set(copies.map(({ messageId }) => messageId)).size).to.equal(1);
    }
    expect(smtp.mailsTo('later@example.com')).to.have.length(1);
  });

  it('Temporal in the past: nothing is lost or doubled', async () => {
    await track('before@example.com', 'signed up');
    await reaches('before@example.com', 'WAITING');
    await stack.stop();
    const file = join(stack.folder, 'everpost.tar.gz');
    stack.everpost('backup', file);

    await stack.start();
    await track('before@example.com', 'bought');
    await reaches('before@example.com', 'COMPLETED');
    await track('after@example.com', 'signed up');
    await reaches('after@example.com', 'WAITING');
    await send('once@example.com');
    await smtp.received(1);
    await stack.stop();
    restoreBut('postgres', file);

    await stack.start();
    await reconciled('the missing workflow is started, the other ended', async () => {
      const isRestarted = (await executionOf('after@example.com'))?.generation === 2;
      return isRestarted && (await openExecutions()) === 1;
    });
    await track('after@example.com', 'bought');
    await reaches('after@example.com', 'COMPLETED');
    for (const email of ['before@example.com', 'after@example.com'])
      expect((await executionOf(email))?.steps, email).to.deep.equal([
        'UPDATE_CONTACT COMPLETED',
        'WAIT_FOR_EVENT COMPLETED',
      ]);
    await send('again@example.com');
    await smtp.received(2);
    expect(smtp.mails.map(({ to }) => to[0])).to.deep.equal(['once@example.com', 'again@example.com']);
  });
});
