import { expect } from 'chai';
import { connectDb, type Db } from '../../db/connect.ts';
import { type ApiAnswer, type Client, client } from '../support/api.ts';
import { addContacts, rowsOf } from '../support/campaigns.ts';
import { makeProject } from '../support/connected-database.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/postgres.ts';
import { type Env, type ServiceProcess, startApi, startWorker } from '../support/processes.ts';
import { setMailsOf } from '../support/rows/mails.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { type OwnNamespace, ownNamespace } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

const PEOPLE = 30;
const HOUR = 3_600_000;

describe('a campaign by local time while workers are killed', () => {
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

  it('sends each email once when its moment comes, skips the rest at its end, and its sums close at every read', async () => {
    [postgres, temporal, smtp] = await Promise.all([startOwnPostgres(), ownNamespace(), startSmtp()]);
    db = connectDb({ databaseUrl: postgres.url, poolSize: 3, name: 'everpost-test' });
    const own = db;
    const env: Env = {
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SMTP_URL: smtp.url,
      RATE_LIMIT_PER_MINUTE: '0',
    };
    const project = await makeProject(db);
    await addContacts(db, project, PEOPLE);
    const running = async (process: Promise<ServiceProcess>): Promise<ServiceProcess> => {
      processes.push(await process);
      return process;
    };
    const api = await running(startApi(env));
    const server: Client = client(api.url, { authorization: `Bearer ${project.secretKey}` });
    const { body } = await server.post('/campaigns', {
      name: 'Morning',
      subject: 'Good morning',
      body: '<p>Good morning</p>',
      audienceType: 'ALL',
      from: `news@${project.senderDomain}`,
    });
    const { id } = body.data;
    const read = async (): Promise<ApiAnswer['body']> => {
      const { body: campaign } = await server.get(`/campaigns/${id}`);
      const { sentCount, failedCount, skippedCount, cancelledCount, unknownCount, pendingCount } = campaign;
      const sum = sentCount + failedCount + skippedCount + cancelledCount + unknownCount + pendingCount;
      if (campaign.status !== 'SCHEDULED') expect(sum).to.equal(campaign.totalRecipients);
      return campaign;
    };
    const reaches = (what: string, isReached: (campaign: ApiAnswer['body']) => boolean) =>
      eventually(async () => isReached(await read()), { what });

    const restart = async (old?: ServiceProcess): Promise<ServiceProcess> => {
      await old?.kill();
      return running(startWorker(env));
    };
    const recipients = async (): Promise<ApiAnswer['body'][]> =>
      (await server.get(`/campaigns/${id}/recipients?limit=100`)).body.data;

    // Killed while it freezes, or shortly before or after that.
    let worker = await restart();
    const localTime = new Date(Date.now() + HOUR).toISOString().slice(0, 16);
    expect((await server.post(`/campaigns/${id}/send`, { localTime })).body).to.include({ status: 'SENDING' });
    worker = await restart(worker);
    const isFrozen = async () => (await recipients()).length === PEOPLE;
    await eventually(isFrozen, { what: 'the recipients' });
    const all = await recipients();
    for (const { status, reason, postponedUntil } of all)
      expect({ status, reason, postponedUntil }).to.deep.equal({
        status: 'PENDING',
        reason: 'local time',
        postponedUntil: `${localTime}:00.000Z`,
      });

    // Killed while they wait. Then the moment of half of them comes, and it is killed while it sends.
    await worker.kill();
    const due = all.slice(0, PEOPLE / 2);
    await setMailsOf(
      own,
      due.map(({ emailId }) => emailId),
      { dueAt: new Date() },
    );
    worker = await restart();
    await smtp.received(1);
    worker = await restart(worker);
    await reaches('the emails that are due', ({ pendingCount }) => pendingCount === PEOPLE / 2);

    // Killed after the end was set, and again once it has passed.
    await server.patch(`/campaigns/${id}`, { sendUntil: new Date(Date.now() + 2_000).toISOString() });
    worker = await restart(worker);
    await reaches('a recipient that is too late', ({ skippedCount }) => skippedCount > 0);
    await restart(worker);
    await reaches('the end', ({ status }) => status === 'SENT');
    const { sentCount, unknownCount, skippedCount } = await read();
    expect({ begun: sentCount + unknownCount, skippedCount }).to.deep.equal({
      begun: PEOPLE / 2,
      skippedCount: PEOPLE / 2,
    });
    const reached = smtp.mails.flatMap(({ to }) => to);
    expect(new Set(reached).size, 'no address twice').to.equal(reached.length);
    expect(due.map(({ email }) => email)).to.include.members(reached);
    const { pending = 0, skipped } = await rowsOf(own, id);
    expect({ pending, skipped }).to.deep.equal({ pending: 0, skipped: PEOPLE / 2 });
  });
});
