import { expect } from 'chai';
import { inTransaction } from '../../../db/connect.ts';
import { advanceCampaign } from '../../../services/campaigns/advance.ts';
import { cancelCampaign, pauseCampaign } from '../../../services/campaigns/steer.ts';
import type { AttemptResult, LoggedAttempt } from '../../../services/emails/attempts.ts';
import {
  persistCampaignResults,
  persistLateResult,
  ResultPersister,
} from '../../../services/emails/persist-results.ts';
import { publishResults } from '../../../services/emails/publish-results.ts';
import { deleteContacts } from '../../../services/removal/contact.ts';
import { CampaignLeases } from '../../../services/sending/campaign-leases.ts';
import { SenderLease } from '../../../services/sending/lease.ts';
import { resultColumns } from '../../../services/sending/ledger.ts';
import { recoverMails } from '../../../services/sending/recovery.ts';
import { matchEvents } from '../../../services/workflows/match-events.ts';
import { addContacts, limits, standing, startCampaign } from '../../support/campaigns.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { insertWorkflow } from '../../support/executions.ts';
import { billingDeltas } from '../../support/rows/billing.ts';
import { setCampaigns, storedCampaigns } from '../../support/rows/campaigns.ts';
import { storedContacts } from '../../support/rows/contacts.ts';
import { storedEvents } from '../../support/rows/events.ts';
import {
  addUnpublishedResult,
  outgoingMails,
  setMails,
  storedMails,
  unpublishedResults,
} from '../../support/rows/mails.ts';
import { blockedConnections, emptyTables } from '../../support/rows/tables.ts';
import { storedExecutions } from '../../support/rows/workflows.ts';
import { endLeases, longLease } from '../../support/sending.ts';
import { eventually } from '../../support/waiting.ts';

const SENT: AttemptResult = {
  status: 'SENT',
  reason: null,
  outcome: 'sent',
  providerMessageId: 'q1',
  answer: '250 Ok',
};
const REFUSED: AttemptResult = { status: 'FAILED', reason: '550 no', outcome: 'refused' };

interface Mail {
  id: string;
  contactId: string;
  email: string;
}

interface End {
  id: string;
  number: number;
  result: AttemptResult;
}

