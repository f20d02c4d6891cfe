import { expect } from 'chai';
import { connectDb, type Db } from '../../../db/connect.ts';
import { freezeAudience } from '../../../services/campaigns/freeze.ts';
import { sendEmails } from '../../../services/emails/send.ts';
import { CampaignLeases } from '../../../services/sending/campaign-leases.ts';
import { SenderLease } from '../../../services/sending/lease.ts';
import { addContacts, startCampaign } from '../../support/campaigns.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../../support/connected-database.ts';
import { bloatOutgoingMails } from '../../support/rows/mails.ts';
import { counts, longLease, testSender } from '../../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';
import { eventually } from '../../support/waiting.ts';

const MAILS = 2_000;
const RECIPIENTS = 5_000;
/** Tables that grow with every mail, with their partitions. */
const LARGE = ['emails', 'email_contents', 'contacts', 'events'];

describe('accepting and sending on a fresh database', () => {
  let database: ConnectedDatabase;
  let smtp: SmtpStandIn;

  before(async () => {
    [database, smtp] = await Promise.all([connectTestDatabase(), startSmtp()]);
  });
  after(async () => {
    await smtp.close();
    await database.close();
  });

  /** How often each large table or partition was read as a whole. */
  async function scans(db: Db): Promise<Record<string, number>> {
    const { rows } = await db.raw(
      `select relname as name, seq_scan::integer as scans from pg_stat_user_tables
       where schemaname = 'public' and relname ~ ? order by relname`,
      [`^(${LARGE.join('|')})(_\\d{4}_\\d\\d|_default)?$`],
    );
    return Object.fromEntries(rows.map(({ name, scans }: { name: string; scans: number }) => [name, scans]));
  }

  /** Connections report their numbers some time after their statements. */
  const reported = (db: Db, count: number) =>
    eventually(
      async () => {
        const { rows } = await db.raw(
          `select n_tup_upd::integer as updated from pg_stat_user_tables where relname = 'emails'`,
        );
        return rows[0].updated >= count;
      },
      { what: 'the statistics of all connections' },
    );

  it(`reads no large table as a whole while ${MAILS} mails are accepted and sent`, async () => {
    const project = await makeProject(database.db);
    // As the API does: a pool whose statements are prepared while the tables are empty.
    const api = connectDb({ databaseUrl: database.url, poolSize: 10, name: 'everpost-api' });
    const sending = testSender(database.url, { url: smtp.url, connections: 5 });
    const content = { from: { email: `shop@${project.senderDomain}` }, subject: 'Hello', body: '<p>Hello</p>' };
    const accept = async (from: number, to: number) => {
      for (let n = from; n < to; n += 10)
        await Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            sendEmails(api, project.access, { ...content, to: [{ email: `p${n + index}@example.com` }] }),
          ),
        );
    };
    await accept(0, 50);
    expect(await sending.send()).to.deep.equal(counts({ sent: 50 }));
    await reported(database.db, 50);
    const before = await scans(database.db);
    const run = sending.send({ stop: new AbortController().signal });
    await accept(50, MAILS);
    const { sent } = await run;
    const rest = await sending.send();
    expect(sent + rest.sent).to.equal(MAILS - 50);
    await sending.close();
    await api.destroy();
    await reported(database.db, MAILS);
    expect(smtp.mails).to.have.length(MAILS);
    expect(await scans(database.db)).to.deep.equal(before);
    expect(Object.keys(before)).to.include.members(LARGE);
  });

  it('reads few mails of a large campaign to find out that it has due mail', async () => {
    const project = await makeProject(database.db);
    await addContacts(database.db, project, RECIPIENTS);
    const { id } = await startCampaign(database.db, project);
    await freezeAudience(database.db, id);
    // As after much mail: the queue of outgoing mail is empty, and its index is still large.
    await bloatOutgoingMails(database.db, 20_000);
    // One connection, which reports its own numbers.
    const db = connectDb({ databaseUrl: database.url, poolSize: 1, onlyLookups: true });
    const read = async (): Promise<number> => {
      await db.raw('select pg_stat_force_next_flush()');
      const { rows } = await db.raw(
        `select idx_tup_read::integer as read from pg_stat_user_indexes where indexrelname = 'emails_campaign_due'`,
      );
      return rows[0].read;
    };
    const before = await read();
    const lease = await SenderLease.take(db, longLease);
    const leased = await new CampaignLeases(db, lease.id).leaseNext(10);
    expect(leased?.mails).to.have.length(10);
    expect((await read()) - before).to.be.within(10, RECIPIENTS / 10);
    await db('outgoing_mails').del();
    await lease.release();
    await db.destroy();
  });
});
