import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { composeMail, messageId, type OutgoingMail } from '../../../platform/mime/compose.ts';
import type { SendOutcome } from '../../../platform/smtp/outcome.ts';
import { Relay, type RelayOptions } from '../../../platform/smtp/relay.ts';
import { parseRelays } from '../../../platform/smtp/relay-settings.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';
import { eventually } from '../../support/waiting.ts';

const mail = (change: Partial<OutgoingMail> = {}): OutgoingMail => ({
  id: newId(),
  from: { email: 'shop@demo.localhost', name: 'Shop' },
  to: { email: 'ann@example.com' },
  subject: 'Hello',
  html: '<p>Hello</p>',
  ...change,
});

function relayTo(url: string, more: Partial<RelayOptions> = {}): Relay {
  const [settings] = parseRelays(url);
  if (!settings) throw new Error('no relay');
  return new Relay({ ...settings, maxConnections: 2, pauseMs: 300, ...more });
}

async function send(relay: Relay, outgoing: OutgoingMail, signal?: AbortSignal): Promise<SendOutcome> {
  const connection = await relay.connect(signal);
  if ('kind' in connection) return connection;
  const outcome = await connection.send(await composeMail(outgoing));
  await connection.release();
  return outcome;
}

describe('mail over a relay', () => {
  let smtp: SmtpStandIn;
  let relay: Relay;

  before(async () => {
    smtp = await startSmtp();
  });
  after(() => smtp.close());
  beforeEach(async () => {
    await smtp.reopen();
    smtp.behave();
    smtp.mails.length = 0;
    relay = relayTo(smtp.url);
  });
  afterEach(() => relay.close(true));

  it('sends a mail with a Message-ID of its id and the sender domain', async () => {
    const sent = mail();
    expect(await send(relay, sent)).to.deep.equal({
      kind: 'sent',
      providerMessageId: 'stand-in-1',
      answer: '250 queued as stand-in-1',
    });
    const [received] = smtp.mails;
    expect(received).to.include({ from: 'shop@demo.localhost', messageId: `<${sent.id}@demo.localhost>` });
    expect(received?.to).to.deep.equal(['ann@example.com']);
  });

  it('encodes names, subjects and bodies of any script without loss', async () => {
    await send(
      relay,
      mail({
        from: { email: 'shop@demo.localhost', name: 'Läden, "Shop" <x@y>' },
        to: { email: 'ann@example.com', name: 'Анна' },
        replyTo: 'help@demo.localhost',
        subject: '注文 №7 ✓',
        html: `<p>Grüße</p>\n.\n<p>${'ü'.repeat(2_000)}</p>`,
      }),
    );
    const parsed = await smtp.mails[0]?.parsed();
    expect(parsed?.from).to.deep.equal({ address: 'shop@demo.localhost', name: 'Läden, "Shop" <x@y>' });
    expect(parsed?.to).to.deep.equal([{ address: 'ann@example.com', name: 'Анна' }]);
    expect(parsed?.replyTo).to.deep.equal([{ address: 'help@demo.localhost', name: '' }]);
    expect(parsed?.subject).to.equal('注文 №7 ✓');
    expect(parsed?.html?.trim()).to.equal(`<p>Grüße</p>\n.\n<p>${'ü'.repeat(2_000)}</p>`);
  });

  it('adds no header for line breaks in a name or subject', async () => {
    const evil = 'x\r\nBcc: victim@example.com\r\n\r\nbody';
    await send(relay, mail({ subject: evil, from: { email: 'shop@demo.localhost', name: evil }, replyTo: evil }));
    const [received] = smtp.mails;
    expect(received?.to).to.deep.equal(['ann@example.com']);
    const [head = ''] = (received?.raw.toString() ?? '').split('\r\n\r\n', 1);
    expect(head)
      .to.match(/^Subject: /m)
      .and.match(/^Content-Type: text\/html/m);
    expect(head).to.not.match(/^Bcc/im);
  });

  it('refuses a recipient address with an SMTP command in it', async () => {
    const to = 'a@b.example>\r\nRCPT TO:<victim@example.com';
    expect(await composeMail(mail({ to: { email: to } })).catch((error: Error) => error.message)).to.contain('Invalid');
    const connection = await relay.connect();
    if ('kind' in connection) throw new Error(connection.reason);
    expect((await connection.send({ ...(await composeMail(mail())), to })).kind).to.equal('refused');
    await connection.release();
    expect(smtp.mails).to.deep.equal([]);
  });

  it('reuses a connection, also after a refusal', async () => {
    const before = smtp.connections().total;
    await send(relay, mail());
    smtp.misbehave({ at: 'recipient', do: { code: 550, text: 'no such user' }, times: 1 });
    const refusal = { kind: 'refused', reason: '550 no such user', isBounce: true };
    expect(await send(relay, mail())).to.deep.equal(refusal);
    expect((await send(relay, mail())).kind).to.equal('sent');
    expect(smtp.connections().total - before).to.equal(1);
  });

  describe('with the next mail announced', () => {
    const composed = (to: string) => composeMail(mail({ to: { email: to } }));
    const addresses = () => smtp.mails.flatMap(({ to }) => to);
    const connected = async () => {
      const connection = await relay.connect();
      if ('kind' in connection) throw new Error(connection.reason);
      return connection;
    };

    it('sends each mail once', async () => {
      const mails = await Promise.all(['a@example.com', 'b@example.com', 'c@example.com'].map(composed));
      const connection = await connected();
      for (const [index, current] of mails.entries())
        expect((await connection.send(current, mails[index + 1])).kind).to.equal('sent');
      await connection.release();
      expect(addresses()).to.deep.equal(['a@example.com', 'b@example.com', 'c@example.com']);
    });

    it('opens a new connection for the next mail when the old one dies', async () => {
      const a = await composed('a@example.com');
      const b = await composed('b@example.com');
      smtp.misbehave({ at: 'accepted', to: 'a@example.com', do: 'drop' });
      const connection = await connected();
      expect((await connection.send(a, b)).kind).to.equal('unknown');
      expect((await connection.send(b)).kind).to.equal('sent');
      await connection.release();
      expect(addresses()).to.deep.equal(['a@example.com', 'b@example.com']);
    });

    it('closes the connection when the announced mail is not sent, and delivers nothing of it', async () => {
      const before = smtp.connections().total;
      const connection = await connected();
      await connection.send(await composed('a@example.com'), await composed('b@example.com'));
      await connection.release();
      expect((await send(relay, mail({ to: { email: 'c@example.com' } }))).kind).to.equal('sent');
      expect(smtp.connections().total - before).to.equal(2);
      expect(addresses()).to.deep.equal(['a@example.com', 'c@example.com']);
    });

    it('sends the next mail after a refused recipient', async () => {
      smtp.misbehave({ at: 'recipient', to: 'a@example.com', do: { code: 550, text: 'no such user' } });
      const connection = await connected();
      const a = await composed('a@example.com');
      const b = await composed('b@example.com');
      const c = await composed('c@example.com');
      expect((await connection.send(a, b)).kind).to.equal('refused');
      expect((await connection.send(b, c)).kind).to.equal('sent');
      expect((await connection.send(c)).kind).to.equal('sent');
      await connection.release();
      expect(addresses()).to.deep.equal(['b@example.com', 'c@example.com']);
    });
  });

  it('opens a new connection when the server closed the idle one', async () => {
    await send(relay, mail());
    await smtp.close();
    await smtp.reopen();
    expect((await send(relay, mail())).kind).to.equal('sent');
    expect(smtp.mails).to.have.length(2);
  });

  it('opens a new connection after a 421', async () => {
    await send(relay, mail());
    smtp.misbehave({ at: 'recipient', do: { code: 421, text: 'too many mails for one session' }, times: 1 });
    expect((await send(relay, mail())).kind).to.equal('sent');
    expect(smtp.mails).to.have.length(2);
  });

  it('returns deferred with the reply of the server after a 451', async () => {
    smtp.misbehave({ at: 'message', do: { code: 451, text: 'busy' }, times: 1 });
    expect(await send(relay, mail())).to.deep.equal({ kind: 'deferred', reason: '451 busy', concerns: 'recipient' });
  });

  it('returns refused after a 554 to the message', async () => {
    smtp.misbehave({ at: 'message', do: { code: 554, text: 'spam' }, times: 1 });
    expect(await send(relay, mail())).to.deep.equal({ kind: 'refused', reason: '554 spam' });
  });

  it('returns deferred when the connection is lost before the hand-over', async () => {
    smtp.misbehave({ at: 'recipient', do: 'drop', times: 1 });
    expect((await send(relay, mail())).kind).to.equal('deferred');
    expect(smtp.mails).to.deep.equal([]);
  });

  it('returns unknown when the connection is lost after the hand-over, accepted or not', async () => {
    smtp.misbehave({ at: 'message', do: 'drop', times: 1 });
    expect((await send(relay, mail())).kind).to.equal('unknown');
    relay.close(true);
    relay = relayTo(smtp.url);
    smtp.misbehave({ at: 'accepted', do: 'drop', times: 1 });
    expect((await send(relay, mail())).kind).to.equal('unknown');
    expect(smtp.mails).to.have.length(1);
  });

  it('returns unknown when there is no reply after the hand-over', async () => {
    relay = relayTo(smtp.url, { timeouts: { silenceMs: 3_000 } });
    smtp.misbehave({ at: 'accepted', do: 'hang', times: 1 });
    expect((await send(relay, mail())).kind).to.equal('unknown');
  });

  it('returns unreachable when the connection is refused', async () => {
    await smtp.close();
    const outcome = await send(relay, mail());
    expect(outcome.kind).to.equal('unreachable');
    expect(outcome).to.have.property('reason').that.includes('ECONNREFUSED');
  });

  it('returns unreachable without a greeting or with a 554 greeting', async () => {
    relay = relayTo(smtp.url, { timeouts: { greetingMs: 500 } });
    smtp.misbehave({ at: 'connect', do: 'hang', times: 1 });
    expect((await send(relay, mail())).kind).to.equal('unreachable');
    relay.close(true);
    relay = relayTo(smtp.url);
    smtp.misbehave({ at: 'connect', do: { code: 554, text: 'not you' }, times: 1 });
    expect(await send(relay, mail())).to.deep.equal({ kind: 'unreachable', reason: '554 not you' });
  });

  it('cuts the connection of a mail in flight when the signal aborts', async () => {
    smtp.misbehave({ at: 'accepted', do: 'hang' });
    const stop = new AbortController();
    const sending = send(relay, mail(), stop.signal);
    await smtp.received(1);
    stop.abort();
    expect((await sending).kind).to.equal('unknown');
    await eventually(() => smtp.connections().open === 0, { what: 'the end of the connection' });
  });

  it('sends nothing when the signal is already aborted', async () => {
    const outcome = await send(relay, mail(), AbortSignal.abort());
    expect(outcome).to.deep.include({ kind: 'unreachable' });
    expect(smtp.mails).to.deep.equal([]);
  });

  it('closes idle connections on close', async () => {
    await Promise.all([send(relay, mail()), send(relay, mail())]);
    expect(smtp.connections().open).to.equal(2);
    relay.close();
    await eventually(() => smtp.connections().open === 0, { what: 'the end of the connections' });
  });
});

