import { expect } from 'chai';
import { authenticate } from 'mailauth';
import { type DnsStandIn, startDns } from '../support/dns.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

interface Shown {
  id: string;
  verified: boolean;
  records: { purpose: string; type: string; name: string; value: string }[];
}

describe('a sender domain', () => {
  let temporal: OwnNamespace;
  let dns: DnsStandIn;
  let stack: Stack;

  before(async function () {
    this.timeout(120_000);
    [temporal, dns] = await Promise.all([ownNamespace(), startDns()]);
    stack = await startStack(temporal, { DNS_SERVERS: dns.address, DOMAIN_CHECK_PENDING_SECONDS: '1' });
  });
  after(async () => {
    await stack?.end();
    await dns?.stop();
    await temporal?.close();
  });

  it('is verified by its loop, tells its members, signs what it sends, and ends its loop with itself', async function () {
    this.timeout(180_000);
    const { server, smtp, world, project } = stack;
    await stack.startWorker();
    const added: Shown = (await server.post('/domains', { domain: 'shop.example' })).body;
    const list = async (): Promise<Shown[]> => (await server.get('/domains/project/current')).body;
    const looked = async () => (await world.db('domains').where({ id: added.id }).first())?.failedChecks;
    await eventually(async () => (await looked()) > 1, { timeoutMs: 60_000, what: 'checks by the clock' });

    const dkim = added.records.find(({ purpose }) => purpose === 'DKIM');
    dns.set(dkim?.name ?? '', 'TXT', [dkim?.value.match(/.{1,255}/g) ?? []]);
    const verified = async () => (await list()).find(({ id }) => id === added.id)?.verified;
    await eventually(verified, { timeoutMs: 30_000, what: 'the verification' });
    // Over Temporal, while the loop runs.
    expect((await server.get(`/domains/${added.id}/verify`)).body.verified).to.equal(true);

    const owner = (await world.db('users').where({ id: project.userId }).first()).email;
    const [told] = await smtp.received(1, { to: owner, timeoutMs: 60_000 });
    expect((await told?.parsed())?.subject).to.equal('shop.example is verified');

    const to = 'ann@example.com';
    const mail = { to, from: 'Shop <hello@shop.example>', subject: 'Hello', body: '<p>Hello</p>' };
    expect((await server.post('/v1/send', mail)).status).to.equal(200);
    const [received] = await smtp.received(1, { to, timeoutMs: 60_000 });
    const { dkim: signatures } = await authenticate(received?.raw ?? '', {
      ip: '127.0.0.1',
      helo: 'localhost',
      sender: received?.from ?? '',
      resolver: async (name: string) => [[name === dkim?.name ? dkim.value : '']],
    });
    const [signature] = signatures.results;
    expect(signature?.status.result).to.equal('pass');
    expect(signature?.signingDomain).to.equal('shop.example');

    expect((await server.delete(`/domains/${added.id}`)).status).to.equal(204);
    const loop = temporal.client.workflow.getHandle(`domain/${project.id}/${added.id}/1`);
    await eventually(async () => (await loop.describe()).status.name === 'CANCELLED', {
      timeoutMs: 30_000,
      what: 'the end of the loop',
    });
    expect((await server.post('/v1/send', mail)).status).to.equal(403);
  });
});
