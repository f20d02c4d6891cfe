import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import {
  moveRecipients,
  moveRecipientsOfCampaign,
  persistRecipients,
} from '../../../services/emails/persist-recipients.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase } from '../../support/database-functions.ts';

const FIRST = '00000000-0000-0000-0000-000000000000';
const SENT = { status: 'SENT', reason: null, outcome: 'sent', providerMessageId: 'p1', answer: '250 ok' };
const LOST = { status: 'UNKNOWN', reason: 'interrupted', outcome: 'unknown' };

interface Recipient {
  id: string;
  contactId: string;
  email: string;
}

describe('database functions of recipients', () => {
  let database: FunctionTestDatabase;
  let senderId: string;
  let campaignId: string;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(async () => {
    await database.renew();
    await database.db.raw('truncate campaign_recipients, senders, emails, counter_deltas');
    senderId = await addSender();
    campaignId = await database.addCampaign({ status: 'SENDING', type: 'MARKETING' });
  });
  after(() => database.close());

  const addSender = async (leaseUntil = new Date(Date.now() + 60_000)): Promise<string> => {
    const id = newId();
    await database.db('senders').insert({ id, leaseUntil });
    return id;
  };
  const add = async (contact: object = {}): Promise<Recipient> => {
    const email = `${newId()}@example.com`;
    const contactId = await database.addContact({ email, ...contact });
    const id = newId();
    await database
      .db('campaign_recipients')
      .insert({ emailId: id, projectId: database.projectId, campaignId, contactId });
    return { id, contactId, email };
  };
  const lease = (limit = 10, after = FIRST, sender = senderId) =>
    database.rows('select * from lease_recipients(?, ?, ?, ?)', [sender, campaignId, limit, after]);
  const write = (begun: Recipient[], ended: Recipient[] = [], results: object[] = [], sender = senderId) =>
    database.rows('select * from write_recipients(?, ?, ?, ?, ?, ?, ?, ?, ?)', [
      sender,
      begun.map(({ id }) => id),
      begun.map(({ email }) => email),
      begun.map(() => null),
      begun.map(() => database.senderDomain),
      begun.map(() => 'relay.example'),
      begun.length > 0 ? [campaignId] : [],
      ended.map(({ id }) => id),
      results.map((result) => JSON.stringify(result)),
    ]);
  const states = async () =>
    (await database.db('campaign_recipients').orderBy('emailId')).map(({ state }: { state: number }) => state);
  const verdicts = async (begun: Recipient[], sender = senderId) =>
    (await write(begun, [], [], sender)).map(({ id, verdict, reason }) => ({ id, verdict, reason }));
  const counted = async () => {
    const rows = await database.db('counter_deltas').where({ subject: `campaign/${campaignId}` });
    return rows.map(({ counts }: { counts: object }) => counts);
  };

  it('leases each waiting recipient once, in the order of the freeze, with its contact', async () => {
    const [first, second] = [await add({ data: { name: 'Ann' } }), await add()];
    const [leased, ...others] = await lease(1);
    expect(others).to.deep.equal([]);
    expect(leased).to.deep.include({
      id: first?.id,
      contact_id: first?.contactId,
      email: first?.email,
      subscribed: true,
    });
    expect(leased?.data).to.deep.equal({ name: 'Ann' });
    expect((await lease(10, first?.id)).map(({ id }) => id)).to.deep.equal([second?.id]);
    expect(await lease()).to.deep.equal([]);
    expect(await lease(10, FIRST, await addSender())).to.deep.equal([]);
    expect(await states()).to.deep.equal([1, 1]);
  });

  it('leases nothing of a campaign that is not sending, or to a sender without a lease', async () => {
    await add();
    const change = (columns: object) => database.db('campaigns').where({ id: campaignId }).update(columns);
    await change({ paused: true, pausedBy: 'USER' });
    expect(await lease()).to.deep.equal([]);
    await change({ paused: false, pausedBy: null, status: 'CANCELLED' });
    expect(await lease()).to.deep.equal([]);
    await change({ status: 'SENDING' });
    expect(await lease(10, FIRST, await addSender(new Date(Date.now() - 1_000)))).to.deep.equal([]);
  });

  it('begins what it leases, and says nothing of it', async () => {
    const mail = await add();
    await lease();
    expect(await verdicts([mail])).to.deep.equal([]);
    expect(await states()).to.deep.equal([2]);
    // Its first answer was lost.
    expect(await verdicts([mail])).to.deep.equal([]);
    expect(await states()).to.deep.equal([2]);
  });

  it('begins nothing that it does not lease, that is gone, or after its lease', async () => {
    const mail = await add();
    expect(await verdicts([mail])).to.deep.equal([{ id: mail.id, verdict: 'gone', reason: null }]);
    await lease();
    const other = await addSender();
    expect(await verdicts([mail], other)).to.deep.equal([{ id: mail.id, verdict: 'gone', reason: null }]);
    const missing = { ...mail, id: newId() };
    expect(await verdicts([missing])).to.deep.equal([{ id: missing.id, verdict: 'gone', reason: null }]);
    await database
      .db('senders')
      .where({ id: senderId })
      .update({ leaseUntil: new Date(0) });
    expect(await verdicts([mail])).to.deep.equal([{ id: mail.id, verdict: 'lost', reason: null }]);
    expect(await states()).to.deep.equal([1]);
  });

  it('begins nothing that may not be sent any more, and the others of the same write', async () => {
    const [good, unsubscribed, deleted, moved, suppressed] = [
      await add(),
      await add(),
      await add(),
      await add(),
      await add(),
    ];
    await lease();
    const contact = ({ contactId }: Recipient) => database.db('contacts').where({ id: contactId });
    await contact(unsubscribed).update({ subscribed: false });
    await contact(deleted).del();
    await contact(moved).update({ email: `${newId()}@example.com` });
    await database.db('suppressions').insert({
      id: newId(),
      projectId: database.projectId,
      email: suppressed.email,
      addressHash: database.db.raw('address_hash(?, ?)', [database.projectId, suppressed.email]),
      reason: 'MANUAL',
    });
    expect(await verdicts([good, unsubscribed, deleted, moved, suppressed])).to.have.deep.members([
      { id: unsubscribed.id, verdict: 'skip', reason: 'unsubscribed' },
      { id: deleted.id, verdict: 'skip', reason: 'contact deleted' },
      { id: moved.id, verdict: 'changed', reason: null },
      { id: suppressed.id, verdict: 'skip', reason: 'suppressed' },
    ]);
    expect(await states()).to.deep.equal([2, 1, 1, 1, 1]);
  });

  it('begins nothing of a paused campaign or a blocked project, and still stores results', async () => {
    const [sent, waiting] = [await add(), await add()];
    await lease();
    await write([sent]);
    await database.db('campaigns').where({ id: campaignId }).update({ paused: true, pausedBy: 'USER' });
    expect(await write([waiting], [sent], [SENT])).to.deep.equal([
      { id: waiting.id, verdict: 'stopped', reason: null },
    ]);
    expect(await states()).to.deep.equal([3, 1]);
    await database.db('campaigns').where({ id: campaignId }).update({ paused: false, pausedBy: null });
    await database.db('projects').where({ id: database.projectId }).update({ disabled: true });
    expect(await verdicts([waiting])).to.deep.equal([
      { id: waiting.id, verdict: 'blocked', reason: 'project disabled' },
    ]);
  });

  it('takes a result once, a late one instead of an unknown outcome, and names one that has left', async () => {
    const mail = await add();
    await lease();
    await write([mail]);
    const stored = async () => JSON.parse((await database.db('campaign_recipients').first()).result);
    await write([], [mail], [LOST]);
    expect(await stored()).to.include({ status: 'UNKNOWN' });
    expect(await write([], [mail], [SENT])).to.deep.equal([]);
    await write([], [mail], [{ ...SENT, status: 'FAILED', outcome: 'refused' }]);
    expect(await stored()).to.include({ status: 'SENT' });
    await persistRecipients(database.db, [[mail.id]]);
    expect(await write([], [mail], [SENT])).to.deep.equal([{ id: mail.id, verdict: 'late', reason: null }]);
  });

  it('updates a row in place', async () => {
    const mails = await Promise.all(Array.from({ length: 40 }, () => add()));
    await lease(40);
    await write(mails);
    await write(
      [],
      mails,
      mails.map(() => SENT),
    );
    await database.rows('select pg_stat_force_next_flush()');
    const { rows } = await database.db.raw(
      `select sum(n_tup_hot_upd)::integer as hot, sum(n_tup_upd)::integer as all from pg_stat_user_tables
       where relname = 'campaign_recipients'`,
    );
    expect(rows[0].hot / rows[0].all).to.be.above(0.5);
  });

  it('is a row of emails with its result, and counted once', async () => {
    const [sent, lost, deferred, waiting] = [await add(), await add(), await add(), await add()];
    const later = { status: 'PENDING', reason: 'greylisted', outcome: 'deferred', retryAfterSeconds: 60 };
    await lease();
    await write([sent, lost, deferred]);
    await write([], [sent, lost, deferred], [SENT, LOST, later]);
    const ids = [sent, lost, deferred, waiting].map(({ id }) => id);
    expect(await persistRecipients(database.db, [ids])).to.deep.equal([{ count: 3 }]);
    expect(await persistRecipients(database.db, [ids])).to.deep.equal([{ count: 0 }]);
    const rows = await database.db('emails').orderBy('id');
    expect(rows.map(({ status, attempts, unknownOutcomes }) => [status, attempts, unknownOutcomes])).to.deep.equal([
      ['SENT', 1, 0],
      ['UNKNOWN', 1, 1],
      ['PENDING', 1, 0],
    ]);
    expect(rows[0]).to.deep.include({
      campaignId,
      contactId: sent.contactId,
      toEmail: sent.email,
      providerMessageId: 'p1',
    });
    expect(rows[0].attemptLog[0]).to.include({ number: 1, outcome: 'sent', relay: 'relay.example', answer: '250 ok' });
    expect(rows[2].dueAt.getTime()).to.be.above(Date.now() + 30_000);
    expect(await counted()).to.deep.equal([{ pending: -2, sent: 1, unknown: 1 }]);
    expect(await states()).to.deep.equal([1]);
  });

  it('keeps no address of a deleted contact', async () => {
    const mail = await add();
    await lease();
    await write([mail]);
    await write([], [mail], [{ ...SENT, reason: null, answer: `250 ok ${mail.email}` }]);
    await database.db('contacts').where({ id: mail.contactId }).del();
    await persistRecipients(database.db, [[mail.id]]);
    const [row] = await database.db('emails');
    expect(row).to.include({ status: 'SENT', toEmail: null });
    expect(JSON.stringify(row)).to.not.include('@example.com');
  });

  it('is moved where it is not sent now, unless it is in flight', async () => {
    const [begun, slowed, left] = [await add(), await add(), await add()];
    await lease();
    await write([begun]);
    expect(await moveRecipients(database.db, [[begun.id, slowed.id], 'PENDING', 'slow', 60])).to.deep.equal([
      { count: 1 },
    ]);
    expect(await counted()).to.deep.equal([]);
    expect(
      await moveRecipientsOfCampaign(database.db, [campaignId, 'CANCELLED', 'campaign cancelled', 0, 100]),
    ).to.deep.equal([{ count: 1 }]);
    expect(await counted()).to.deep.equal([{ pending: -1, cancelled: 1 }]);
    expect(await states()).to.deep.equal([2]);
    const rows = await database.db('emails').orderBy('id');
    expect(rows.map(({ id, status }) => [id, status])).to.deep.equal([
      [slowed.id, 'PENDING'],
      [left.id, 'CANCELLED'],
    ]);
  });
});
