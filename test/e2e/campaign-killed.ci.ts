import { expect } from 'chai';
import { connectDb, type Db } from '../../db/connect.ts';
import { type Client, client } from '../support/api.ts';
import { addContacts } from '../support/campaigns.ts';
import { makeProject, type TestProject } from '../support/connected-database.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/postgres.ts';
import { type Env, type ServiceProcess, startApi, startWorker } from '../support/processes.ts';
import { setMails, storedMails } from '../support/rows/mails.ts';
import { inDoubt } from '../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { type OwnNamespace, ownNamespace } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

const RECIPIENTS = 5_000;
const CONNECTIONS = 5;

interface CampaignBody {
  status: string;
  paused: boolean;
  totalRecipients: number;
  sentCount: number;
  failedCount: number;
  skippedCount: number;
  cancelledCount: number;
  unknownCount: number;
  pendingCount: number;
}

describe('a campaign while processes are killed', () => {
  let postgres: OwnPostgres | undefined;
  let temporal: OwnNamespace | undefined;
  let smtp: SmtpStandIn | undefined;
  let db: Db | undefined;
  const processes: ServiceProcess[] = [];

  after(async () => {
    await Promise.all(processes.map((process) => process.kill()));
    await db?.destroy();
    await smtp?.close();
    await postgres?.stop();
    await temporal?.close();
  });

  it('sends each of 5,000 recipients one mail or records why not, and its counts always add up', async () => {
    [postgres, temporal, smtp] = await Promise.all([startOwnPostgres(), ownNamespace(), startSmtp()]);
    const { mails, mailsTo } = smtp;
    db = connectDb({ databaseUrl: postgres.url, poolSize: 3, name: 'everpost-test' });
    const env: Env = {
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SMTP_URL: smtp.url,
      SMTP_MAX_CONNECTIONS: String(CONNECTIONS),
      RATE_LIMIT_PER_MINUTE: '0',
    };
    const project: TestProject = await makeProject(db);
    await addContacts(db, project, RECIPIENTS);
    const running = async (process: Promise<ServiceProcess>): Promise<ServiceProcess> => {
      processes.push(await process);
      return process;
    };
    let [api, worker] = await Promise.all([running(startApi(env)), running(startWorker(env))]);
    const server = (): Client => client(api.url, { authorization: `Bearer ${project.secretKey}` });

    // Rejected for now, rejected for good, and dropped before or after the mail was accepted.
    const some = (offset: number, count: number) =>
      Array.from({ length: count }, (_, n) => `p${offset + n * 97}@example.com`);
    const deferred = some(1, 15);
    const refused = some(2, 15);
    const cutBefore = some(3, 3);
    const cutAfter = some(4, 3);
    for (const to of deferred) smtp.misbehave({ at: 'recipient', to, do: { code: 451 }, times: 1 });
    for (const to of refused) smtp.misbehave({ at: 'recipient', to, do: { code: 550, text: 'no such user' } });
    for (const to of cutBefore) smtp.misbehave({ at: 'message', to, do: 'drop', times: 1 });
    for (const to of cutAfter) smtp.misbehave({ at: 'accepted', to, do: 'drop', times: 1 });
    smtp.misbehave({ at: 'message', do: { delayMs: 4 } });

    const created = await server().post('/campaigns', {
      name: 'Spring',
      subject: 'Hi {{ name }}',
      body: '<p>{{ name }}</p>',
      audienceType: 'ALL',
      from: `news@${project.senderDomain}`,
    });
    const { id } = created.body.data;
    const act = (action: string, body?: object) => server().post(`/campaigns/${id}/${action}`, body);
    expect(await act('send')).to.have.status(200);

    let reads = 0;
    let isOver = false;
    const readCampaign = async (): Promise<CampaignBody | undefined> => {
      const answer = await server()
        .get(`/campaigns/${id}`)
        .catch(() => undefined);
      if (answer?.status !== 200) return undefined;
      const campaign: CampaignBody = answer.body;
      const { sentCount, failedCount, skippedCount, cancelledCount, unknownCount, pendingCount } = campaign;
      const sum = sentCount + failedCount + skippedCount + cancelledCount + unknownCount + pendingCount;
      // Before the freeze all counts are 0.
      if (sum > 0) expect(sum).to.equal(campaign.totalRecipients);
      reads++;
      return campaign;
    };
    const watching = (async () => {
      while (!isOver) {
        await readCampaign();
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })();

    const kill = async () => {
      await worker.kill();
      worker = await running(startWorker(env));
    };
    await smtp.received(600);
    await kill();

    await smtp.received(1_500);
    expect((await act('pause')).body).to.include({ paused: true });
    // Only mails that had begun may still arrive.
    const begun = new Set((await inDoubt(db)).map(({ emailId }) => emailId));
    expect(begun.size).to.be.at.most(2 * CONNECTIONS);
    const arrivedBefore = mails.length;
    const sentBeforePause = await eventually(async () => {
      const before = mails.length;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return before === mails.length && before;
    });
    const arrivedAfter = mails.slice(arrivedBefore).map(({ messageId }) => messageId?.slice(1).split('@')[0]);
    for (const late of arrivedAfter) expect(begun).to.include(late);
    expect((await act('resume')).body).to.include({ paused: false });

    await smtp.received(sentBeforePause + 500);
    await postgres.stop();
    await postgres.start();

    await smtp.received(sentBeforePause + 1_000);
    const [restarted] = await Promise.all([api.kill().then(() => running(startApi(env))), kill()]);
    api = restarted;

    await smtp.received(4_200);
    await kill();

    // Deferred recipients are made due at once, instead of after their minute.
    await eventually(async () => ((await readCampaign())?.pendingCount ?? RECIPIENTS) <= deferred.length);
    const database = db;
    await eventually(async () => {
      await setMails(database, { campaignId: id, status: 'PENDING' }, { dueAt: new Date() });
      await server().patch(`/campaigns/${id}`, { ratePerMinute: null });
      return (await readCampaign())?.status === 'SENT';
    });
    isOver = true;
    await watching;
    expect(reads).to.be.greaterThan(50);

    // Every recipient has one accepted mail or a visible reason.
    const recipients = await storedMails(database, { campaignId: id }).select('toEmail', 'status', 'reason');
    expect(recipients).to.have.lengthOf(RECIPIENTS);
    const copies = new Map<string, number>();
    for (const { to } of mails) copies.set(to[0] ?? '', (copies.get(to[0] ?? '') ?? 0) + 1);
    expect([...copies].filter(([, count]) => count > 1)).to.deep.equal([]);
    for (const { toEmail, status, reason } of recipients) {
      if (status === 'SENT') expect(copies.get(toEmail), toEmail).to.equal(1);
      else expect(reason, `${toEmail} ${status}`).to.be.a('string');
    }
    const withStatus = (status: string) => recipients.filter((recipient) => recipient.status === status);
    expect(withStatus('FAILED').map(({ toEmail }) => toEmail)).to.have.members(refused);
    // A kill may have hit a second attempt, whose outcome is unknown then.
    const unknownAddresses = new Set(withStatus('UNKNOWN').map(({ toEmail }) => toEmail));
    const delivered = deferred.filter((address) => !unknownAddresses.has(address));
    expect(delivered).to.not.deep.equal([]);
    for (const address of delivered) expect(mailsTo(address), address).to.have.lengthOf(1);
    // In flight when a worker was killed (three times) or the database was unavailable, or dropped by the server.
    const unknown = withStatus('UNKNOWN');
    expect(unknown.length).to.be.at.most(cutBefore.length + cutAfter.length + 4 * 2 * CONNECTIONS);
    expect(withStatus('SENT').length + withStatus('FAILED').length + unknown.length).to.equal(RECIPIENTS);
    expect(await readCampaign()).to.include({
      unknownCount: unknown.length,
      failedCount: refused.length,
      pendingCount: 0,
    });

    expect((await act('resolve', { action: 'close' })).body).to.deep.equal({ resolved: unknown.length });
    expect(await readCampaign()).to.include({ unknownCount: 0, failedCount: refused.length + unknown.length });
    expect(mails.length).to.equal(copies.size);
  });
});
