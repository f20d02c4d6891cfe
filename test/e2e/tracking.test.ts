import { expect } from 'chai';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

describe('tracking of a sent mail', () => {
  let namespace: OwnNamespace;
  let stack: Stack;

  before(async () => {
    namespace = await ownNamespace();
    stack = await startStack(namespace);
    await stack.startWorker();
  });
  after(async () => {
    await stack?.end();
    await namespace?.close();
  });

  /** Replaces the base URL of a link by the address of this API. */
  const withApiUrl = (url: string): string => stack.api.url + new URL(url).pathname;

  it('records open, click and unsubscribe through the links of the mail', async () => {
    const to = 'reader@example.com';
    const answer = await stack.server.post('/v1/send', {
      to,
      subscribed: true,
      from: `shop@${stack.project.senderDomain}`,
      subject: 'News',
      body: '<a href="https://shop.example/new">New</a> <a href="{{ unsubscribeUrl }}">No more</a>',
    });
    const { email: id, contact } = answer.body.data.emails[0];
    const [received] = await stack.smtp.received(1, { to });
    const mail = await received?.parsed();
    const pixel = /<img src="([^"]+\/t\/o\/[^"]+)"/.exec(mail?.html ?? '')?.[1] ?? '';
    const click = /href="([^"]+\/t\/c\/[^"]+)"/.exec(mail?.html ?? '')?.[1] ?? '';
    const header = mail?.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '';

    expect((await fetch(withApiUrl(pixel))).status).to.equal(200);
    const followed = await fetch(withApiUrl(click), { redirect: 'manual' });
    expect(followed.headers.get('location')).to.equal('https://shop.example/new');
    const record = await eventually(
      async () => {
        const { body } = await stack.server.get(`/emails/${id}`);
        return body.status === 'CLICKED' && body.openedAt !== null && body;
      },
      { what: 'the open and the click in the record' },
    );
    expect(record.attempts).to.have.length(1);
    expect(record.attempts[0]).to.include({ number: 1, outcome: 'sent' });

    const oneClick = await fetch(withApiUrl(header.slice(1, -1)), {
      method: 'POST',
      body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
    });
    expect(oneClick.status).to.equal(200);
    expect((await stack.server.get(`/contacts/${contact.id}`)).body).to.include({ subscribed: false });
    const { body: events } = await stack.server.get(`/events/contact/${contact.id}`);
    expect(events.data.map(({ name }: { name: string }) => name)).to.have.members([
      'email.sent',
      'email.open',
      'email.click',
      'contact.unsubscribed',
    ]);
  });
});
