import { expect } from 'chai';
import type { Knex } from 'knex';
import { emailActivities } from '../../activities/emails.ts';
import type { Email } from '../../db/models/email.ts';
import { createMailer } from '../../platform/smtp/mailer.ts';
import { DeliveryLedger } from '../../services/emails/delivery-ledger.ts';
import { noCounts } from '../../services/emails/delivery-settlement.ts';
import { mailById } from '../support/ledger.ts';
import { testLinks } from '../support/links.ts';
import { testRenderer } from '../support/renderer.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { activityEnvironment } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

// After a kill Temporal waits for the heartbeat timeout, and the lease has to expire.
const TIMEOUT = { timeoutMs: 90_000 };

const workerConnections = `application_name = 'everpost-worker' and datname = current_database()`;

describe('killing processes during a delivery', function () {
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

  const mail = (id: string) => mailById(stack.database.db, id);
  const becomes = (id: string, status: Email['status']) =>
    eventually(async () => (await mail(id)).status === status && mail(id), { ...TIMEOUT, what: `a mail ${status}` });

  it('sends exactly one mail when the worker is killed before sending', async () => {
    stack.smtp.misbehave({ at: 'connect', do: 'hang' });
    const worker = await stack.startWorker();
    const id = await stack.send('ann@example.com');
    await eventually(() => stack.smtp.connections().open > 0, { ...TIMEOUT, what: 'a worker about to send' });
    expect(await worker.kill()).to.deep.equal({ code: null, signal: 'SIGKILL' });
    expect(await mail(id)).to.include({ status: 'PENDING', attempts: 0 });
    stack.smtp.behave();
    await stack.startWorker();
    expect(await becomes(id, 'SENT')).to.include({ attempts: 1, unknownOutcomes: 0 });
    expect(stack.smtp.mailsTo('ann@example.com')).to.have.length(1);
  });

  it('records an unknown outcome at any stage of SMTP, and retries once with the same Message-ID', async () => {
    const { smtp, database, server, project } = stack;
    // The stage of each mail when the worker dies, and how often it is accepted in total: after the final dot, twice.
    const acceptedByStage = { recipient: 1, text: 1, message: 2, accepted: 2, unmarked: 2 };
    const addressOf = (stage: string) => `${stage}@example.com`;
    for (const at of ['recipient', 'text', 'message', 'accepted'] as const)
      smtp.misbehave({ at, to: addressOf(at), do: 'hang' });
    // This mail is answered, but its row is locked by then.
    smtp.misbehave({ at: 'accepted', to: addressOf('unmarked'), do: 'hang' });
    const worker = await stack.startWorker();
    const ids = new Map<string, string>();
    for (const stage of Object.keys(acceptedByStage)) {
      if (stage !== 'text') ids.set(stage, await stack.send(addressOf(stage)));
      else ids.set(stage, await sendLarge(addressOf(stage)));
    }
    const lock = await database.db.transaction();
    locks.push(lock);
    for (const [stage, id] of ids) {
      await becomes(id, 'SENDING');
      if (stage === 'accepted' || stage === 'unmarked') await smtp.received(1, { to: addressOf(stage), ...TIMEOUT });
    }
    await lock('emails')
      .where({ id: ids.get('unmarked') ?? '' })
      .forUpdate();
    smtp.behave(addressOf('unmarked'));
    const isBlocked = async () =>
      (await database.db.raw(`select 1 from pg_stat_activity where ${workerConnections} and wait_event_type = 'Lock'`))
        .rows[0];
    await eventually(isBlocked, { ...TIMEOUT, what: 'a result that waits for the lock' });
    await worker.kill();
    await database.db.raw(`select pg_terminate_backend(pid) from pg_stat_activity where ${workerConnections}`);
    await lock.rollback();
    smtp.behave();
    for (const id of ids.values()) expect(await mail(id)).to.include({ status: 'SENDING', attempts: 1 });

    await stack.startWorker();
    for (const id of ids.values()) expect(await becomes(id, 'SENT')).to.include({ attempts: 2, unknownOutcomes: 1 });
    for (const [stage, accepted] of Object.entries(acceptedByStage)) {
      const id = ids.get(stage) ?? '';
      const copies = smtp.mailsTo(addressOf(stage)).map(({ messageId }) => messageId);
      expect(copies, stage).to.deep.equal(Array(accepted).fill(`<${id}@${project.senderDomain}>`));
      const attempts = await database.db('email_attempts').where({ emailId: id }).orderBy('number').pluck('outcome');
      expect(attempts, stage).to.deep.equal(['unknown', 'sent']);
    }

    /** Larger than the socket buffers. */
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

  it('loses no mail when the API is killed right after its answer', async () => {
    const id = await stack.send('ann@example.com');
    await stack.api.kill();
    await stack.startWorker();
    expect(await becomes(id, 'SENT')).to.include({ attempts: 1 });
    expect(stack.smtp.mailsTo('ann@example.com')).to.have.length(1);
  });

  it('sends nothing more when a worker is suspended until its lease has expired', async () => {
    stack.smtp.misbehave({ at: 'accepted', to: 'first@example.com', do: 'hang' });
    const first = await stack.send('first@example.com');
    const others = await Promise.all(Array.from({ length: 5 }, () => stack.send()));
    const frozen = await stack.startWorker({ SMTP_MAX_CONNECTIONS: '1' });
    await stack.smtp.received(1, { to: 'first@example.com', ...TIMEOUT });
    frozen.signal('SIGSTOP');
    stack.smtp.behave();
    // Mails are sent in the order in which they are composed: some may precede the first.
    const sentBefore = stack.smtp.mails.length - 1;

    const { db } = stack.database;
    const { batchId } = await mail(first);
    const isExpired = () => db('delivery_batches').where({ id: batchId }).where('leaseUntil', '<', db.fn.now()).first();
    await eventually(isExpired, { ...TIMEOUT, what: 'the end of the lease' });
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
    expect(counts).to.deep.equal({ ...noCounts(), sent: 6 - sentBefore, unknown: 1 });

    frozen.signal('SIGCONT');
    expect(await frozen.stop()).to.deep.equal({ code: 0, signal: null });
    expect(stack.smtp.mailsTo('first@example.com'), 'it was in flight').to.have.length(2);
    expect(stack.smtp.mails, 'all others once').to.have.length(2 + 5);
    expect(await mail(first)).to.include({ status: 'SENT', attempts: 2, unknownOutcomes: 1 });
    for (const id of others) expect(await mail(id)).to.include({ status: 'SENT', attempts: 1, unknownOutcomes: 0 });
  });
});
