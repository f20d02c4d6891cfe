import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from '../../dev/root.ts';
import { client } from '../support/api.ts';
import { runDirectory } from '../support/cleanup.ts';
import { makeProject, type TestProject } from '../support/connected-database.ts';
import { type DnsStandIn, startDns } from '../support/dns.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import { storedEndpoints } from '../support/rows/webhooks.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

const ENDPOINTS = 20;

describe('names whose servers never answer', () => {
  let temporal: OwnNamespace;
  let dns: DnsStandIn;
  let receiver: HttpReceiver;
  let stack: Stack;
  let port: string;

  before(async () => {
    temporal = await ownNamespace();
    dns = await startDns();
    receiver = await startHttpReceiver();
    port = receiver.host.split(':')[1] ?? '';
    stack = await startStack(temporal, { WEBHOOK_ALLOWED_HOSTS: `localhost:${port}` }, async ({ SMTP_URL }) => ({
      SMTP_URL: SMTP_URL?.replace('127.0.0.1', 'localhost'),
    }));
  });
  after(async () => {
    await stack?.end();
    await Promise.all([receiver?.stop(), dns?.stop()]);
    await temporal?.close();
  });

  const track = async ({ publicKey }: TestProject) => {
    const browser = client(stack.api.url, { authorization: `Bearer ${publicKey}` });
    expect(await browser.post('/v1/track', { email: 'ann@example.com', event: 'bought' })).to.have.status(200);
  };

  it('delay neither mail through a relay given by name nor the webhooks of another project', async () => {
    const fifo = join(runDirectory(), 'silent-names');
    execFileSync('mkfifo', [fifo]);
    dns.fail('*', 'silence');
    const slow = await makeProject(stack.database.db);
    const slowClient = client(stack.api.url, { authorization: `Bearer ${slow.secretKey}` });
    for (let n = 0; n < ENDPOINTS; n++)
      await slowClient.post('/webhook-endpoints', { url: `http://hook${n}.silent.example/`, types: ['event.*'] });
    await stack.server.post('/webhook-endpoints', { url: `http://localhost:${port}/`, types: ['event.*'] });
    await stack.startWorker({
      NODE_OPTIONS: `--require ${join(root, 'test/support/silent-names.cjs')}`,
      SILENT_NAMES_SERVER: dns.address,
      SILENT_NAMES_FIFO: fifo,
    });
    await track(slow);
    const visited = () =>
      storedEndpoints(stack.database.db, { projectId: slow.id }).where('deliveringUntil', '>', new Date());
    await eventually(async () => (await visited()).length === ENDPOINTS, { what: 'a visit of every endpoint' });
    await stack.send('bob@example.com');
    await track(stack.project);
    await stack.smtp.received(1, { to: 'bob@example.com' });
    await receiver.received(1);
    await eventually(() => new Set(dns.queries.map(({ name }) => name)).size === ENDPOINTS, {
      what: 'a query for every name',
    });
  });
});
