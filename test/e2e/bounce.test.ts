import { expect } from 'chai';
import { freePort } from '../../dev/ports.ts';
import { bounceReport } from '../support/reports.ts';
import { handOver } from '../support/smtp-client.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

describe('a mail that comes back', () => {
  let temporal: OwnNamespace;
  let stack: Stack;

  before(async function () {
    this.timeout(120_000);
    temporal = await ownNamespace();
    stack = await startStack(temporal);
  });
  after(async () => {
    await stack?.end();
    await temporal?.close();
  });

  it('by a report ends the subscription of its contact, with the event recorded', async function () {
    this.timeout(120_000);
    const { server, project, smtp } = stack;
    const port = await freePort();
    await stack.startWorker({ MAIL_FROM_SUBDOMAIN: 'bounce', BOUNCE_SMTP_PORT: String(port) });
    const to = 'nobody@example.com';
    const from = `shop@${project.senderDomain}`;
    const mail = { to, from, subject: 'Hello', body: '<p>Hello</p>', subscribed: true };
    const [{ email: emailId, contact }] = (await server.post('/v1/send', mail)).body.data.emails;

    const [received] = await smtp.received(1, { to, timeoutMs: 60_000 });
    const path = received?.from ?? '';
    expect(path).to.match(new RegExp(`^b-[0-9a-f-]+@bounce\\.${project.senderDomain}$`));
    expect((await received?.parsed())?.from?.address).to.equal(from);

    await handOver(port, { to: [path], raw: bounceReport({ to: path }) });

    const { body } = await eventually(
      async () => {
        const answer = await server.get(`/emails/${emailId}`);
        return answer.body.status === 'BOUNCED' && answer;
      },
      { timeoutMs: 30_000, what: 'the bounce' },
    );
    expect(body.reason).to.contain('no such user');
    expect((await server.get(`/contacts/${contact.id}`)).body).to.include({ subscribed: false });
    const events = await stack.world.db('events').where({ contactId: contact.id }).orderBy('position');
    expect(events.map(({ name }) => name)).to.include.members(['email.sent', 'email.bounce', 'contact.unsubscribed']);
    const ended = events.find(({ name }) => name === 'contact.unsubscribed');
    expect(ended.data).to.include({ reason: 'bounce', emailId });

    // From now on nothing leaves to that address.
    const again = (await server.post('/v1/send', mail)).body.data.emails[0].email;
    expect((await server.get(`/emails/${again}`)).body).to.include({ status: 'FAILED', reason: 'suppressed' });
  });
});
