import { expect } from 'chai';
import type { Knex } from 'knex';
import type { EmailStatus } from '../../db/models/email.ts';
import { attemptLogOf } from '../../services/emails/attempts.ts';
import { addContacts, recipientTo, standing, startCampaign } from '../support/campaigns.ts';
import { mailById } from '../support/ledger.ts';
import { inDoubt } from '../support/sending.ts';
import { type OwnNamespace, ownNamespace, type ProcessStack, startProcessStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

const senderConnections = `application_name = 'everpost-sender' and datname = current_database()`;

describe('killing processes while they send', () => {
  let temporal: OwnNamespace;
  let stack: ProcessStack;
  const locks: Knex.Transaction[] = [];

  beforeEach(async () => {
    temporal = await ownNamespace();
    // The one file with the timings of production: a killed worker's mail is recovered after 15 s.
    stack = await startProcessStack(temporal, { EVERPOST_TIMINGS: 'production' });
  });
  afterEach(async () => {
    for (const lock of locks.splice(0)) if (!lock.isCompleted()) await lock.rollback();
    await stack?.end();
    await temporal?.close();
  });

  const mail = (id: string) => mailById(stack.database.db, id);
  const shownStatus = async (id: string): Promise<EmailStatus> => (await stack.server.get(`/emails/${id}`)).body.status;
  const becomes = async (id: string, status: EmailStatus) => {
    await eventually(async () => (await shownStatus(id)) === status, { what: `a mail ${status}` });
    return mail(id);
  };
  const leaseEnds = () =>
    eventually(
      async () => {
        const { db } = stack.database;
        const leases = await db('senders').select(db.raw('lease_until <= now() as "isOver"'));
        return leases.length > 0 && leases.every(({ isOver }) => isOver);
      },
      { what: 'the end of the lease' },
    );

  it('sends exactly one mail when the worker is killed before sending', async () => {
    stack.smtp.misbehave({ at: 'connect', do: 'hang' });
    const worker = await stack.startWorker();
    const id = await stack.send('ann@example.com');
    await eventually(() => stack.smtp.connections().open > 0, { what: 'a worker about to send' });
    expect(await worker.kill()).to.deep.equal({ code: null, signal: 'SIGKILL' });
    expect(await mail(id)).to.include({ status: 'PENDING', attempts: 0 });
    expect(await inDoubt(stack.database.db), 'a mail without a connection has not begun').to.deep.equal([]);
    stack.smtp.behave();
    await stack.startWorker();
    expect(await becomes(id, 'SENT')).to.include({ attempts: 1, unknownOutcomes: 0 });
    expect(stack.smtp.mailsTo('ann@example.com')).to.have.length(1);
  });

  it('records an unknown outcome at any stage of SMTP, and retries once with the same Message-ID', async () => {
    const { smtp, database, server, project } = stack;
    // The stage of each mail when the worker dies, and how often it is accepted in total: after the final dot, twice.
    const acceptedByStage = { recipient: 1, text: 1, message: 2, accepted: 2, unmarked: 2 };
    const addressOf = (stage: string) => `ann@${stage}.example.com`;
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
      if (stage === 'accepted' || stage === 'unmarked') await smtp.received(1, { to: addressOf(stage) });
    }
    await lock('outgoing_mails')
      .where({ emailId: ids.get('unmarked') ?? '' })
      .forUpdate();
    smtp.behave(addressOf('unmarked'));
    const isBlocked = async () =>
      (await database.db.raw(`select 1 from pg_stat_activity where ${senderConnections} and wait_event_type = 'Lock'`))
        .rows[0];
    await eventually(isBlocked, { what: 'a result that waits for the lock' });
    await worker.kill();
    await database.db.raw(`select pg_terminate_backend(pid) from pg_stat_activity where ${senderConnections}`);
    await lock.rollback();
    smtp.behave();
    for (const id of ids.values()) expect(await shownStatus(id)).to.equal('SENDING');

    await stack.startWorker();
    for (const id of ids.values()) expect(await becomes(id, 'SENT')).to.include({ attempts: 2, unknownOutcomes: 1 });
    const relay = `127.0.0.1:${smtp.port}`;
    for (const [stage, accepted] of Object.entries(acceptedByStage)) {
      const id = ids.get(stage) ?? '';
      const copies = smtp.mailsTo(addressOf(stage)).map(({ messageId }) => messageId);
      expect(copies, stage).to.deep.equal(Array(accepted).fill(`<${id}@${project.senderDomain}>`));
      const attempts = await attemptLogOf(database.db, project.id, id);
      expect(
        attempts.map(({ number, outcome, relay }) => [number, outcome, relay]),
        stage,
      ).to.deep.equal([
        [1, 'unknown', relay],
        [2, 'sent', relay],
      ]);
    }

    /** Larger than the socket buffers. */
    async function sendLarge(to: string): Promise<string> {
      const content = Buffer.alloc(9_000_000, 'x').toString('base64');
      const answer = await server.post('/v1/send', {
        to,
        from: `shop@${project.senderDomain}`,
        subject: 'Large',
        body: '<p>See the file</p>',
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
    await eventually(async () => (await mail(id)).status === 'SENT', { what: 'the mail' });
    expect(await mail(id)).to.include({ attempts: 1 });
    expect(stack.smtp.mailsTo('ann@example.com')).to.have.length(1);
  });

  it('sends with a replacement at once, because a spare sender workflow waits', async () => {
    // With them Temporal waits longer for a killed worker than another one takes to start.
    const timings = { EVERPOST_TIMINGS: 'production' };
    const first = await stack.startWorker(timings);
    await becomes(await stack.send(), 'SENT');
    const { workflow } = temporal.client;
    const running = async () => {
      const ids: string[] = [];
      for await (const { workflowId } of workflow.list({
        query: "WorkflowType = 'sender' AND ExecutionStatus = 'Running'",
      }))
        ids.push(workflowId);
      return ids.sort();
    };
    await eventually(async () => (await running()).length === 2, { what: 'two sender workflows' });
    expect(await running()).to.deep.equal(['sender/1', 'sender/2']);
    const activityOf = async (id: string) => (await workflow.getHandle(id).describe()).raw.pendingActivities?.[0];
    const sendingBy = async (pid: number) => {
      for (const id of ['sender/1', 'sender/2'])
        if ((await activityOf(id))?.lastWorkerIdentity?.startsWith(`${pid}@`)) return id;
      return undefined;
    };
    const firstOne = await eventually(() => sendingBy(first.pid), { what: 'the first sender' });
    const spare = firstOne === 'sender/1' ? 'sender/2' : 'sender/1';
    expect(await activityOf(spare)).to.include({ attempt: 1, lastWorkerIdentity: '' });

    await first.kill();
    const second = await stack.startWorker(timings);
    expect(await becomes(await stack.send(), 'SENT')).to.include({ attempts: 1 });
    expect(await sendingBy(second.pid)).to.equal(spare);
    expect((await activityOf(spare))?.attempt, 'not a retry after a time-out').to.equal(1);
  });

  it('begins no mail when a worker continues that was stopped until its lease ran out', async () => {
    stack.smtp.misbehave({ at: 'accepted', to: 'first@example.com', do: 'hang' });
    const first = await stack.send('first@example.com');
    const others = await Promise.all(Array.from({ length: 5 }, () => stack.send()));
    const stopped = await stack.startWorker({ SMTP_MAX_CONNECTIONS: '1' });
    await stack.smtp.received(1, { to: 'first@example.com' });
    stopped.signal('SIGSTOP');
    stack.smtp.behave();
    await leaseEnds();
    await stack.startWorker();
    for (const id of others) expect(await becomes(id, 'SENT')).to.include({ attempts: 1, unknownOutcomes: 0 });
    expect(await becomes(first, 'SENT')).to.include({ attempts: 2, unknownOutcomes: 1 });

    stopped.signal('SIGCONT');
    expect(await stopped.stop()).to.deep.equal({ code: 0, signal: null });
    expect(stack.smtp.mailsTo('first@example.com'), 'it was in flight').to.have.length(2);
    expect(stack.smtp.mails, 'all others once').to.have.length(2 + 5);
    expect(await mail(first), 'a later attempt has begun').to.include({ attempts: 2, unknownOutcomes: 1 });
  });

  it('counts the late result of campaign mail that was in flight when its worker was stopped', async () => {
    const { smtp, project, database } = stack;
    await addContacts(database.db, project, 12);
    smtp.misbehave({ at: 'accepted', do: 'hang', times: 1 });
    const { id } = await startCampaign(database.db, project);
    const stopped = await stack.startWorker({ SMTP_MAX_CONNECTIONS: '1' });
    const [first] = await smtp.received(1);
    stopped.signal('SIGSTOP');
    smtp.behave();
    await leaseEnds();
    // The next one may have begun while this one was in flight.
    const { length: begun } = await inDoubt(database.db);
    expect(begun).to.be.within(1, 2);
    await stack.startWorker();
    const counts = () => standing(database.db, project, id);
    await eventually(async () => (await counts()).pending === 0, { what: 'the end of the campaign' });
    expect(await counts()).to.include({ sent: 12 - begun, unknown: begun });

    stopped.signal('SIGCONT');
    const address = first?.to[0] ?? '';
    const inFlight = () => recipientTo(database.db, id, address);
    await eventually(async () => (await inFlight()).status === 'SENT', { what: 'the late result' });
    expect(await stopped.stop()).to.deep.equal({ code: 0, signal: null });
    expect(await counts(), 'the other one was not offered').to.include({ sent: 13 - begun, unknown: begun - 1 });
    expect(smtp.mailsTo(address)).to.have.length(1);
    expect(smtp.mails).to.have.length(13 - begun);
  });
});
