import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { client } from '../support/api.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { compilePrevious, previousCommit } from '../support/previous-version.ts';
import { type Env, type ServiceProcess, startApi, startWorker } from '../support/processes.ts';
import { setMails } from '../support/rows/mails.ts';
import { countRows } from '../support/rows/tables.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { type OwnNamespace, ownNamespace } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';
import { build, enable } from '../support/workflow-building.ts';

describe('API and worker of the version before the newest migration, on the new schema', () => {
  let temporal: OwnNamespace;
  let database: ConnectedDatabase;
  let smtp: SmtpStandIn;
  let project: TestProject;
  let env: Env;
  let api: ServiceProcess;
  let worker: ServiceProcess;

  before(async () => {
    const program = compilePrevious(previousCommit());
    temporal = await ownNamespace();
    database = await connectTestDatabase();
    smtp = await startSmtp();
    project = await makeProject(database.db);
    env = {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SMTP_URL: smtp.url,
      // As the previous version has them.
      EVERPOST_TIMINGS: 'production',
    };
    [api, worker] = await Promise.all([startApi(env, program), startWorker(env, [], program)]);
  });
  after(async () => {
    await Promise.all([api, worker].map((child) => child?.kill()));
    await smtp?.close();
    await database?.close();
    await temporal?.close();
  });

  const server = (url = api.url) => client(url, { authorization: `Bearer ${project.secretKey}` });
  const send = async (to: string) => {
    const body = '<a href="https://shop.example/new">New</a>';
    const mail = { to, from: `shop@${project.senderDomain}`, subject: 'Hello', body, subscribed: true };
    const answer = await server().post('/v1/send', mail);
    expect(answer).to.have.status(200);
    const [received] = await smtp.received(1, { to });
    return { id: answer.body.data.emails[0].email as string, html: (await received?.parsed())?.html ?? '' };
  };
  const visit = (html: string, pattern: RegExp, headers = {}) =>
    fetch(api.url + new URL(pattern.exec(html)?.[1] ?? '').pathname, { headers, redirect: 'manual' });

  it('send mail, count its open and click, track events and finish a campaign', async () => {
    const { id, html } = await send('ann@example.com');
    expect((await visit(html, /<img src="([^"]+\/t\/o\/[^"]+)"/)).status).to.equal(200);
    expect((await visit(html, /href="([^"]+\/t\/c\/[^"]+)"/)).status).to.equal(302);
    await eventually(
      async () => {
        const { body } = await server().get(`/emails/${id}`);
        return body.status === 'CLICKED' && body.openedAt !== null;
      },
      { what: 'the open and the click in the record' },
    );
    expect(await server().post('/events/track', { email: 'ann@example.com', event: 'signup' })).to.have.status(200);

    const draft = { name: 'News', subject: 'News', body: '<p>News</p>', audienceType: 'ALL' };
    const created = await server().post('/campaigns', { ...draft, from: `shop@${project.senderDomain}` });
    const campaign = created.body.data.id;
    expect((await server().post(`/campaigns/${campaign}/send`, {})).status).to.be.oneOf([200, 202]);
    const stats = () => server().get(`/campaigns/${campaign}`);
    await eventually(async () => (await stats()).body.status === 'SENT', { what: 'the end of the campaign' });
    expect((await stats()).body).to.include({ sentCount: 1 });

    const sum = (data: Record<string, number>[], kind: string) =>
      data.reduce((total, point) => total + (point[kind] ?? 0), 0);
    await eventually(
      async () => {
        const { data } = (await server().get('/analytics/timeseries')).body;
        return sum(data, 'sent') === 2 && sum(data, 'opened') === 1 && sum(data, 'clicked') === 1;
      },
      { what: 'the figures of the analytics' },
    );
  });

  it('run a workflow and show its numbers, as the new version does', async () => {
    const beside = await startApi(env);
    try {
      const { id, steps } = await build(
        { server: server() },
        { steps: { Leave: { type: 'EXIT' } } },
        { eventName: 'joined' },
      );
      await enable({ server: server() }, id);
      expect(await server().post('/events/track', { email: 'bob@example.com', event: 'joined' })).to.have.status(200);
      for (const url of [api.url, beside.url])
        await eventually(
          async () => {
            const { executions, steps: counted } = (await server(url).get(`/workflows/${id}/stats`)).body;
            return executions.started === 1 && executions.exited === 1 && counted[steps.Leave ?? '']?.passed === 1;
          },
          { what: 'the numbers of the workflow' },
        );
    } finally {
      await beside.stop();
    }
  });

  it('see and continue the graph of a workflow that the new version has edited, and the other way round', async () => {
    const beside = await startApi(env);
    try {
      const created = await server(beside.url).post('/workflows', { name: 'Welcome', eventName: 'signup' });
      expect(created).to.have.status(201);
      const path = `/workflows/${created.body.id}`;
      const add = async (url: string, name: string) => {
        const step = { type: 'DELAY', name, config: { amount: 1, unit: 'days' }, autoConnect: true };
        expect(await server(url).post(`${path}/steps`, step)).to.have.status(201);
      };
      for (const [n, url] of [beside.url, api.url, beside.url, api.url].entries()) await add(url, `Step ${n}`);
      const graph = async (url: string) => {
        const { steps, transitions } = (await server(url).get(path)).body;
        const names = new Map(steps.map(({ id, name }: { id: string; name: string }) => [id, name]));
        return transitions.map((one: { fromStepId: string; toStepId: string }) =>
          [one.fromStepId, one.toStepId].map((id) => names.get(id)),
        );
      };
      const expected = [
        ['Step 0', 'Step 1'],
        ['Step 1', 'Step 2'],
        ['Step 2', 'Step 3'],
      ];
      expect(await graph(api.url)).to.deep.equal(expected);
      expect(await graph(beside.url)).to.deep.equal(expected);
    } finally {
      await beside.stop();
    }
  });

  it('leave the counts of people to processes of the new version that run beside them', async () => {
    const [beside, newWorker] = await Promise.all([startApi(env), startWorker(env)]);
    try {
      const { id } = await send(`${newId()}@example.com`);
      await eventually(async () => (await server().get(`/emails/${id}`)).body.status === 'SENT');
      await setMails(database.db, { id }, { openedAt: new Date(), humanOpenedAt: new Date() });
      const figures = async () => {
        const { data } = (await server(beside.url).get('/analytics/timeseries')).body;
        return data.reduce((total: number, { humanOpened }: { humanOpened: number }) => total + humanOpened, 0);
      };
      await eventually(async () => (await countRows(database.db, 'activity_deltas')) === 0, {
        what: 'the aggregated counts',
      });
      expect(await figures()).to.equal(1);
    } finally {
      await Promise.all([beside, newWorker].map((child) => child.stop()));
    }
  });
});
