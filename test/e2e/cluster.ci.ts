// The platform on a real Temporal cluster, while its processes are killed and restarted in turn (npm run cluster).
import { join } from 'node:path';
import { expect } from 'chai';
import { connectDb, type Db } from '../../db/connect.ts';
import { type Cluster, startCluster } from '../../dev/cluster/cluster.ts';
import { compiledProgram } from '../../dev/program.ts';
import { toStderr } from '../../dev/report.ts';
import { newId } from '../../platform/ids.ts';
import { client } from '../support/api.ts';
import { atEnd, runDirectory } from '../support/cleanup.ts';
import { makeProject, type TestProject } from '../support/connected-database.ts';
import { storedMails } from '../support/rows/mails.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { eventually } from '../support/waiting.ts';
import { build, enable } from '../support/workflow-building.ts';

const RECIPIENTS = 200;
const CONTACTS = 20;

describe('two Temporal nodes, two APIs and two workers', function () {
  this.timeout(420_000);
  let cluster: Cluster;
  let db: Db;
  let smtp: SmtpStandIn;
  let project: TestProject;

  before(async () => {
    smtp = await startSmtp();
    const dir = join(runDirectory(), 'cluster');
    cluster = await startCluster({ dir, program: await compiledProgram(), smtpUrl: smtp.url, report: toStderr });
    atEnd(() => cluster.stop());
    db = connectDb({ databaseUrl: cluster.databaseUrl, poolSize: 5, name: 'everpost-test' });
    project = await makeProject(db);
  });
  after(async () => {
    await db?.destroy();
    await cluster?.stop();
    await smtp?.close();
  });

  const server = () => client(cluster.apiUrl, { authorization: `Bearer ${project.secretKey}` });

  /** Repeats a request under its idempotency key while an API process is away. */
  async function send(to: string): Promise<string> {
    const body = { to, from: `shop@${project.senderDomain}`, subject: 'Hello', body: '<p>Hello</p>' };
    const headers = { authorization: `Bearer ${project.secretKey}`, 'idempotency-key': newId() };
    const id = await eventually(
      async () => {
        const answer = await client(cluster.apiUrl, headers)
          .post('/v1/send', body)
          .catch(() => undefined);
        return answer?.status === 200 ? (answer.body.data.emails[0].email as string) : undefined;
      },
      { what: 'the send to be accepted' },
    );
    return id;
  }

  async function startCampaign(): Promise<string> {
    for (let n = 0; n < RECIPIENTS; n++)
      await server().post('/contacts', { email: `reader${n}@example.com`, subscribed: true });
    const draft = { name: 'News', subject: 'News', body: '<p>News</p>', audienceType: 'ALL' };
    const { body } = await server().post('/campaigns', { ...draft, from: `shop@${project.senderDomain}` });
    expect((await server().post(`/campaigns/${body.data.id}/send`, {})).status).to.be.oneOf([200, 202]);
    return body.data.id;
  }

  async function startExecutions(): Promise<string> {
    const own = { ...project, server: server() } as never;
    const workflow = await build(own, {
      steps: {
        wait: { type: 'DELAY', config: { amount: 15, unit: 'seconds' } },
        tag: { type: 'UPDATE_CONTACT', config: { data: { welcomed: true } } },
      },
      transitions: [['wait', 'tag']],
    });
    await enable(own, workflow.id);
    for (let n = 0; n < CONTACTS; n++)
      expect(
        await server().post('/events/track', { email: `person${n}@example.com`, event: 'signed up' }),
      ).to.have.status(200);
    return workflow.id;
  }

  it('lose nothing and send nothing twice while each of them is killed or restarted', async () => {
    const workflowId = await startExecutions();
    const campaignId = await startCampaign();
    const [firstNode, secondNode] = cluster.nodes;
    const [firstWorker, secondWorker] = cluster.workers;
    const [firstApi, secondApi] = cluster.apis;
    const mails: string[] = [];
    let isOver = false;
    const load = (async () => {
      for (let n = 0; !isOver; n++) mails.push(await send(`mail${n}@example.com`));
    })();

    await firstWorker?.kill();
    await firstNode?.kill();
    await firstWorker?.start();
    await firstNode?.start();
    for (const member of [firstApi, secondWorker, secondNode, secondApi]) {
      await member?.stop();
      await member?.start();
    }
    isOver = true;
    await load;

    expect(mails.length, 'mails under load').to.be.greaterThan(10);
    const ended = async () => (await storedMails(db).whereIn('status', ['PENDING', 'SENDING'])).length === 0;
    await eventually(ended, { what: 'the end of all mail' });
    await eventually(async () => (await server().get(`/campaigns/${campaignId}`)).body.status === 'SENT', {
      what: 'the end of the campaign',
    });
    const completed = async () => (await db('executions').where({ workflowId, status: 'COMPLETED' })).length;
    await eventually(async () => (await completed()) === CONTACTS, { what: 'the end of all executions' });
    expect(await db('executions').where({ workflowId })).to.have.lengthOf(CONTACTS);

    const rows: { id: string; status: string; unknownOutcomes: number }[] = await storedMails(db);
    expect(rows.filter(({ status }) => !['SENT', 'UNKNOWN'].includes(status))).to.deep.equal([]);
    expect(new Set(mails).size, 'accepted once each').to.equal(mails.length);
    expect(rows.map(({ id }) => id)).to.include.members(mails);
    const received = (id: string) => smtp.mails.filter(({ messageId }) => messageId?.startsWith(`<${id}@`)).length;
    for (const { id, status, unknownOutcomes } of rows) {
      // Only a mail that was in flight in a killed worker may be missing or arrive twice, and its row says so.
      if (unknownOutcomes === 0)
        expect({ id, status, received: received(id) }).to.deep.equal({ id, status: 'SENT', received: 1 });
    }
    const inFlight = rows.filter(({ unknownOutcomes }) => unknownOutcomes > 0).length;
    expect(inFlight, 'in flight in the one worker that was killed').to.be.at.most(20);
  });

  it('use no more database connections than the page on operations sums up', async () => {
    const { rows } = await db.raw('select count(*)::integer as count from pg_stat_activity where datname is not null');
    expect(rows[0].count).to.be.at.most(176 + 5);
  });
});
