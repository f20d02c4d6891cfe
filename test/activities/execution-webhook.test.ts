import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { webhookActivities } from '../../activities/executions.ts';
import { outboundHttp } from '../../platform/http/outbound-http.ts';
import { createResolver, type Resolver } from '../../platform/http/resolver.ts';
import { rotateWebhookSecret, webhookSecret } from '../../services/projects/webhook-secret.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { type DnsStandIn, startDns } from '../support/dns.ts';
import { ExecutionDriver, insertWorkflow } from '../support/executions.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import { testKeys } from '../support/keys.ts';
import { activityEnvironment } from '../support/temporal-work.ts';

const keys = testKeys;

describe('the call of a WEBHOOK step', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let driver: ExecutionDriver;
  let receiver: HttpReceiver;
  let dns: DnsStandIn;
  let resolver: Resolver;
  let people = 0;

  before(async () => {
    [database, receiver, dns] = await Promise.all([connectTestDatabase(), startHttpReceiver(), startDns()]);
    project = await makeProject(database.db);
    driver = new ExecutionDriver(database.db, project);
    resolver = createResolver({ servers: [dns.address], timeoutMs: 30_000, deadlineMs: 60_000 });
  });
  after(async () => {
    resolver?.close();
    await Promise.all([receiver?.stop(), dns?.stop()]);
    await database?.close();
  });
  beforeEach(() => {
    receiver.requests.splice(0);
    receiver.answer({});
  });

  const port = () => receiver.host.split(':')[1];

  const hostile = {
    path: '../../@evil.example?x#',
    query: '&b=#? +%ü',
    host: 'evil.example',
    url: 'http://evil.example/',
    dots: '..',
  };

  async function started(config: object) {
    const workflow = await insertWorkflow(database.db, project, {
      steps: { call: ['WEBHOOK', config], out: ['EXIT'] },
    });
    const email = `person${++people}@example.com`;
    await driver.contact(email, { city: 'Köln' });
    return { id: await driver.start(workflow, email, { total: 3, ...hostile }), email };
  }

  /** An execution with a pending call, and a function that makes one attempt. */
  async function calling(config: object, allowedHosts = [receiver.host]) {
    const http = outboundHttp({ resolver, allowedHosts });
    const now = () => new Date();
    const activities = webhookActivities({ db: database.db, http, keys, now });
    const { id, email } = await started(config);
    expect(await driver.advance(id)).to.deep.equal({ kind: 'webhook', visit: 1 });
    const ref = { executionId: id, generation: 1 };
    const attempt = () => activityEnvironment().run(activities.callExecutionWebhook, ref, 1);
    return { id, email, attempt };
  }

  it('is signed with the project’s secret, and with the new one after a rotation', async () => {
    const { attempt, email } = await calling({ url: receiver.url });
    await attempt();
    const [{ body, headers } = { body: '', headers: {} }] = receiver.requests;
    const old = new Webhook(await webhookSecret(database.db, keys, project.id));
    const sent = old.verify(body, headers as Record<string, string>) as Record<string, Record<string, unknown>>;
    expect(sent).to.have.all.keys('contact', 'workflow', 'execution', 'event');
    expect(sent.contact).to.deep.include({ email, data: { city: 'Köln' } });
    expect(sent.event).to.deep.equal({ total: 3, ...hostile });

    const rotated = await rotateWebhookSecret(database.db, keys, project.access);
    await (await calling({ url: receiver.url })).attempt();
    const second = receiver.requests[1];
    const signed = second?.headers as Record<string, string>;
    expect(() => new Webhook(rotated).verify(second?.body ?? '', signed)).not.to.throw();
    expect(() => old.verify(second?.body ?? '', signed)).to.throw();
  });

  it('has variables filled in everywhere except in the method', async () => {
    const { attempt, email } = await calling({
      url: `${receiver.url}/{{ city }}?total={{ event.total }}`,
      method: 'PUT',
      headers: { 'X-City': '{{ city | upper }}', 'Content-Type': 'application/vnd.test+json' },
      body: { who: '{{ email }}', list: ['{{ event.total }}', 7], '{{ key }}': true },
    });
    await attempt();
    const [got] = receiver.requests;
    expect(got).to.include({ method: 'PUT', path: '/K%C3%B6ln?total=3' });
    expect(got?.headers['content-type']).to.equal('application/vnd.test+json');
    expect(got?.json()).to.deep.equal({ who: email, list: ['3', 7], '{{ key }}': true });
  });

  it('encodes values in path and query, so that they stay one segment and one value', async () => {
    const { attempt } = await calling({
      url: `${receiver.url}/{{ event.path }}/x?a={{ event.query }}&b={{ event.query | urlencode }}#{{ event.path }}`,
    });
    await attempt();
    const query = `%26b%3D%23%3F%20%2B%25${encodeURIComponent('ü')}`;
    expect(receiver.requests[0]?.path).to.equal(`/..%2F..%2F%40evil.example%3Fx%23/x?a=${query}&b=${query}`);
  });

  for (const [what, url] of [
    ['the host', 'http://{{ event.host }}/'],
    ['a part of the host', 'https://api.{{ event.host }}/'],
    ['the login', 'http://user:{{ event.host }}@example.com/'],
    ['the port', 'http://example.com:{{ event.host }}/'],
    ['the end of the host', 'http://example.com{{ event.host }}'],
    ['the whole URL', '{{ event.url }}'],
    ['a host behind a single slash', 'http:/{{ event.host }}/'],
    ['a host behind a backslash', 'http:\\\\{{ event.host }}/'],
    ['a tag in the host', 'http://example.com{% if true %}.evil.example{% endif %}/'],
  ] as const)
    it(`fails the execution when a variable is ${what}`, async () => {
      const { id } = await started({ url });
      expect(await driver.advance(id)).to.include({ kind: 'end', status: 'FAILED' });
      const execution = await driver.execution(id);
      expect(execution.status).to.equal('FAILED');
      expect(execution.error).to.include('the host of the URL comes from a variable');
      expect(receiver.requests).to.have.length(0);
    });

  it('fails the execution when a value is the path segment . or ..', async () => {
    const { id } = await started({ url: `${receiver.url}/users/{{ event.dots }}/x` });
    await driver.advance(id);
    expect((await driver.execution(id)).error).to.include('".."');
  });

  it('fails the execution at once with the reason when a name resolves to a private address', async () => {
    dns.set('inside.example', 'A', ['127.0.0.1']);
    const { id, attempt } = await calling({ url: `http://inside.example:${port()}/` });
    await attempt();
    const execution = await driver.execution(id);
    expect(execution.status).to.equal('FAILED');
    expect(execution.error).to.include('inside.example').and.not.include('127.0.0.1');
    const [step] = await driver.steps(id);
    expect(JSON.stringify([step?.output, step?.error])).to.not.include('127.0.0.1');
    expect((await driver.steps(id))[0]).to.include({ status: 'FAILED', attempt: 1 });
    expect(receiver.requests).to.have.length(0);
  });

  it('calls a private address that the operator allows by name', async () => {
    dns.set('mesh.example', 'A', ['127.0.0.1']);
    const { id, attempt } = await calling({ url: `http://mesh.example:${port()}/` }, [`mesh.example:${port()}`]);
    await attempt();
    expect(await driver.visits(id)).to.deep.equal(['call: COMPLETED']);
    expect(receiver.requests[0]?.headers.host).to.equal(`mesh.example:${port()}`);
  });

  it('records the result of each attempt, and keeps the request', async () => {
    receiver.answer({ status: 503, body: 'later', headers: { 'retry-after': '7' } });
    const { id, attempt } = await calling({ url: receiver.url });
    const refusal = await attempt().then(
      () => undefined,
      (error: { message: string; nextRetryDelay?: unknown }) => error,
    );
    expect(refusal).to.include({ nextRetryDelay: 7_000 });
    const [noted] = await driver.steps(id);
    expect(noted).to.deep.include({ status: 'RUNNING', attempt: 2, error: 'The endpoint responded with 503.' });
    expect(noted?.output).to.deep.equal({ status: 503, body: 'later', truncated: false });
    receiver.answer({ status: 201, body: 'thanks' });
    await attempt();
    const [first, second] = receiver.requests;
    expect(second?.body).to.equal(first?.body);
    expect(second?.headers['webhook-id']).to.equal(first?.headers['webhook-id']);
    expect((await driver.steps(id))[0]?.output).to.deep.equal({ status: 201, body: 'thanks', truncated: false });
    await attempt();
    expect(receiver.requests).to.have.length(2);
  });
});
