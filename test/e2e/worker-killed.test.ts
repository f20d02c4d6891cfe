import { expect } from 'chai';
import type { Knex } from 'knex';
import { emailActivities } from '../../activities/emails.ts';
import type { Email } from '../../db/models/email.ts';
import { createMailer } from '../../platform/mailer.ts';
import { DeliveryLedger } from '../../services/emails/delivery-ledger.ts';
import { noCounts } from '../../services/emails/delivery-settlement.ts';
import { mailById } from '../support/ledger.ts';
import { testLinks } from '../support/links.ts';
import { testRenderer } from '../support/renderer.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { activityEnvironment } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

// After a kill it takes Temporal a heartbeat timeout to notice, and the lease its time to end.
const PATIENCE = { timeoutMs: 90_000 };

const itsConnections = `application_name = 'everpost-worker' and datname = current_database()`;

describe('killing', function () {
  this.timeout(180_000);
  let temporal: OwnNamespace;
  let stack: Stack;
  const locks: Knex.Transaction[] = [];

  beforeEach(async () => {
    temporal = await ownNamespace();
    stack = await startStack(temporal);
  });
  afterEach(async () => {
    for (const lock of locks.splice(0)) if (!lock.isCompleted()) await lock.rollback();
    await stack?.end();
    await temporal?.close();
  });

  const mail = (id: string) => mailById(stack.world.db, id);
  const becomes = (id: string, status: Email['status']) =>
    eventually(async () => (await mail(id)).status === status && mail(id), { ...PATIENCE, what: `a mail ${status}` });

  it('the worker between accepting and sending leaves exactly one mail', async () => {
    stack.smtp.misbehave({ at: 'connect', do: 'hang' });
    const worker = await stack.startWorker();
    const id = await stack.send('ann@example.com');
    await eventually(() => stack.smtp.connections().open > 0, { ...PATIENCE, what: 'a worker about to send' });
    expect(await worker.kill()).to.deep.equal({ code: null, signal: 'SIGKILL' });
    expect(await mail(id)).to.include({ status: 'PENDING', attempts: 0 });
    stack.smtp.behave();
    await stack.startWorker();
    expect(await becomes(id, 'SENT')).to.include({ attempts: 1, unknownOutcomes: 0 });
    expect(stack.smtp.mailsTo('ann@example.com')).to.have.length(1);
  });

  it('the worker in mid-sentence is an unknown outcome, wherever it was: tried once more, under the same Message-ID', async () => {
    const { smtp, world, server, project } = stack;
    // Where each of them is when the worker dies, and how often its mail is taken in all: after the final dot, twice.
    const moments = { recipient: 1, text: 1, message: 2, accepted: 2, unmarked: 2 };
    const addressOf = (moment: string) => `${moment}@example.com`;
    for (const at of ['recipient', 'text', 'message', 'accepted'] as const)
      smtp.misbehave({ at, to: addressOf(at), do: 'hang' });
    // This one will be answered, but its row will be locked by then.
    smtp.misbehave({ at: 'accepted', to: addressOf('unmarked'), do: 'hang' });
    const worker = await stack.startWorker();
    const ids = new Map<string, string>();
    for (const moment of Object.keys(moments)) {
      if (moment !== 'text') ids.set(moment, await stack.send(addressOf(moment)));
      else ids.set(moment, await sendLarge(addressOf(moment)));
    }
    const lock = await world.db.transaction();
    locks.push(lock);
    for (const [moment, id] of ids) {
      await becomes(id, 'SENDING');
      if (moment === 'accepted' || moment === 'unmarked')
        await smtp.received(1, { to: addressOf(moment), ...PATIENCE });
    }
    await lock('emails')
      .where({ id: ids.get('unmarked') ?? '' })
      .forUpdate();
    smtp.behave(addressOf('unmarked'));
    const isBlocked = async () =>
      (await world.db.raw(`select 1 from pg_stat_activity where ${itsConnections} and wait_event_type = 'Lock'`))
        .rows[0];
    await eventually(isBlocked, { ...PATIENCE, what: 'a result that waits to be written' });
    await worker.kill();
    await world.db.raw(`select pg_terminate_backend(pid) from pg_stat_activity where ${itsConnections}`);
    await lock.rollback();
    smtp.behave();
    for (const id of ids.values()) expect(await mail(id)).to.include({ status: 'SENDING', attempts: 1 });

    await stack.startWorker();
    for (const id of ids.values()) expect(await becomes(id, 'SENT')).to.include({ attempts: 2, unknownOutcomes: 1 });
    for (const [moment, taken] of Object.entries(moments)) {
      const id = ids.get(moment) ?? '';
      const copies = smtp.mailsTo(addressOf(moment)).map(({ messageId }) => messageId);
      expect(copies, moment).to.deep.equal(Array(taken).fill(`<${id}@${project.senderDomain}>`));
      const attempts = await world.db('email_attempts').where({ emailId: id }).orderBy('number').pluck('outcome');
      expect(attempts, moment).to.deep.equal(['unknown', 'sent']);
    }

    /** More than the buffers between the two hold. */
    async function sendLarge(to: string): Promise<string> {
      const content = Buffer.alloc(9_000_000, 'x').toString('base64');
      const answer = await server.post('/v1/send', {
        ...{ to, from: `shop@${project.senderDomain}`, subject: 'Large', body: '<p>See the file</p>' },
        attachments: [{ filename: 'large.txt', content, contentType: 'text/plain' }],
      });
      expect(answer.status).to.equal(200);
      return (answer.body as { data: { emails: { email: string }[] } }).data.emails[0]?.email ?? '';
    }
  });

  it('the API right after its answer loses nothing', async () => {
    const id = await stack.send('ann@example.com');
    await stack.api.kill();
    await stack.startWorker();
    expect(await becomes(id, 'SENT')).to.include({ attempts: 1 });
    expect(stack.smtp.mailsTo('ann@example.com')).to.have.length(1);
  });

  it('nobody, but freezing a worker until its lease is over: when it wakes it sends nothing more', async () => {
    stack.smtp.misbehave({ at: 'accepted', to: 'first@example.com', do: 'hang' });
    const first = await stack.send('first@example.com');
    const others = await Promise.all(Array.from({ length: 5 }, () => stack.send()));
    const frozen = await stack.startWorker({ SMTP_MAX_CONNECTIONS: '1' });
    await stack.smtp.received(1, { to: 'first@example.com', ...PATIENCE });
    frozen.signal('SIGSTOP');
    stack.smtp.behave();
    // Mails leave as they are ready: some may have gone before it.
    const gone = stack.smtp.mails.length - 1;

    const { db } = stack.world;
    const { batchId } = await mail(first);
    const isFree = () => db('delivery_batches').where({ id: batchId }).where('leaseUntil', '<', db.fn.now()).first();
    await eventually(isFree, { ...PATIENCE, what: 'the end of the lease' });
    const mailer = createMailer({ url: stack.smtp.url, maxConnections: 1 });
    const stopping = new AbortController().signal;
    const { deliverBatch } = emailActivities({
      db,
      mailer,
      renderer: testRenderer(),
      links: testLinks,
      ledger: new DeliveryLedger(db),
      stopping,
    });
    const counts = await activityEnvironment().run(deliverBatch, batchId ?? '');
    mailer.close();
    expect(counts).to.deep.equal({ ...noCounts(), sent: 6 - gone, unknown: 1 });

    frozen.signal('SIGCONT');
    expect(await frozen.stop()).to.deep.equal({ code: 0, signal: null });
    expect(stack.smtp.mailsTo('first@example.com'), 'it was on the wire').to.have.length(2);
    expect(stack.smtp.mails, 'all others once').to.have.length(2 + 5);
    expect(await mail(first)).to.include({ status: 'SENT', attempts: 2, unknownOutcomes: 1 });
    for (const id of others) expect(await mail(id)).to.include({ status: 'SENT', attempts: 1, unknownOutcomes: 0 });
  });
});
