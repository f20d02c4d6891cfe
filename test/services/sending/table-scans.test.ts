import { expect } from 'chai';
import { connectDb, type Db } from '../../../db/connect.ts';
import { sendEmails } from '../../../services/emails/send.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../../support/connected-database.ts';
import { counts, testSender } from '../../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';

const MAILS = 2_000;
/** Tables that grow with every mail, with their partitions. */
const LARGE = ['emails', 'email_contents', 'contacts', 'events', 'email_contents_default'];

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

  /** Scans of whole tables, and the rows that they have read. */
  async function scans(db: Db): Promise<Map<string, { scans: number; rows: number }>> {
    const { rows } = await db.raw(
      `select relname as name, seq_scan::integer as scans, seq_tup_read::integer as rows from pg_stat_user_tables
       where schemaname = 'public' and relname ~ ?`,
      [`^(${LARGE.join('|')})(_|$)`],
    );
    return new Map(rows.map(({ name, ...read }: { name: string; scans: number; rows: number }) => [name, read]));
  }

  it(`reads no large table as a whole while ${MAILS} mails are accepted and sent`, async function () {
    this.timeout(120_000);
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
    const before = await scans(database.db);
    const run = sending.send({ stop: new AbortController().signal });
    await accept(50, MAILS);
    const { sent } = await run;
    const rest = await sending.send();
    expect(sent + rest.sent).to.equal(MAILS - 50);
    await sending.close();
    await api.destroy();
    // Connections report their numbers when they end.
    const after = await scans(database.db);
    for (const [name, read] of after) {
      const grown = read.rows - (before.get(name)?.rows ?? 0);
      expect(grown, `rows of ${name} read by sequential scans`).to.be.below(MAILS);
    }
    expect(smtp.mails).to.have.length(MAILS);
  });
});