describe('campaign mails in flight', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let campaignId: string;
  let lease: SenderLease;
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
    lease = await SenderLease.take(database.db, longLease);
    await new CampaignLeases(database.db, lease.id).leaseNext(100);
    mails = await database
      .db('emails as e')
      .join('contacts as k', 'k.id', 'e.contactId')
      .where({ campaignId })
      .orderBy('e.id')
      .select('e.id', 'e.contactId', 'k.email');
  });
  afterEach(async () => {
    await lease.release();
    await emptyTables(database.db, 'outgoing_mails');
    await setCampaigns(database.db, {}, { status: 'CANCELLED' });
  });

  const advance = (generation: number) =>
    advanceCampaign({ db: database.db, limits, now: () => new Date() }, { campaignId, generation });
  /** Stores results and begins mails, as a sender does. */
  const write = async (begun: Mail[], ended: End[], senderId = lease.id) => {
    const { rows } = await database.db.raw(
      `select * from write_outgoing_mails(?, ?::uuid[], ?::text[], ?::text[], ?::text[], ?::text[], ?::uuid[],
        ?::uuid[], ?::integer[], ?::jsonb)`,
      [
        senderId,
        begun.map(({ id }) => id),
        begun.map(({ email }) => email),
        Array<string | null>(begun.length).fill(null) as string[],
        begun.map(() => project.senderDomain),
        begun.map(() => 'relay:25'),
        [campaignId],
        ...(resultColumns(ended) as string[]),
      ],
    );
    return rows as { id: string; verdict: string; number: number }[];
  };
  const begin = async (...some: Mail[]): Promise<string[]> => {
    const verdicts = new Map((await write(some, [])).map(({ id, verdict }) => [id, verdict]));
    return some.map(({ id }) => verdicts.get(id) ?? 'none');
  };
  const end = ({ id }: Mail, result = SENT): End => ({ id, number: 1, result });
  const persist = (some: Mail[], { billing = false } = {}): Promise<void> => {
    const persister = new ResultPersister(database.db, { billing });
    persister.add(some.map(({ id }) => ({ id, from: `news@${project.senderDomain}` })));
    return persister.idle();
  };
  const row = ({ id }: Mail) => storedMails(database.db, { id }).first();
  const logOf = async (mail: Mail): Promise<LoggedAttempt[]> => (await row(mail)).attemptLog ?? [];
  const begun = () => outgoingMails(database.db, { campaignId }).whereNotNull('startedAt');
  const now = () => standing(database.db, project, campaignId);

  it('are not begun by their lease', async () => {
    expect(await outgoingMails(database.db, { campaignId })).to.have.lengthOf(6);
    expect(await begun()).to.deep.equal([]);
    expect(await now()).to.include({ pending: 6 });
  });

  it('are begun once, also when the sender asks again because the answer was lost', async () => {
    const [a, b] = mails as [Mail, Mail];
    expect(await begin(a, b)).to.deep.equal(['go', 'go']);
    expect(await begin(b, a)).to.deep.equal(['go', 'go']);
    expect((await begun()).map(({ number }) => number)).to.deep.equal([1, 1]);
    await write([], [end(a)]);
    expect(await begin(a)).to.deep.equal(['gone']);
  });

  it('are not begun by a sender that has not leased them', async () => {
    const other = await SenderLease.take(database.db, longLease);
    const answers = await write(mails, [], other.id);
    expect(answers.map(({ verdict }) => verdict)).to.deep.equal(mails.map(() => 'gone'));
    expect(await begun()).to.deep.equal([]);
    await other.release();
  });

  it('are not begun under an expired lease', async () => {
    await endLeases(database.db);
    expect(await begin(...mails)).to.deep.equal(mails.map(() => 'lost'));
    expect(await begun()).to.deep.equal([]);
  });

  it('are not begun once a pause was answered', async () => {
    const [a, b] = mails as [Mail, Mail];
    expect(await begin(a)).to.deep.equal(['go']);
    await pauseCampaign(database.db, project.access, campaignId);
    expect(await begin(b)).to.deep.equal(['stopped']);
    expect(await begun()).to.have.lengthOf(1);
  });

  it('are not begun by a call that has waited for a pause', async () => {
    const [a] = mails as [Mail];
    let beginning: Promise<string[]> | undefined;
    await inTransaction(database.db, async (trx) => {
      await pauseCampaign(trx, project.access, campaignId);
      beginning = begin(a);
      await eventually(async () => (await blockedConnections(database.db)).length > 0, { what: 'the mail to wait' });
    });
    expect(await beginning).to.deep.equal(['stopped']);
  });

  it('are persisted with status, attempt, address and answer', async () => {
    const [a, b, c] = mails as [Mail, Mail, Mail];
    await begin(a, b, c);
    const deferred: AttemptResult = {
      status: 'PENDING',
      reason: '451 later',
      outcome: 'deferred',
      retryAfterSeconds: 60,
    };
    expect(await write([], [end(a), end(b, REFUSED), end(c, deferred)])).to.deep.equal([]);
    expect(await now()).to.include({ pending: 6, sent: 0 });
    await persistCampaignResults(database.db, campaignId);
    expect(await now()).to.include({ pending: 4, sent: 1, failed: 1 });
    const sent = await row(a);
    const failed = await row(b);
    const waiting = await row(c);
    expect(sent).to.include({ status: 'SENT', attempts: 1, toEmail: a.email, providerMessageId: 'q1' });
    expect(sent.sentAt).to.be.instanceOf(Date);
    expect(failed).to.include({ status: 'FAILED', reason: '550 no', attempts: 1 });
    expect(waiting).to.include({ status: 'PENDING', reason: '451 later', attempts: 1 });
    expect(waiting.dueAt).to.be.greaterThan(new Date());
    const attempts = (await Promise.all([a, b, c].map(logOf))).flat();
    expect(attempts.map(({ number, relay, outcome, answer }) => [number, relay, outcome, answer])).to.deep.equal([
      [1, 'relay:25', 'sent', '250 Ok'],
      [1, 'relay:25', 'refused', '550 no'],
      [1, 'relay:25', 'deferred', '451 later'],
    ]);
    expect(await unpublishedResults(database.db, [a.id, b.id, c.id])).to.have.lengthOf(2);
    expect(await begun()).to.deep.equal([]);
  });

  it('are published when their sender persists them, with billing deltas when billing is on', async () => {
    const [a, b, c] = mails as [Mail, Mail, Mail];
    await begin(a, b, c);
    await write([], [end(a), end(b, REFUSED), end(c)]);
    await persist([a, b, c], { billing: true });
    const from = `news@${project.senderDomain}`;
    const events = await storedEvents(database.db, {}).whereIn('emailId', [a.id, b.id, c.id]);
    const byMail = Object.fromEntries(events.map(({ emailId, name, data }) => [emailId, { name, ...data }]));
    expect(events).to.have.lengthOf(3);
    expect(byMail[a.id]).to.include({ name: 'email.sent', providerMessageId: 'q1', campaignId, from });
    expect(byMail[a.id].subject).to.equal('Hello {{ name }}');
    expect(byMail[a.id].messageId).to.equal(`<${a.id}@${project.senderDomain}>`);
    expect(byMail[b.id]).to.include({ name: 'email.failed', reason: '550 no' });
    expect(await unpublishedResults(database.db, [a.id, b.id, c.id])).to.deep.equal([]);
    const deltas = await billingDeltas(database.db, project.id);
    expect(deltas).to.deep.equal([{ sourceType: 'CAMPAIGN', count: 2 }]);
    // The results publisher records the same event.
    await addUnpublishedResult(database.db, c.id, c.contactId);
    await publishResults(database.db);
    const again = await storedEvents(database.db, { emailId: c.id });
    expect(again.map(({ name, data }) => ({ name, ...data }))).to.deep.equal([byMail[c.id], byMail[c.id]]);
  });

  it('start the workflows that are triggered by their events', async () => {
    const [a, b] = mails as [Mail, Mail];
    const drawn = await insertWorkflow(database.db, project, {
      steps: { rest: ['DELAY', { amount: 1, unit: 'days' }] },
      workflow: { triggerConfig: JSON.stringify({ eventName: 'email.failed' }) },
    });
    await begin(a, b);
    await write([], [end(a), end(b, REFUSED)]);
    await persist([a, b]);
    await matchEvents(database.db);
    const executions = await storedExecutions(database.db, { workflowId: drawn.id });
    expect(executions).to.have.lengthOf(1);
    expect(executions[0]).to.include({ contactId: b.contactId, status: 'RUNNING' });
    expect(executions[0].context).to.include({ emailId: b.id, reason: '550 no' });
  });

  it('are left to the results publisher when the contact is locked or there was an earlier attempt', async () => {
    const [a, b, c] = mails as [Mail, Mail, Mail];
    await setMails(database.db, { id: b.id }, { attempts: 1 });
    await begin(a, b, c);
    await write([], [end(a), { ...end(b), number: 2 }, end(c)]);
    await database.db.transaction(async (trx) => {
      await storedContacts(trx, { id: a.contactId }).forUpdate().select('id');
      await persist([a, b, c]);
    });
    expect(await now()).to.include({ sent: 3, pending: 3 });
    expect(await row(a)).to.include({ status: 'SENT', toEmail: a.email });
    const recorded = () => storedEvents(database.db, {}).whereIn('emailId', [a.id, b.id, c.id]).pluck('name');
    expect(await recorded()).to.deep.equal(['email.sent']);
    expect(await unpublishedResults(database.db, [a.id, b.id])).to.have.lengthOf(2);
    await publishResults(database.db);
    expect(await recorded()).to.deep.equal(['email.sent', 'email.sent', 'email.sent']);
  });

  it('are put back without an attempt when they were not offered', async () => {
    const [a] = mails as [Mail];
    await begin(a);
    const notOffered: AttemptResult = { status: 'PENDING', reason: 'stopped before it was sent', outcome: null };
    await write([], [end(a, notOffered)]);
    await persistCampaignResults(database.db, campaignId);
    expect(await row(a)).to.include({ status: 'PENDING', attempts: 0, toEmail: null, attemptLog: null });
    await new CampaignLeases(database.db, lease.id).leaseNext(100);
    expect(await begin(a)).to.deep.equal(['go']);
  });

  it('become UNKNOWN when their sender has lost its lease; known results are persisted', async () => {
    const [a, b] = mails as [Mail, Mail];
    await begin(a, b);
    await write([], [end(a)]);
    await endLeases(database.db);
    await recoverMails(database.db);
    expect(await now()).to.include({ pending: 4, sent: 1, unknown: 1 });
    expect((await row(b)).reason).to.contain('the worker was interrupted');
    // A late result is accepted once.
    expect((await write([], [end(b)])).map(({ id, verdict }) => [id, verdict])).to.deep.equal([[b.id, 'late']]);
    expect(await persistLateResult(database.db, end(b), SENT)).to.equal(true);
    expect(await persistLateResult(database.db, end(b), SENT)).to.equal(false);
    expect(await now()).to.include({ pending: 4, sent: 2, unknown: 0 });
    expect((await logOf(b)).map(({ outcome }) => outcome)).to.deep.equal(['sent']);
  });

  it('are recovered while their campaign is paused, and never under a valid lease', async () => {
    const [a, b] = mails as [Mail, Mail];
    await begin(a, b);
    await write([], [end(a)]);
    await recoverMails(database.db);
    expect(await begun()).to.have.lengthOf(2);
    await pauseCampaign(database.db, project.access, campaignId);
    expect(await now(), 'what is known counts when the pause is answered').to.include({ pending: 5, sent: 1 });
    await endLeases(database.db);
    await recoverMails(database.db);
    expect(await now()).to.include({ pending: 4, sent: 1, unknown: 1 });
  });

  it('are persisted by another process when the one that stored the result is gone', async () => {
    const [a, ...others] = mails as [Mail, ...Mail[]];
    await begin(a);
    await write([], [end(a)]);
    await endLeases(database.db);
    expect(await recoverMails(database.db), 'with those that had not begun').to.equal(1 + others.length);
    expect(await row(a)).to.include({ status: 'SENT', attempts: 1 });
    for (const other of others) expect(await row(other)).to.include({ status: 'PENDING', attempts: 0 });
  });

  it('keep their results when the campaign is cancelled', async () => {
    const [a, b, c] = mails as [Mail, Mail, Mail];
    await begin(a, b, c);
    await write([], [end(a)]);
    await cancelCampaign(database.db, project.access, campaignId);
    expect(await now(), 'what is known is not called cancelled').to.include({ sent: 1, cancelled: 5 });
    const { generation } = await storedCampaigns(database.db, { id: campaignId }).first('generation');
    expect(await advance(generation)).to.include({ kind: 'wait' });
    expect((await row(b)).status).to.equal('PENDING');
    await write([], [end(b), end(c)]);
    await persistCampaignResults(database.db, campaignId);
    expect(await advance(generation)).to.include({ kind: 'end' });
    expect(await now()).to.include({ sent: 3, cancelled: 3, pending: 0 });
  });

  it('count as sent, without address, when the contact is deleted meanwhile', async () => {
    const [a] = mails as [Mail];
    await begin(a);
    await deleteContacts(database.db, project.id, [a.contactId]);
    await write([], [end(a, { ...SENT, answer: `250 Ok for ${a.email}` })]);
    await persistCampaignResults(database.db, campaignId);
    expect(await row(a)).to.include({ status: 'SENT', toEmail: null, reason: null });
    expect((await logOf(a))[0]).to.include({ outcome: 'sent', answer: null });
    expect(await now()).to.include({ sent: 1, skipped: 0, pending: 5 });
  });

  it('keep no address of a contact that is deleted while they are persisted', async () => {
    const [a, b] = mails as [Mail, Mail];
    await begin(a, b);
    await write(
      [],
      [a, b].map((mail) => end(mail, { ...SENT, answer: `250 Ok for ${mail.email}` })),
    );
    let persisting: Promise<void> | undefined;
    await database.db.transaction(async (trx) => {
      await deleteContacts(trx, project.id, [a.contactId]);
      persisting = persist([a, b]);
      await eventually(async () => (await blockedConnections(database.db)).length > 0, {
        what: 'the persister to wait',
      });
    });
    await persisting;
    expect(await row(a)).to.include({ status: 'SENT', toEmail: null, reason: null });
    expect(await row(b)).to.include({ status: 'SENT', toEmail: b.email });
    const answers = (await Promise.all([a, b].map(logOf))).flat().map(({ answer }) => answer);
    expect(answers).to.deep.equal([null, `250 Ok for ${b.email}`]);
    await publishResults(database.db);
    const events = await storedEvents(database.db, { emailId: a.id });
    expect(JSON.stringify(events)).not.to.contain(a.email);
    expect(await now()).to.include({ sent: 2, skipped: 0, pending: 4 });
  });

  it('leave no trace of a campaign mail whose contact is deleted before it begins', async () => {
    const [a] = mails as [Mail];
    await deleteContacts(database.db, project.id, [a.contactId]);
    expect(await begin(a)).to.deep.equal(['gone']);
    expect(await now()).to.include({ skipped: 1, pending: 5 });
  });
});
