import { expect } from 'chai';
import type { Knex } from 'knex';
import { mailById } from '../support/ledger.ts';
import type { ServiceProcess } from '../support/processes.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

// Temporal detects a dead worker after the heartbeat timeout.
const TIMEOUT = { timeoutMs: 90_000 };

describe('a mail that stops every worker that composes it', function () {
  this.timeout(240_000);
  let temporal: OwnNamespace;
  let stack: Stack;
  let lock: Knex.Transaction | undefined;

  before(async () => {
    temporal = await ownNamespace();
    stack = await startStack(temporal);
  });
  after(async () => {
    if (lock && !lock.isCompleted()) await lock.rollback();
    await stack?.end();
    await temporal?.close();
  });

  it('ends FAILED with a reason, and the other mails of its batch are sent once', async () => {
    const { database, smtp, server, project } = stack;
    const { db } = database;
    const answer = await server.post('/v1/send', {
      ...{
        to: 'stuck@example.com',
        from: `shop@${project.senderDomain}`,
        subject: 'Stuck',
        body: '<p>See the file</p>',
      },
      attachments: [{ filename: 'a.txt', content: Buffer.from('a').toString('base64'), contentType: 'text/plain' }],
    });
    expect(answer).to.have.status(200);
    const stuck: string = answer.body.data.emails[0].email;
    const others = await Promise.all(Array.from({ length: 5 }, () => stack.send()));
    // Composing this mail never ends: the table of its attachment is locked.
    lock = await db.transaction();
    await lock.raw('lock table email_attachments in access exclusive mode');
    // No mail is sent before the first worker dies, so that all are still in one batch.
    smtp.misbehave({ at: 'connect', do: 'hang' });

    /** Kills a worker and expires its leases. */
    const kill = async (worker: ServiceProcess) => {
      await worker.kill();
      await db('delivery_batches')
        .whereNotNull('leaseToken')
        .update({ leaseUntil: new Date(0) });
    };
    const first = await stack.startWorker();
    await eventually(() => smtp.connections().open > 0, { ...TIMEOUT, what: 'a worker about to send' });
    await kill(first);
    smtp.behave();
    const { batchId } = await mailById(db, stuck);
    for (const id of others) expect((await mailById(db, id)).batchId).to.equal(batchId);

    for (const composingIds of [[stuck], [stuck, stuck]]) {
      const worker = await stack.startWorker();
      const composing = async () => (await db('delivery_batches').where({ id: batchId }).first('composing'))?.composing;
      await eventually(async () => (await composing())?.length === composingIds.length, {
        ...TIMEOUT,
        what: 'the composing mark',
      });
      expect(await composing()).to.deep.equal(composingIds);
      expect(await mailById(db, stuck)).to.include({ status: 'PENDING', attempts: 0 });
      await kill(worker);
    }

    await stack.startWorker();
    await eventually(async () => (await mailById(db, stuck)).status === 'FAILED', {
      ...TIMEOUT,
      what: 'the FAILED mail',
    });
    await smtp.received(others.length, TIMEOUT);
    for (const id of others)
      await eventually(async () => (await mailById(db, id)).status === 'SENT', { ...TIMEOUT, what: 'a mail SENT' });
    const shown = await server.get(`/emails/${stuck}`);
    expect(shown.body).to.include({
      status: 'FAILED',
      reason:
        'writing this mail stopped the worker twice; it is not tried again, and no attempt to deliver it was made',
    });
    expect(await mailById(db, stuck)).to.include({ attempts: 0, unknownOutcomes: 0 });
    expect(smtp.mails).to.have.lengthOf(others.length);
    expect(new Set(smtp.mails.flatMap(({ to }) => to)).size).to.equal(others.length);
  });
});
