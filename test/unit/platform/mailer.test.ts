import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import {
  composeMail,
  createMailer,
  type Mailer,
  messageId,
  type OutgoingMail,
  type SendOutcome,
} from '../../../platform/mailer.ts';
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

async function send(mailer: Mailer, outgoing: OutgoingMail, signal?: AbortSignal): Promise<SendOutcome> {
  const line = await mailer.connect(signal);
  if ('kind' in line) return line;
  const outcome = await line.send(outgoing);
  await line.release();
  return outcome;
}

describe('the mailer', () => {
  let smtp: SmtpStandIn;
  let mailer: Mailer;
  const timeouts = { connectMs: 1_000, greetingMs: 1_000, silenceMs: 700 };

  before(async () => {
    smtp = await startSmtp();
  });
  after(() => smtp.close());
  beforeEach(async () => {
    await smtp.reopen();
    smtp.behave();
    smtp.mails.length = 0;
    mailer = createMailer({ url: smtp.url, maxConnections: 2, timeouts });
  });
  afterEach(() => mailer.close(true));

  it('sends a mail with a Message-ID made from its id and its sender’s domain', async () => {
    const sent = mail();
    expect(await send(mailer, sent)).to.deep.equal({
      kind: 'sent',
      providerMessageId: 'stand-in-1',
      answer: '250 queued as stand-in-1',
    });
    const [received] = smtp.mails;
    expect(received).to.include({ from: 'shop@demo.localhost', messageId: `<${sent.id}@demo.localhost>` });
    expect(received?.to).to.deep.equal(['ann@example.com']);
  });

  it('writes names, subjects and bodies of any script so that they can be read back', async () => {
    await send(
      mailer,
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

  it('lets no line break of a name or subject start a header of its own', async () => {
    const evil = 'x\r\nBcc: victim@example.com\r\n\r\nbody';
    await send(mailer, mail({ subject: evil, from: { email: 'shop@demo.localhost', name: evil }, replyTo: evil }));
    const [received] = smtp.mails;
    expect(received?.to).to.deep.equal(['ann@example.com']);
    const [head = ''] = (received?.raw.toString() ?? '').split('\r\n\r\n', 1);
    expect(head)
      .to.match(/^Subject: /m)
      .and.match(/^Content-Type: text\/html/m);
    expect(head).to.not.match(/^Bcc/im);
  });

  it('refuses an address that would break out of the envelope', async () => {
    const outcome = await send(mailer, mail({ to: { email: 'a@b.example>\r\nRCPT TO:<victim@example.com' } }));
    expect(outcome.kind).to.equal('refused');
    expect(smtp.mails).to.deep.equal([]);
  });

  it('uses a connection again, also after a refusal', async () => {
    const before = smtp.connections().total;
    await send(mailer, mail());
    smtp.misbehave({ at: 'recipient', do: { code: 550, text: 'no such user' }, times: 1 });
    expect(await send(mailer, mail())).to.deep.equal({ kind: 'refused', reason: '550 no such user' });
    expect((await send(mailer, mail())).kind).to.equal('sent');
    expect(smtp.connections().total - before).to.equal(1);
  });

  describe('a line that goes on from mail to mail', () => {
    const wired = (to: string) => composeMail(mail({ to: { email: to } }));
    const addresses = () => smtp.mails.flatMap(({ to }) => to);
    const connected = async () => {
      const line = await mailer.connect();
      if ('kind' in line) throw new Error(line.reason);
      return line;
    };

    it('sends each of them once', async () => {
      const mails = await Promise.all(['a@example.com', 'b@example.com', 'c@example.com'].map(wired));
      const line = await connected();
      for (const [place, one] of mails.entries())
        expect((await line.send(one, mails[place + 1])).kind).to.equal('sent');
      await line.release();
      expect(addresses()).to.deep.equal(['a@example.com', 'b@example.com', 'c@example.com']);
    });

    it('takes a new connection for the next one when the old one dies with a mail', async () => {
      const [a, b] = [await wired('a@example.com'), await wired('b@example.com')];
      smtp.misbehave({ at: 'accepted', to: 'a@example.com', do: 'drop' });
      const line = await connected();
      expect((await line.send(a, b)).kind).to.equal('unknown');
      expect((await line.send(b)).kind).to.equal('sent');
      await line.release();
      expect(addresses()).to.deep.equal(['a@example.com', 'b@example.com']);
    });

    it('is no longer used when the next one is not sent after all, and nothing of that one arrives', async () => {
      const before = smtp.connections().total;
      const line = await connected();
      await line.send(await wired('a@example.com'), await wired('b@example.com'));
      await line.release();
      expect((await send(mailer, mail({ to: { email: 'c@example.com' } }))).kind).to.equal('sent');
      expect(smtp.connections().total - before).to.equal(2);
      expect(addresses()).to.deep.equal(['a@example.com', 'c@example.com']);
    });

    it('goes on after a refusal of the recipient', async () => {
      smtp.misbehave({ at: 'recipient', to: 'a@example.com', do: { code: 550, text: 'no such user' } });
      const line = await connected();
      const [a, b, c] = [await wired('a@example.com'), await wired('b@example.com'), await wired('c@example.com')];
      expect((await line.send(a, b)).kind).to.equal('refused');
      expect((await line.send(b, c)).kind).to.equal('sent');
      expect((await line.send(c)).kind).to.equal('sent');
      await line.release();
      expect(addresses()).to.deep.equal(['b@example.com', 'c@example.com']);
    });
  });

  it('takes a new connection when the server has dropped the idle one', async () => {
    await send(mailer, mail());
    await smtp.close();
    await smtp.reopen();
    expect((await send(mailer, mail())).kind).to.equal('sent');
    expect(smtp.mails).to.have.length(2);
  });

  it('takes a new connection when the server has had enough of the old one', async () => {
    await send(mailer, mail());
    smtp.misbehave({ at: 'recipient', do: { code: 421, text: 'too many mails for one session' }, times: 1 });
    expect((await send(mailer, mail())).kind).to.equal('sent');
    expect(smtp.mails).to.have.length(2);
  });

  it('is told to come again: deferred, with the server’s words', async () => {
    smtp.misbehave({ at: 'message', do: { code: 451, text: 'busy' }, times: 1 });
    expect(await send(mailer, mail())).to.deep.equal({ kind: 'deferred', reason: '451 busy' });
  });

  it('is told no after the whole mail: refused', async () => {
    smtp.misbehave({ at: 'message', do: { code: 554, text: 'spam' }, times: 1 });
    expect(await send(mailer, mail())).to.deep.equal({ kind: 'refused', reason: '554 spam' });
  });

  it('loses the connection before the mail was handed over: deferred', async () => {
    smtp.misbehave({ at: 'recipient', do: 'drop', times: 1 });
    expect((await send(mailer, mail())).kind).to.equal('deferred');
    expect(smtp.mails).to.deep.equal([]);
  });

  it('loses the connection after the mail was handed over: unknown, whether it was taken or not', async () => {
    smtp.misbehave({ at: 'message', do: 'drop', times: 1 });
    expect((await send(mailer, mail())).kind).to.equal('unknown');
    smtp.misbehave({ at: 'accepted', do: 'drop', times: 1 });
    expect((await send(mailer, mail())).kind).to.equal('unknown');
    expect(smtp.mails).to.have.length(1);
  });

  it('gets no answer after the mail was handed over: unknown', async () => {
    smtp.misbehave({ at: 'accepted', do: 'hang', times: 1 });
    expect((await send(mailer, mail())).kind).to.equal('unknown');
  });

  it('finds nobody there: unreachable', async () => {
    await smtp.close();
    const outcome = await send(mailer, mail());
    expect(outcome.kind).to.equal('unreachable');
    expect(outcome).to.have.property('reason').that.includes('ECONNREFUSED');
  });

  it('is not greeted, or turned away at the door: unreachable', async () => {
    smtp.misbehave({ at: 'connect', do: 'hang', times: 1 });
    expect((await send(mailer, mail())).kind).to.equal('unreachable');
    smtp.misbehave({ at: 'connect', do: { code: 554, text: 'not you' }, times: 1 });
    expect(await send(mailer, mail())).to.deep.include({ kind: 'unreachable' });
  });

  it('cuts a mail that is on the wire at once when told to stop', async () => {
    smtp.misbehave({ at: 'accepted', do: 'hang' });
    const stop = new AbortController();
    const sending = send(mailer, mail(), stop.signal);
    await smtp.received(1);
    stop.abort();
    expect((await sending).kind).to.equal('unknown');
    await eventually(() => smtp.connections().open === 0, { what: 'the end of the connection' });
  });

  it('has sent nothing when it was stopped before', async () => {
    const outcome = await send(mailer, mail(), AbortSignal.abort());
    expect(outcome).to.deep.include({ kind: 'unreachable' });
    expect(smtp.mails).to.deep.equal([]);
  });

  it('leaves no connection open when it is closed', async () => {
    await Promise.all([send(mailer, mail()), send(mailer, mail())]);
    expect(smtp.connections().open).to.equal(2);
    mailer.close();
    await eventually(() => smtp.connections().open === 0, { what: 'the end of the connections' });
  });
});

describe('a login that fails', () => {
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
    const at = server.address();
    return `127.0.0.1:${typeof at === 'object' ? at?.port : ''}`;
  };

  it('is no fault of the mail', async () => {
    const mailer = createMailer({ url: `smtp://me:secret@${address()}`, maxConnections: 1 });
    expect(await send(mailer, mail())).to.deep.equal({ kind: 'unreachable', reason: '535 wrong password' });
    mailer.close(true);
  });

  it('is no fault of the mail either where the login was forgotten', async () => {
    const mailer = createMailer({ url: `smtp://${address()}`, maxConnections: 1 });
    expect(await send(mailer, mail())).to.deep.equal({ kind: 'unreachable', reason: '530 log in first' });
    mailer.close(true);
  });
});

describe('a relay without TLS that needs a password', () => {
  it('counts as unreachable: the mail waits, and the reason names the setting', async () => {
    const smtp = await startSmtp();
    const url = smtp.url.replace('127.0.0.1', 'me:secret@0.0.0.0');
    const mailer = createMailer({ url, maxConnections: 1 });
    const outcome = await send(mailer, mail());
    expect(outcome.kind).to.equal('unreachable');
    expect(outcome).to.have.property('reason').that.contains('SMTP_ALLOW_PLAIN_AUTH').and.not.contains('secret');
    const allowed = createMailer({ url, maxConnections: 1, allowPlainAuth: true });
    expect((await send(allowed, mail())).kind).to.equal('sent');
    for (const one of [mailer, allowed]) one.close(true);
    await smtp.close();
  });
});

describe('a server that lets nobody in', () => {
  it('is tried by one for all, and by everybody again once it answers', async () => {
    let [tried, isOpen] = [0, false];
    const server = createServer((socket) => {
      tried++;
      socket.on('error', () => {});
      if (!isOpen) socket.end('554 not now\r\n');
      else socket.on('data', () => socket.write('250 fine\r\n')).write('220 hello\r\n');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const at = server.address();
    const url = `smtp://127.0.0.1:${typeof at === 'object' ? at?.port : ''}`;
    const mailer = createMailer({ url, maxConnections: 10 });
    const all = () => Promise.all(Array.from({ length: 10 }, () => mailer.connect()));
    expect(await mailer.connect()).to.deep.equal({ kind: 'unreachable', reason: '554 not now' });
    tried = 0;
    for (const line of await all()) expect(line).to.deep.equal({ kind: 'unreachable', reason: '554 not now' });
    expect(tried).to.equal(1);
    isOpen = true;
    for (const line of await all()) expect(line).to.not.have.property('kind');
    mailer.close(true);
    server.close();
  });
});

describe('a Message-ID', () => {
  it('has the sender’s domain as mail servers write it', () => {
    expect(messageId({ id: 'x', from: { email: 'a@müller.example' } })).to.equal('<x@xn--mller-kva.example>');
  });
});
