import { expect } from 'chai';
import { authenticate } from 'mailauth';
import { freePort } from '../../dev/ports.ts';
import { type DnsStandIn, startDns } from '../support/dns.ts';
import { readEventsOfContact } from '../support/reading.ts';
import { bounceReport } from '../support/reports.ts';
import { emailOfUser } from '../support/rows/accounts.ts';
import { storedDomains } from '../support/rows/projects.ts';
import { submitMail } from '../support/smtp-client.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

interface DomainBody {
  id: string;
  verified: boolean;
  records: { purpose: string; type: string; name: string; value: string }[];
}

describe('a sender domain', () => {
  let temporal: OwnNamespace;
  let dns: DnsStandIn;
  let stack: Stack;
  let bouncePort: number;

  before(async () => {
    [temporal, dns] = await Promise.all([ownNamespace(), startDns()]);
    bouncePort = await freePort();
    stack = await startStack(temporal, {
      DNS_SERVERS: dns.address,
      DOMAIN_CHECK_PENDING_SECONDS: '1',
      MAIL_FROM_SUBDOMAIN: 'bounce',
      BOUNCE_SMTP_PORT: String(bouncePort),
    });
    await stack.startWorker();
  });
  after(async () => {
    await stack?.end();
    await dns?.stop();
    await temporal?.close();
  });

  it('is verified by its workflow, notifies members, signs mail with DKIM, and cancels its workflow when deleted', async () => {
    const { server, smtp, database, project } = stack;
    const added: DomainBody = (await server.post('/domains', { domain: 'shop.example' })).body;
    const list = async (): Promise<DomainBody[]> => (await server.get('/domains/project/current')).body;
    const failedChecks = async () => (await storedDomains(database.db, { id: added.id }).first())?.failedChecks;
    await eventually(async () => (await failedChecks()) > 1, { what: 'checks by the clock' });

    const dkim = added.records.find(({ purpose }) => purpose === 'DKIM');
    dns.set(dkim?.name ?? '', 'TXT', [dkim?.value.match(/.{1,255}/g) ?? []]);
    const verified = async () => (await list()).find(({ id }) => id === added.id)?.verified;
    await eventually(verified, { what: 'the verification' });
    // The API asks the running Temporal workflow.
    expect((await server.get(`/domains/${added.id}/verify`)).body.verified).to.equal(true);

    const owner = await emailOfUser(database.db, project.userId);
    const [notification] = await smtp.received(1, { to: owner });
    expect((await notification?.parsed())?.subject).to.equal('shop.example is verified');

    const to = 'ann@example.com';
    const mail = { to, from: 'Shop <hello@shop.example>', subject: 'Hello', body: '<p>Hello</p>' };
    expect((await server.post('/v1/send', mail)).status).to.equal(200);
    const [received] = await smtp.received(1, { to });
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
      what: 'the end of the loop',
    });
    expect((await server.post('/v1/send', mail)).status).to.equal(403);
  });

  it('unsubscribes the contact and records the events when a bounce report arrives', async () => {
    const { server, project, smtp } = stack;
    const to = 'nobody@example.com';
    const from = `shop@${project.senderDomain}`;
    const mail = { to, from, subject: 'Hello', body: '<p>Hello</p>', subscribed: true };
    const [{ email: emailId, contact }] = (await server.post('/v1/send', mail)).body.data.emails;

    const [received] = await smtp.received(1, { to });
    const path = received?.from ?? '';
    expect(path).to.match(new RegExp(`^b-[0-9a-f-]+@bounce\\.${project.senderDomain}$`));
    expect((await received?.parsed())?.from?.address).to.equal(from);

    await submitMail(bouncePort, { to: [path], raw: bounceReport({ to: path }) });

    const { body } = await eventually(
      async () => {
        const answer = await server.get(`/emails/${emailId}`);
        return answer.body.status === 'BOUNCED' && answer;
      },
      { what: 'the bounce' },
    );
    expect(body.reason).to.contain('no such user');
    expect((await server.get(`/contacts/${contact.id}`)).body).to.include({ subscribed: false });
    const events = await readEventsOfContact({ server }, contact.id);
    expect(events.map(({ name }) => name)).to.include.members(['email.sent', 'email.bounce', 'contact.unsubscribed']);
    const ended = events.find(({ name }) => name === 'contact.unsubscribed');
    expect(ended.data).to.include({ reason: 'bounce', emailId });

    // Mail to that address is no longer sent.
    const secondId = (await server.post('/v1/send', mail)).body.data.emails[0].email;
    expect((await server.get(`/emails/${secondId}`)).body).to.include({ status: 'FAILED', reason: 'suppressed' });
  });
});
