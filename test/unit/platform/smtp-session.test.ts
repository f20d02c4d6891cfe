import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { SmtpSession, smtpTarget, type WireMail } from '../../../platform/smtp-session.ts';
import { readyForWire } from '../../../platform/wire-lines.ts';

const TIMEOUTS = { connectMs: 2_000, greetingMs: 2_000, silenceMs: 2_000 };
const head = 'Subject: x\r\n\r\n';
const mail = (body = 'Hello\r\n', change: Partial<WireMail> = {}): WireMail => ({
  from: 'shop@demo.localhost',
  to: 'ann@example.com',
  utf8: false,
  raw: Buffer.from(head + body),
  ...change,
});
const open = (url: string) => SmtpSession.open(smtpTarget(url, TIMEOUTS));

describe('an SMTP session', () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  /** A server with the given abilities that says what a script tells it to: one function per line that comes. */
  const scripted = async (abilities: string[], answer: (line: string, socket: Socket) => string | undefined) => {
    const writes: string[] = [];
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.write('220 hello\r\n');
      let inData = false;
      let rest = '';
      socket.on('data', (chunk) => {
        writes.push(chunk.toString('latin1'));
        const lines = (rest + chunk.toString('latin1')).split('\r\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          if (inData && line !== '.') continue;
          inData = false;
          const said = line.startsWith('EHLO')
            ? ['hello', ...abilities].map((one, n) => `250${n < abilities.length ? '-' : ' '}${one}`).join('\r\n')
            : answer(line, socket);
          if (said?.startsWith('354')) inData = true;
          if (said) socket.write(`${said}\r\n`);
        }
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const session = await open(`smtp://127.0.0.1:${(server.address() as AddressInfo).port}`);
    ends.push(() => session.close(true));
    writes.length = 0;
    return { session, writes };
  };
  const polite = (line: string) => (line === 'DATA' ? '354 go on' : '250 fine');

  it('says MAIL, RCPT and DATA in one go where the server allows it', async () => {
    const { session, writes } = await scripted(['PIPELINING', 'SIZE 1000'], polite);
    const sent = mail();
    expect(await session.send(sent)).to.deep.equal({ accepted: true, response: '250 fine' });
    const envelope = `MAIL FROM:<shop@demo.localhost> SIZE=${sent.raw.length}\r\nRCPT TO:<ann@example.com>\r\nDATA\r\n`;
    expect(writes).to.deep.equal([envelope, `${head}Hello\r\n.\r\n`]);
  });

  it('says one after the other where it does not', async () => {
    const { session, writes } = await scripted([], polite);
    expect((await session.send(mail())).accepted).to.equal(true);
    expect(writes.slice(0, 3)).to.deep.equal([
      'MAIL FROM:<shop@demo.localhost>\r\n',
      'RCPT TO:<ann@example.com>\r\n',
      'DATA\r\n',
    ]);
  });

  describe('that knows the next mail', () => {
    const [first, second] = [mail('One\r\n'), mail('Two\r\n', { to: 'bob@example.com' })];
    const envelope = (to: string) => `MAIL FROM:<shop@demo.localhost>\r\nRCPT TO:<${to}>\r\nDATA\r\n`;

    it('says its envelope along with the end of the text before it', async () => {
      const { session, writes } = await scripted(['PIPELINING'], polite);
      expect((await session.send(first, second)).accepted).to.equal(true);
      expect(session.isPromised).to.equal(true);
      expect((await session.send(second)).accepted).to.equal(true);
      expect(session.isPromised).to.equal(false);
      expect(writes).to.deep.equal([
        envelope('ann@example.com'),
        `${head}One\r\n.\r\n${envelope('bob@example.com')}`,
        `${head}Two\r\n.\r\n`,
      ]);
    });

    it('waits with it where the server takes one command at a time', async () => {
      const { session, writes } = await scripted([], polite);
      expect((await session.send(first, second)).accepted).to.equal(true);
      expect(session.isPromised).to.equal(false);
      expect(writes.at(-1)).to.equal(`${head}One\r\n.\r\n`);
      expect((await session.send(second)).accepted).to.equal(true);
    });

    it('goes on with it when the one before is refused', async () => {
      let texts = 0;
      const { session } = await scripted(['PIPELINING'], (line) =>
        line === '.' && texts++ === 0 ? '554 looks like spam' : polite(line),
      );
      expect(await session.send(first, second)).to.have.nested.property('error.response', '554 looks like spam');
      expect((await session.send(second)).accepted).to.equal(true);
    });

    it('tells when its turn comes that it is refused', async () => {
      const { session, writes } = await scripted(['PIPELINING', 'SIZE 100'], (line) =>
        line.includes('bob') ? '550 no such user' : line === '.' && texts(writes) === 2 ? '554 none' : polite(line),
      );
      expect((await session.send(first, second)).accepted).to.equal(true);
      expect(await session.send(second)).to.have.nested.property('error.response', '550 no such user');
      const large = mail('x'.repeat(200));
      expect((await session.send(first, large)).accepted).to.equal(true);
      expect(session.isPromised).to.equal(false);
      expect(await session.send(large)).to.have.nested.property('error.kind', 'permanent');
    });
    const texts = (writes: string[]) => writes.filter((write) => write.includes('.\r\n')).length;

    it('sends no other in its place', async () => {
      const { session, writes } = await scripted(['PIPELINING'], polite);
      await session.send(first, second);
      const exchange = await session.send(mail('Three\r\n'));
      expect(exchange).to.deep.include({ accepted: false, handedOver: false });
      expect(session.usable).to.equal(false);
      expect(writes.join('')).to.not.contain('Three');
    });
  });

  it('gives no text to a server that has refused the recipient and still waits for it', async () => {
    const { session, writes } = await scripted(['PIPELINING'], (line) => {
      if (line === '.') return '554 no valid recipients';
      return line.startsWith('RCPT') ? '550 no such user' : polite(line);
    });
    const exchange = await session.send(mail());
    expect(exchange).to.deep.include({ accepted: false, handedOver: false });
    expect(exchange).to.have.nested.property('error.response', '550 no such user');
    expect(writes.at(-1)).to.equal('.\r\n');
    expect(session.usable).to.equal(true);
  });

  it('is at its end with a 421, whatever it answers', async () => {
    const { session } = await scripted(['PIPELINING'], (line) => (line.startsWith('MAIL') ? '421 closing' : undefined));
    const exchange = await session.send(mail());
    expect(exchange).to.deep.include({ accepted: false, handedOver: false });
    expect(exchange).to.have.nested.property('error.responseCode', 421);
    expect(session.usable).to.equal(false);
  });

  it('is at its end when the server says something that nobody asked for', async () => {
    const { session } = await scripted(['PIPELINING'], (line) =>
      line === '.' ? '250 fine\r\n250 again' : polite(line),
    );
    expect((await session.send(mail())).accepted).to.equal(true);
    await new Promise((resolve) => session.onEnd(() => resolve(undefined)));
    expect(session.usable).to.equal(false);
  });

  it('has not handed a mail over when the connection ends in the middle of its text', async () => {
    const { session } = await scripted(['PIPELINING'], (line, socket) => {
      if (line === 'DATA') setTimeout(() => socket.destroy(), 50);
      return polite(line);
    });
    // More than any buffer between the two takes.
    const exchange = await session.send(mail('x'.repeat(70).concat('\r\n').repeat(500_000)));
    expect(exchange).to.deep.include({ accepted: false, handedOver: false });
  });

  it('offers no mail that is larger than the server takes', async () => {
    const { session, writes } = await scripted(['PIPELINING', 'SIZE 100'], polite);
    expect(await session.send(mail('x'.repeat(200)))).to.have.nested.property('error.kind', 'permanent');
    expect(writes).to.deep.equal([]);
    expect((await session.send(mail())).accepted).to.equal(true);
  });

  it('normalises line ends and offers no mail with a NUL byte or a control character in its envelope', async () => {
    const { session, writes } = await scripted(['PIPELINING'], polite);
    expect((await session.send(mail('a\rb\n.\r\n\rMAIL FROM:<x>\r\n'))).accepted).to.equal(true);
    expect(writes.at(-1)).to.equal(`${head}a\r\nb\r\n..\r\n\r\nMAIL FROM:<x>\r\n.\r\n`);
    writes.length = 0;
    for (const bad of [mail('a\0b\r\n'), mail('x\r\n', { to: 'a@b.co>\r\nRSET' }), mail('x', { from: 'a\0@b.co' })])
      expect(await session.send(bad)).to.have.nested.property('error.kind', 'permanent');
    expect(writes).to.deep.equal([]);
    // Announced ahead of its turn, it is refused then too, and the session stays usable.
    const bad = mail('a\0\r\n');
    expect((await session.send(mail(), bad)).accepted).to.equal(true);
    expect(await session.send(bad)).to.have.nested.property('error.kind', 'permanent');
    expect((await session.send(mail())).accepted).to.equal(true);
  });

  it('offers no address to the server that it cannot read', async () => {
    const wide = mail(undefined, { to: 'jörg@example.com', utf8: true });
    const { session } = await scripted(['PIPELINING'], polite);
    expect(await session.send(wide)).to.have.nested.property('error.kind', 'permanent');
    const other = await scripted(['PIPELINING', 'SMTPUTF8', '8BITMIME'], polite);
    expect((await other.session.send(wide)).accepted).to.equal(true);
    expect(Buffer.from(other.writes[0] ?? '', 'latin1').toString()).to.contain(
      'MAIL FROM:<shop@demo.localhost> SMTPUTF8 BODY=8BITMIME\r\nRCPT TO:<jörg@example.com>',
    );
  });

  describe('with a server of another make', () => {
    const serve = async (options: SMTPServerOptions) => {
      const taken: string[] = [];
      const server = new SMTPServer({
        disableReverseLookup: true,
        closeTimeout: 100,
        authOptional: true,
        onData: (stream, session, done) => {
          let text = '';
          stream.on('data', (chunk: Buffer) => {
            text += chunk.toString('latin1');
          });
          stream.on('end', () => {
            taken.push(`${session.secure ? 'over TLS' : 'in plain'} from ${session.user || 'nobody'}: ${text}`);
            done();
          });
        },
        onAuth: ({ username, password, validatePassword }, _session, done) => {
          const right = username === 'me' && (password === 'sécret' || validatePassword?.('sécret'));
          if (right) done(null, { user: 'me' });
          else done(new Error('wrong password'));
        },
        ...options,
      });
      server.on('error', () => {});
      server.listen(0, '127.0.0.1');
      await once(server.server, 'listening');
      ends.push(() => new Promise<void>((resolve) => server.close(resolve)));
      return { taken, at: `127.0.0.1:${(server.server.address() as AddressInfo).port}` };
    };
    const sendTo = async (url: string): Promise<void> => {
      const session = await open(url);
      expect((await session.send(mail())).accepted).to.equal(true);
      session.close();
    };
    const login = `me:${encodeURIComponent('sécret')}`;

    it('turns to TLS where it is offered, and only to a certificate that it trusts', async () => {
      const { taken, at } = await serve({});
      await sendTo(`smtp://${at}?tls.rejectUnauthorized=false`);
      expect(taken).to.deep.equal([`over TLS from nobody: ${head}Hello\r\n`]);
      const refused = await open(`smtp://${at}`).catch((error: Error) => error);
      expect(refused).to.be.instanceOf(Error);
      await sendTo(`smtp://${at}?ignoreTLS=true`);
      expect(taken.at(-1)).to.match(/^in plain/);
    });

    it('begins with TLS where the address says so', async () => {
      const { taken, at } = await serve({ secure: true });
      await sendTo(`smtps://${at}?tls.rejectUnauthorized=false`);
      expect(taken).to.deep.equal([`over TLS from nobody: ${head}Hello\r\n`]);
    });

    it('insists on TLS where it is told to', async () => {
      const { at } = await serve({ disabledCommands: ['STARTTLS'] });
      const refused = await open(`smtp://${at}?requireTLS=true`).catch((error: Error) => error.message);
      expect(refused).to.match(/^50\d /);
    });

    for (const method of ['PLAIN', 'LOGIN', 'CRAM-MD5'])
      it(`logs in by ${method}`, async () => {
        const { taken, at } = await serve({
          authMethods: [method],
          allowInsecureAuth: true,
          disabledCommands: ['STARTTLS'],
        });
        await sendTo(`smtp://${login}@${at}`);
        expect(taken).to.deep.equal([`in plain from me: ${head}Hello\r\n`]);
        const refused = await open(`smtp://me:guess@${at}`).catch((error: Error) => error.message);
        expect(refused).to.match(/^535 /);
      });

    describe('that is given a password', () => {
      /** Reaches this machine by an address that is not one of its loopback addresses. */
      const elsewhere = (at: string) => at.replace('127.0.0.1', '0.0.0.0');
      const recorded = async (options: SMTPServerOptions) => {
        let logins = 0;
        const served = await serve({
          allowInsecureAuth: true,
          ...options,
          onAuth: (_auth, _session, done) => {
            logins++;
            done(null, { user: 'me' });
          },
        });
        return { ...served, logins: () => logins };
      };
      const failure = (url: string) =>
        open(url).then(
          () => 'opened',
          (error: Error) => error.message,
        );

      it('sends no AUTH to another host that offers no STARTTLS, and says what to do', async () => {
        const { at, logins } = await recorded({ disabledCommands: ['STARTTLS'] });
        expect(await failure(`smtp://${login}@${elsewhere(at)}`))
          .to.contain('0.0.0.0 offers no STARTTLS')
          .and.contain('SMTP_ALLOW_PLAIN_AUTH');
        expect(logins()).to.equal(0);
      });

      it('sends no AUTH where the URL turns TLS off', async () => {
        const { at, logins } = await recorded({});
        expect(await failure(`smtp://${login}@${elsewhere(at)}?ignoreTLS=true`)).to.contain('ignoreTLS');
        expect(logins()).to.equal(0);
      });

      it('logs in over STARTTLS and over TLS from the first byte', async () => {
        const started = await recorded({});
        expect(await failure(`smtp://${login}@${elsewhere(started.at)}?tls.rejectUnauthorized=false`)).to.equal(
          'opened',
        );
        const secure = await recorded({ secure: true });
        expect(await failure(`smtps://${login}@${elsewhere(secure.at)}?tls.rejectUnauthorized=false`)).to.equal(
          'opened',
        );
        expect([started.logins(), secure.logins()]).to.deep.equal([1, 1]);
      });

      it('logs in without TLS where the setting allows it', async () => {
        const { at, logins } = await recorded({ disabledCommands: ['STARTTLS'] });
        const session = await SmtpSession.open(smtpTarget(`smtp://${login}@${elsewhere(at)}`, TIMEOUTS, true));
        session.close();
        expect(logins()).to.equal(1);
      });

      it('opens a connection without TLS to another host where the URL has no password', async () => {
        const { at } = await recorded({ disabledCommands: ['STARTTLS'] });
        expect(await failure(`smtp://${elsewhere(at)}`)).to.equal('opened');
      });
    });
  });
});

describe('a text for the wire', () => {
  for (const [what, raw, ready] of [
    ['is left alone where it is fit', 'a: b\r\n\r\nx.\r\n', 'a: b\r\n\r\nx.\r\n'],
    ['has a second dot where a line begins with one', '.a\r\n..\r\n\r\n.\r\n', '..a\r\n...\r\n\r\n..\r\n'],
    ['has whole line ends', 'a\nb\r\nc', 'a\r\nb\r\nc\r\n'],
    ['has no CR or LF that stands alone', 'a\rb\r\r\n\n\rc\n\r', 'a\r\nb\r\n\r\n\r\n\r\nc\r\n\r\n'],
    ['doubles a dot behind a lone CR or LF', 'a\r.\r\n\n.b\r\n', 'a\r\n..\r\n\r\n..b\r\n'],
    ['is never empty', '', '\r\n'],
  ] as const)
    it(what, () => {
      expect(readyForWire(Buffer.from(raw)).toString()).to.equal(ready);
    });

  it('is refused with a NUL byte', () => {
    expect(() => readyForWire(Buffer.from('a\r\n\0\r\n'))).to.throw('NUL byte');
  });
});