describe('a relay with a failing login', () => {
  let server: Server;
  const sockets = new Set<Socket>();

  before(async () => {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.write('220 hello\r\n');
      socket.on('data', (data) => {
        const line = data.toString();
        if (line.startsWith('EHLO')) socket.write('250-hello\r\n250 AUTH PLAIN\r\n');
        else if (line.startsWith('AUTH')) socket.write('535 wrong password\r\n');
        else socket.write('530 log in first\r\n');
      });
      socket.on('error', () => {});
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const address = () => {
    const bound = server.address();
    return `127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}`;
  };

  it('returns unreachable after a 535', async () => {
    const relay = relayTo(`smtp://me:secret@${address()}`);
    expect(await send(relay, mail())).to.deep.equal({ kind: 'unreachable', reason: '535 wrong password' });
    relay.close(true);
  });

  it('returns unreachable after a 530 without credentials', async () => {
    const relay = relayTo(`smtp://${address()}`);
    expect(await send(relay, mail())).to.deep.equal({ kind: 'unreachable', reason: '530 log in first' });
    relay.close(true);
  });
});

describe('a relay without TLS and a password', () => {
  it('returns unreachable with the name of the setting as reason', async () => {
    const smtp = await startSmtp();
    const url = smtp.url.replace('127.0.0.1', 'me:secret@0.0.0.0');
    const relay = relayTo(url);
    const outcome = await send(relay, mail());
    expect(outcome.kind).to.equal('unreachable');
    expect(outcome).to.have.property('reason').that.contains('SMTP_ALLOW_PLAIN_AUTH').and.not.contains('secret');
    const allowed = relayTo(url, { allowPlainAuth: true });
    expect((await send(allowed, mail())).kind).to.equal('sent');
    for (const created of [relay, allowed]) created.close(true);
    await smtp.close();
  });
});

describe('messageId', () => {
  it('has the sender domain in ASCII', () => {
    expect(messageId({ id: 'x', from: { email: 'a@müller.example' } })).to.equal('<x@xn--mller-kva.example>');
  });
});
