import { expect } from 'chai';
import { advanceCampaign } from '../../../services/campaigns/advance.ts';
import { bookCampaign, booker, settleWireOf, tidyWire } from '../../../services/campaigns/book.ts';
import { cancelCampaign, pauseCampaign } from '../../../services/campaigns/steer.ts';
import { type AttemptEnd, type Begin, type BeginAsk, takeTurn } from '../../../services/campaigns/turn.ts';
import { type ToldEnd, Turns } from '../../../services/campaigns/turns.ts';
import { type Lease, leaseNextOf } from '../../../services/emails/delivery-lease.ts';
import { finishAll } from '../../../services/emails/delivery-ledger.ts';
import type { Settlement } from '../../../services/emails/delivery-settlement.ts';
import { publishResults } from '../../../services/emails/publish-results.ts';
import { deleteContacts } from '../../../services/removal/contact.ts';
import { matchEvents } from '../../../services/workflows/match-events.ts';
import { addContacts, limits, standing, startCampaign } from '../../support/campaigns.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { insertWorkflow } from '../../support/executions.ts';
import { eventually } from '../../support/waiting.ts';

const SENT: Settlement = { status: 'SENT', reason: null, providerMessageId: 'q1', answer: '250 Ok' };

interface TestEnd extends ToldEnd<TestEnd> {}

interface Mail {
  id: string;
  contactId: string;
  email: string;
}

describe('campaign mails in flight', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let campaignId: string;
  let lease: Lease;
  let mails: Mail[];

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database?.close());
  beforeEach(async () => {
    project = await makeProject(database.db);
    await addContacts(database.db, project, 6);
    const { id, generation } = await startCampaign(database.db, project);
    campaignId = id;
    await advance(generation);
    lease = await leased();
    mails = await database
      .db('emails as e')
      .join('contacts as k', 'k.id', 'e.contactId')
      .where({ campaignId })
      .orderBy('e.id')
      .select('e.id', 'e.contactId', 'k.email');
  });
  afterEach(() => lease.release());

  const advance = (generation: number) =>
    advanceCampaign({ db: database.db, limits, now: () => new Date() }, { campaignId, generation });
  const leased = async (): Promise<Lease> => {
    const got = await leaseNextOf(database.db, campaignId);
    if (!got) throw new Error('there is no batch to be had');
    return got;
  };
  /** Expires the lease, as if its owner had died. */
  const loseLease = () =>
    database
      .db('deliveryBatches')
      .where({ campaignId })
      .update({ leaseUntil: new Date(0) });
  const ask = ({ id, email }: Mail, holder = lease): BeginAsk => ({
    campaignId,
    holder,
    ready: { id, to: email, subject: null, mail: { kind: 'refused', reason: '' } },
  });
  const end = ({ id }: Mail, settlement = SENT): AttemptEnd => ({ id, holder: lease, attempts: 1, settlement });
  const begin = async (...some: Mail[]): Promise<string[]> =>
    (
      await takeTurn(
        database.db,
        some.map((mail) => ask(mail)),
        [],
      )
    ).begun.map(({ verdict }) => verdict);
  /** Resolves with whether the result came in time. */
  const told = (turns: Turns<TestEnd>, mail: Mail) =>
    new Promise<boolean>((resolve, unheard) => {
      const heard = (_: TestEnd[], late: Set<string>) => resolve(!late.has(mail.id));
      turns.end({ ...end(mail), teller: { heard, unheard: (_, error) => unheard(error) } });
    });
  const row = ({ id }: Mail) => database.db('emails').where({ id }).first();
  const onWire = () => database.db('campaignMailsInFlight').where({ campaignId });
  const now = () => standing(database.db, project, campaignId);
  const waitingForLocks = async (): Promise<number> => {
    const { rows } = await database.db.raw(
      `select count(*)::integer from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0].count;
  };

  it('are started once by concurrent calls', async () => {
    const [a, b] = mails as [Mail, Mail];
    expect(await begin(a, b)).to.deep.equal(['go', 'go']);
    expect(await begin(b, a)).to.deep.equal(['passed over', 'passed over']);
    expect(await onWire()).to.have.lengthOf(2);
  });

  it('are not started under an expired lease', async () => {
    await loseLease();
    expect(await begin(...mails)).to.deep.equal(mails.map(() => 'passed over'));
    expect(await onWire()).to.deep.equal([]);
  });

  it('are persisted with status, attempt, address and answer', async () => {
    const [a, b, c] = mails as [Mail, Mail, Mail];
    await begin(a, b, c);
    const refused: Settlement = { status: 'FAILED', reason: '550 no' };
    const putOff: Settlement = { status: 'PENDING', reason: '451 later', retryAfterSeconds: 60 };
    const { late } = await takeTurn(database.db, [], [end(a), end(b, refused), end(c, putOff)]);
    expect([...late]).to.deep.equal([]);
    expect(await now()).to.include({ pending: 6, sent: 0 });
    await bookCampaign(database.db, campaignId);
    expect(await now()).to.include({ pending: 4, sent: 1, failed: 1 });
    const [sent, failed, waiting] = [await row(a), await row(b), await row(c)];
    expect(sent).to.include({ status: 'SENT', attempts: 1, toEmail: a.email, providerMessageId: 'q1' });
    expect(sent.sentAt).to.be.instanceOf(Date);
    expect(failed).to.include({ status: 'FAILED', reason: '550 no', attempts: 1 });
    expect(waiting).to.include({ status: 'PENDING', reason: '451 later', attempts: 1, batchId: null });
    expect(waiting.dueAt).to.be.greaterThan(new Date());
    const attempts = await database.db('emailAttempts').whereIn('emailId', [a.id, b.id, c.id]).orderBy('emailId');
    expect(attempts.map(({ outcome, answer }) => [outcome, answer])).to.deep.equal([
      ['sent', '250 Ok'],
      ['refused', '550 no'],
      ['deferred', '451 later'],
    ]);
    expect(await database.db('unpublishedEmailResults').whereIn('emailId', [a.id, b.id, c.id])).to.have.lengthOf(2);
    expect(await onWire()).to.deep.equal([]);
  });

  it('are published when their sender persists them, with billing deltas when billing is on', async () => {
    const [a, b, c] = mails as [Mail, Mail, Mail];
    await begin(a, b, c);
    await takeTurn(database.db, [], [end(a), end(b, { status: 'FAILED', reason: '550 no' }), end(c)]);
    const from = `news@${project.senderDomain}`;
    await booker(database.db, { billing: true })([a, b, c].map(({ id }) => ({ id, from })));
    const events = await database.db('events').whereIn('emailId', [a.id, b.id, c.id]).orderBy('position');
    const byMail = Object.fromEntries(events.map(({ emailId, name, data }) => [emailId, { name, ...data }]));
    expect(events).to.have.lengthOf(3);
    expect(byMail[a.id]).to.include({ name: 'email.sent', providerMessageId: 'q1', campaignId, from });
    expect(byMail[a.id].subject).to.equal('Hello {{ name }}');
    expect(byMail[a.id].messageId).to.equal(`<${a.id}@${project.senderDomain}>`);
    expect(byMail[b.id]).to.include({ name: 'email.failed', reason: '550 no' });
    expect(await database.db('unpublishedEmailResults').whereIn('emailId', [a.id, b.id, c.id])).to.deep.equal([]);
    const notes = await database.db('billingDeltas').where({ projectId: project.id }).select('sourceType', 'count');
    expect(notes).to.deep.equal([{ sourceType: 'CAMPAIGN', count: 2 }]);
    // The results publisher records the same event.
    await database.db('unpublishedEmailResults').insert({ emailId: c.id, contactId: c.contactId });
    await publishResults(database.db);
    const again = await database.db('events').where({ emailId: c.id }).orderBy('position');
    expect(again.map(({ name, data }) => ({ name, ...data }))).to.deep.equal([byMail[c.id], byMail[c.id]]);
  });

  it('start the workflows that are triggered by their events', async () => {
    const [a, b] = mails as [Mail, Mail];
    const drawn = await insertWorkflow(database.db, project, {
      steps: { rest: ['DELAY', { amount: 1, unit: 'days' }] },
      workflow: { triggerConfig: JSON.stringify({ eventName: 'email.failed' }) },
    });
    await begin(a, b);
    await takeTurn(database.db, [], [end(a), end(b, { status: 'FAILED', reason: '550 no' })]);
    await booker(database.db)([a, b].map(({ id }) => ({ id, from: `news@${project.senderDomain}` })));
    await matchEvents(database.db);
    const executions = await database.db('executions').where({ workflowId: drawn.id });
    expect(executions).to.have.lengthOf(1);
    expect(executions[0]).to.include({ contactId: b.contactId, status: 'RUNNING' });
    expect(executions[0].context).to.include({ emailId: b.id, reason: '550 no' });
  });

  it('are left to the results publisher when the contact is locked or there was an earlier attempt', async () => {
    const [a, b, c] = mails as [Mail, Mail, Mail];
    await database.db('emails').where({ id: b.id }).update({ attempts: 1 });
    await begin(a, b, c);
    await takeTurn(database.db, [], [end(a), { ...end(b), attempts: 2 }, end(c)]);
    const from = `news@${project.senderDomain}`;
    await database.db.transaction(async (trx) => {
      await trx('contacts').where({ id: a.contactId }).forUpdate().select('id');
      await booker(database.db)([a, b, c].map(({ id }) => ({ id, from })));
    });
    expect(await now()).to.include({ sent: 3, pending: 3 });
    expect(await row(a)).to.include({ status: 'SENT', toEmail: a.email });
    const told = () => database.db('events').whereIn('emailId', [a.id, b.id, c.id]).pluck('name');
    expect(await told()).to.deep.equal(['email.sent']);
    expect(await database.db('unpublishedEmailResults').whereIn('emailId', [a.id, b.id])).to.have.lengthOf(2);
    await publishResults(database.db);
    expect(await told()).to.deep.equal(['email.sent', 'email.sent', 'email.sent']);
  });

  it('are put back without an attempt when they were not offered', async () => {
    const [a] = mails as [Mail];
    await begin(a);
    await takeTurn(
      database.db,
      [],
      [end(a, { status: 'PENDING', reason: 'stopped before it was sent', attemptNotCounted: true })],
    );
    await bookCampaign(database.db, campaignId);
    expect(await row(a)).to.include({ status: 'PENDING', attempts: 0, toEmail: null, batchId: lease.batchId });
    expect(await begin(a)).to.deep.equal(['go']);
  });

  it('become UNKNOWN for the next lease of their batch; known results are persisted', async () => {
    const [a, b] = mails as [Mail, Mail];
    await begin(a, b);
    await takeTurn(database.db, [], [end(a)]);
    await loseLease();
    const other = await leased();
    await settleWireOf(database.db, other.batchId);
    expect(await now()).to.include({ pending: 4, sent: 1, unknown: 1 });
    expect((await row(b)).reason).to.contain('the worker was interrupted');
    // A late result is accepted once.
    expect([...(await takeTurn(database.db, [], [end(b)])).late]).to.deep.equal([b.id]);
    expect(await finishAll(database.db, [end(b)])).to.deep.equal([true]);
    expect(await finishAll(database.db, [end(b)])).to.deep.equal([false]);
    expect(await now()).to.include({ pending: 4, sent: 2, unknown: 0 });
    await other.release();
  });

  it('are resolved while their campaign is paused, and never under a valid lease', async () => {
    const [a, b] = mails as [Mail, Mail];
    await begin(a, b);
    await takeTurn(database.db, [], [end(a)]);
    await tidyWire(database.db);
    expect(await onWire()).to.have.lengthOf(2);
    await pauseCampaign(database.db, project.access, campaignId);
    expect(await now(), 'what is known counts when the pause is answered').to.include({ pending: 5, sent: 1 });
    await loseLease();
    await tidyWire(database.db);
    await bookCampaign(database.db, campaignId);
    expect(await now()).to.include({ pending: 4, sent: 1, unknown: 1 });
  });

  it('are persisted by another worker when the one that recorded the result is gone', async () => {
    const [a] = mails as [Mail];
    await begin(a);
    await takeTurn(database.db, [], [end(a)]);
    await database
      .db('campaignMailsInFlight')
      .where({ campaignId })
      .update({ endedAt: new Date(Date.now() - 60_000) });
    expect(await tidyWire(database.db)).to.equal(1);
    expect(await row(a)).to.include({ status: 'SENT' });
  });

  it('keep their results when the campaign is cancelled', async () => {
    const [a, b, c] = mails as [Mail, Mail, Mail];
    await begin(a, b, c);
    await takeTurn(database.db, [], [end(a)]);
    await cancelCampaign(database.db, project.access, campaignId);
    expect(await now(), 'what is known is not called cancelled').to.include({ sent: 1, cancelled: 5 });
    const { generation } = await database.db('campaigns').where({ id: campaignId }).first('generation');
    expect(await advance(generation)).to.include({ kind: 'wait' });
    expect((await row(b)).status).to.equal('PENDING');
    await takeTurn(database.db, [], [end(b), end(c)]);
    await bookCampaign(database.db, campaignId);
    expect(await advance(generation)).to.include({ kind: 'end' });
    expect(await now()).to.include({ sent: 3, cancelled: 3, pending: 0 });
  });

  it('count as sent, without address, when the contact is deleted meanwhile', async () => {
    const [a] = mails as [Mail];
    await begin(a);
    await deleteContacts(database.db, project.id, [a.contactId]);
    await takeTurn(database.db, [], [end(a, { ...SENT, answer: `250 Ok for ${a.email}` })]);
    await bookCampaign(database.db, campaignId);
    expect(await row(a)).to.include({ status: 'SENT', toEmail: null, reason: null });
    expect(await database.db('emailAttempts').where({ emailId: a.id }).first()).to.include({
      outcome: 'sent',
      answer: null,
    });
    expect(await now()).to.include({ sent: 1, skipped: 0, pending: 5 });
  });

  it('keep no address of a contact that is deleted while they are persisted', async () => {
    const [a, b] = mails as [Mail, Mail];
    await begin(a, b);
    await takeTurn(
      database.db,
      [],
      [a, b].map((mail) => end(mail, { ...SENT, answer: `250 Ok for ${mail.email}` })),
    );
    const from = `news@${project.senderDomain}`;
    let booking: Promise<void> | undefined;
    await database.db.transaction(async (trx) => {
      await deleteContacts(trx, project.id, [a.contactId]);
      booking = booker(database.db)([a, b].map(({ id }) => ({ id, from })));
      await eventually(async () => (await waitingForLocks()) > 0, { what: 'the booking to wait' });
    });
    await booking;
    expect(await row(a)).to.include({ status: 'SENT', toEmail: null, reason: null });
    expect(await row(b)).to.include({ status: 'SENT', toEmail: b.email });
    const answers = await database
      .db('emailAttempts')
      .whereIn('emailId', [a.id, b.id])
      .orderBy('emailId')
      .select('answer');
    expect(answers.map(({ answer }) => answer)).to.deep.equal([null, `250 Ok for ${b.email}`]);
    await publishResults(database.db);
    const events = await database.db('events').where({ emailId: a.id });
    expect(JSON.stringify(events)).not.to.contain(a.email);
    expect(await now()).to.include({ sent: 2, skipped: 0, pending: 4 });
  });

  it('are at most twice as many as the connections, and one that ends lets the next start', async () => {
    const { signal } = new AbortController();
    const turns = new Turns<TestEnd>(database.db, 2);
    const begun: Begin[] = [];
    const all = mails.map(async (mail) => {
      const answer = await turns.begin({ ...ask(mail), signal });
      if (answer) begun.push(answer);
    });
    await Promise.all(all.slice(0, 4));
    expect(await onWire()).to.have.lengthOf(4);
    expect(begun).to.have.lengthOf(4);
    const [a, b] = mails as [Mail, Mail];
    expect(await Promise.all([told(turns, a), told(turns, b)])).to.deep.equal([true, true]);
    await Promise.all(all);
    expect(begun.map(({ verdict }) => verdict)).to.deep.equal(mails.map(() => 'go'));
    expect(await database.db('campaignMailsInFlight').where({ campaignId, endedAt: null })).to.have.lengthOf(4);
  });

  it('are written separately for two campaigns', async () => {
    const { signal } = new AbortController();
    const turns = new Turns<TestEnd>(database.db, 10);
    const [a, b, c] = mails as [Mail, Mail, Mail];
    const stranger = { ...ask(b), campaignId: (await startCampaign(database.db, project)).id, signal };
    const begun = await Promise.all([
      turns.begin({ ...ask(a), signal }),
      turns.begin(stranger),
      turns.begin({ ...ask(c), signal }),
    ]);
    // That campaign is not frozen yet and has no such mail.
    expect(begun.map((answer) => answer?.verdict)).to.deep.equal(['go', 'passed over', 'go']);
    expect((await onWire()).map(({ emailId }) => emailId)).to.have.members([a.id, c.id]);
  });

  it('are not started after the stop signal, even when they were waiting for a slot', async () => {
    const stopping = new AbortController();
    const turns = new Turns<TestEnd>(database.db, 1);
    const [a, b, c] = mails as [Mail, Mail, Mail];
    const asked = [a, b, c].map((mail) => turns.begin({ ...ask(mail), signal: stopping.signal }));
    await Promise.all(asked.slice(0, 2));
    stopping.abort();
    await told(turns, a);
    expect(await asked[2]).to.equal(undefined);
    expect((await onWire()).map(({ emailId }) => emailId)).to.have.members([a.id, b.id]);
  });
});
