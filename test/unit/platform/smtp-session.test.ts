import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { type SmtpMessage, toSmtpData } from '../../../platform/mime/smtp-message.ts';
import { SmtpSession, smtpTarget } from '../../../platform/smtp/session.ts';

const TIMEOUTS = { connectMs: 60_000, greetingMs: 60_000, silenceMs: 60_000 };
const head = 'Subject: x\r\n\r\n';
const mail = (body = 'Hello\r\n', change: Partial<SmtpMessage> = {}): SmtpMessage => ({
  from: 'shop@demo.localhost',
  to: 'ann@example.com',
  utf8: false,
  raw: Buffer.from(head + body),
  ...change,
});
const open = (url: string) => SmtpSession.open(smtpTarget(url, TIMEOUTS));

describe('SMTP session', () => {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  /** Starts a server with the given extensions that answers each line with the result of `answer`. */
  const scripted = async (extensions: string[], answer: (line: string, socket: Socket) => string | undefined) => {
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
          const reply = line.startsWith('EHLO')
            ? ['hello', ...extensions]
                .map((keyword, n) => `250${n < extensions.length ? '-' : ' '}${keyword}`)
                .join('\r\n')
            : answer(line, socket);
          if (reply?.startsWith('354')) inData = true;
          if (reply) socket.write(`${reply}\r\n`);
        }
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const session = await open(`smtp://127.0.0.1:${(server.address() as AddressInfo).port}`);
    cleanups.push(() => session.close(true));
    writes.length = 0;
    return { session, writes };
  };
  const acceptAll = (line: string) => (line === 'DATA' ? '354 go on' : '250 fine');

  it('writes MAIL, RCPT and DATA at once with PIPELINING', async () => {
    const { session, writes } = await scripted(['PIPELINING', 'SIZE 1000'], acceptAll);
    const sent = mail();
    expect(await session.send(sent)).to.deep.equal({ accepted: true, response: '250 fine' });
    const envelope = `MAIL FROM:<shop@demo.localhost> SIZE=${sent.raw.length}\r\nRCPT TO:<ann@example.com>\r\nDATA\r\n`;
    expect(writes).to.deep.equal([envelope, `${head}Hello\r\n.\r\n`]);
  });

  it('writes commands one by one without PIPELINING', async () => {
    const { session, writes } = await scripted([], acceptAll);
    expect((await session.send(mail())).accepted).to.equal(true);
    expect(writes.slice(0, 3)).to.deep.equal([
      'MAIL FROM:<shop@demo.localhost>\r\n',
      'RCPT TO:<ann@example.com>\r\n',
      'DATA\r\n',
    ]);
  });

  describe('with a next mail', () => {
    const first = mail('One\r\n');
    const second = mail('Two\r\n', { to: 'bob@example.com' });
    const envelope = (to: string) => `MAIL FROM:<shop@demo.localhost>\r\nRCPT TO:<${to}>\r\nDATA\r\n`;

    it('writes the next envelope behind the current body', async () => {
      const { session, writes } = await scripted(['PIPELINING'], acceptAll);
      expect((await session.send(first, second)).accepted).to.equal(true);
      expect(session.hasAnnouncedMail).to.equal(true);
      expect((await session.send(second)).accepted).to.equal(true);
      expect(session.hasAnnouncedMail).to.equal(false);
      expect(writes).to.deep.equal([
        envelope('ann@example.com'),
        `${head}One\r\n.\r\n${envelope('bob@example.com')}`,
        `${head}Two\r\n.\r\n`,
      ]);
    });

    it('writes the next envelope later without PIPELINING', async () => {
      const { session, writes } = await scripted([], acceptAll);
      expect((await session.send(first, second)).accepted).to.equal(true);
      expect(session.hasAnnouncedMail).to.equal(false);
      expect(writes.at(-1)).to.equal(`${head}One\r\n.\r\n`);
      expect((await session.send(second)).accepted).to.equal(true);
    });

    it('sends the next mail when the current one is refused', async () => {
      let texts = 0;
      const { session } = await scripted(['PIPELINING'], (line) =>
        line === '.' && texts++ === 0 ? '554 looks like spam' : acceptAll(line),
      );
      expect(await session.send(first, second)).to.have.nested.property('error.response', '554 looks like spam');
      expect((await session.send(second)).accepted).to.equal(true);
    });

    it('reports a refused next mail when it is sent', async () => {
      const { session, writes } = await scripted(['PIPELINING', 'SIZE 100'], (line) =>
        line.includes('bob') ? '550 no such user' : line === '.' && texts(writes) === 2 ? '554 none' : acceptAll(line),
      );
      expect((await session.send(first, second)).accepted).to.equal(true);
      expect(await session.send(second)).to.have.nested.property('error.response', '550 no such user');
      const large = mail('x'.repeat(200));
      expect((await session.send(first, large)).accepted).to.equal(true);
      expect(session.hasAnnouncedMail).to.equal(false);
      expect(await session.send(large)).to.have.nested.property('error.kind', 'permanent');
    });
    const texts = (writes: string[]) => writes.filter((write) => write.includes('.\r\n')).length;

    it('closes the session when another mail is sent instead', async () => {
      const { session, writes } = await scripted(['PIPELINING'], acceptAll);
      await session.send(first, second);
      const exchange = await session.send(mail('Three\r\n'));
      expect(exchange).to.deep.include({ accepted: false, handedOver: false });
      expect(session.usable).to.equal(false);
      expect(writes.join('')).to.not.contain('Three');
    });
  });

  it('sends an empty body when the server refused the recipient and accepted DATA', async () => {
    const { session, writes } = await scripted(['PIPELINING'], (line) => {
      if (line === '.') return '554 no valid recipients';
      return line.startsWith('RCPT') ? '550 no such user' : acceptAll(line);
    });
    const exchange = await session.send(mail());
    expect(exchange).to.deep.include({ accepted: false, handedOver: false });
    expect(exchange).to.have.nested.property('error.response', '550 no such user');
    expect(writes.at(-1)).to.equal('.\r\n');
    expect(session.usable).to.equal(true);
  });

  it('ends with a 421 to any command', async () => {
    const { session } = await scripted(['PIPELINING'], (line) => (line.startsWith('MAIL') ? '421 closing' : undefined));
    const exchange = await session.send(mail());
    expect(exchange).to.deep.include({ accepted: false, handedOver: false });
    expect(exchange).to.have.nested.property('error.responseCode', 421);
    expect(session.usable).to.equal(false);
  });

  for (const extensions of [['PIPELINING'], []])
    describe(`names the step of a failure ${extensions.length > 0 ? 'with' : 'without'} PIPELINING`, () => {
      for (const [step, command] of [
        ['MAIL', 'MAIL'],
        ['RCPT', 'RCPT'],
        ['DATA', 'DATA'],
        ['text', '.'],
      ] as const) {
        it(`${step}, refused`, async () => {
          const { session } = await scripted(extensions, (line) =>
            line.startsWith(command) ? '421 closing' : acceptAll(line),
          );
          expect(await session.send(mail())).to.deep.include({ accepted: false, step, handedOver: step === 'text' });
        });

        it(`${step}, with a lost connection`, async () => {
          const { session } = await scripted(extensions, (line, socket) => {
            if (!line.startsWith(command)) return acceptAll(line);
            socket.end();
            return undefined;
          });
          expect(await session.send(mail())).to.deep.include({ accepted: false, step, handedOver: step === 'text' });
        });
      }
    });

  it('ends with an unsolicited reply', async () => {
    const { session } = await scripted(['PIPELINING'], (line) =>
      line === '.' ? '250 fine\r\n250 again' : acceptAll(line),
    );
    expect((await session.send(mail())).accepted).to.equal(true);
    await new Promise((resolve) => session.onEnd(() => resolve(undefined)));
    expect(session.usable).to.equal(false);
  });

  it('reports no hand-over when the connection ends in the middle of the body', async () => {
    const { session } = await scripted(['PIPELINING'], (line, socket) => {
      if (line === 'DATA') setTimeout(() => socket.destroy(), 50);
      return acceptAll(line);
    });
    // Exceeds all buffers between client and server.
    const exchange = await session.send(mail('x'.repeat(70).concat('\r\n').repeat(500_000)));
    expect(exchange).to.deep.include({ accepted: false, handedOver: false });
  });

  it('does not offer a mail that exceeds SIZE', async () => {
    const { session, writes } = await scripted(['PIPELINING', 'SIZE 100'], acceptAll);
    expect(await session.send(mail('x'.repeat(200)))).to.have.nested.property('error.kind', 'permanent');
    expect(writes).to.deep.equal([]);
    expect((await session.send(mail())).accepted).to.equal(true);
  });

  it('normalises line ends, and rejects a NUL byte or control characters in the envelope', async () => {
    const { session, writes } = await scripted(['PIPELINING'], acceptAll);
    expect((await session.send(mail('a\rb\n.\r\n\rMAIL FROM:<x>\r\n'))).accepted).to.equal(true);
    expect(writes.at(-1)).to.equal(`${head}a\r\nb\r\n..\r\n\r\nMAIL FROM:<x>\r\n.\r\n`);
    writes.length = 0;
    for (const bad of [mail('a\0b\r\n'), mail('x\r\n', { to: 'a@b.co>\r\nRSET' }), mail('x', { from: 'a\0@b.co' })])
      expect(await session.send(bad)).to.have.nested.property('error.kind', 'permanent');
    expect(writes).to.deep.equal([]);
    // Rejected as next mail too, and the session stays usable.
    const bad = mail('a\0\r\n');
    expect((await session.send(mail(), bad)).accepted).to.equal(true);
    expect(await session.send(bad)).to.have.nested.property('error.kind', 'permanent');
    expect((await session.send(mail())).accepted).to.equal(true);
  });

  it('offers an internationalized address only with SMTPUTF8', async () => {
    const internationalized = mail(undefined, { to: 'jörg@example.com', utf8: true });
    const { session } = await scripted(['PIPELINING'], acceptAll);
    expect(await session.send(internationalized)).to.have.nested.property('error.kind', 'permanent');
    const other = await scripted(['PIPELINING', 'SMTPUTF8', '8BITMIME'], acceptAll);
    expect((await other.session.send(internationalized)).accepted).to.equal(true);
    expect(Buffer.from(other.writes[0] ?? '', 'latin1').toString()).to.contain(
      'MAIL FROM:<shop@demo.localhost> SMTPUTF8 BODY=8BITMIME\r\nRCPT TO:<jörg@example.com>',
    );
  });

  describe('with the smtp-server package', () => {
    const serve = async (options: SMTPServerOptions) => {
      const accepted: string[] = [];
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
            accepted.push(`${session.secure ? 'over TLS' : 'in plain'} from ${session.user || 'anonymous'}: ${text}`);
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
      cleanups.push(() => new Promise<void>((resolve) => server.close(resolve)));
      return { accepted, address: `127.0.0.1:${(server.server.address() as AddressInfo).port}` };
    };
    const sendTo = async (url: string): Promise<void> => {
      const session = await open(url);
      expect((await session.send(mail())).accepted).to.equal(true);
      session.close();
    };
    const login = `me:${encodeURIComponent('sécret')}`;

    it('uses STARTTLS when offered, and refuses an untrusted certificate', async () => {
      const { accepted, address } = await serve({});
      await sendTo(`smtp://${address}?tls.rejectUnauthorized=false`);
      expect(accepted).to.deep.equal([`over TLS from anonymous: ${head}Hello\r\n`]);
      const refused = await open(`smtp://${address}`).catch((error: Error) => error);
      expect(refused).to.be.instanceOf(Error);
      await sendTo(`smtp://${address}?ignoreTLS=true`);
      expect(accepted.at(-1)).to.match(/^in plain/);
    });

    it('starts with TLS for smtps URLs', async () => {
      const { accepted, address } = await serve({ secure: true });
      await sendTo(`smtps://${address}?tls.rejectUnauthorized=false`);
      expect(accepted).to.deep.equal([`over TLS from anonymous: ${head}Hello\r\n`]);
    });

    it('fails without STARTTLS when requireTLS is set', async () => {
      const { address } = await serve({ disabledCommands: ['STARTTLS'] });
      const refused = await open(`smtp://${address}?requireTLS=true`).catch((error: Error) => error.message);
      expect(refused).to.match(/^50\d /);
    });

    for (const method of ['PLAIN', 'LOGIN', 'CRAM-MD5'])
      it(`logs in with ${method}`, async () => {
        const { accepted, address } = await serve({
          authMethods: [method],
          allowInsecureAuth: true,
          disabledCommands: ['STARTTLS'],
        });
        await sendTo(`smtp://${login}@${address}`);
        expect(accepted).to.deep.equal([`in plain from me: ${head}Hello\r\n`]);
        const refused = await open(`smtp://me:guess@${address}`).catch((error: Error) => error.message);
        expect(refused).to.match(/^535 /);
      });

    describe('with a password', () => {
      /** Reaches the local machine by an address outside of the loopback range. */
      const elsewhere = (address: string) => address.replace('127.0.0.1', '0.0.0.0');
      const recorded = async (options: SMTPServerOptions) => {
        let logins = 0;
        const server = await serve({
          allowInsecureAuth: true,
          ...options,
          onAuth: (_auth, _session, done) => {
            logins++;
            done(null, { user: 'me' });
          },
        });
        return { ...server, logins: () => logins };
      };
      const failure = (url: string) =>
        open(url).then(
          () => 'opened',
          (error: Error) => error.message,
        );

      it('sends no AUTH to a remote host without STARTTLS, and names the setting', async () => {
        const { address, logins } = await recorded({ disabledCommands: ['STARTTLS'] });
        expect(await failure(`smtp://${login}@${elsewhere(address)}`))
          .to.contain('0.0.0.0 offers no STARTTLS')
          .and.contain('SMTP_ALLOW_PLAIN_AUTH');
        expect(logins()).to.equal(0);
      });

      it('sends no AUTH to a remote host with ignoreTLS', async () => {
        const { address, logins } = await recorded({});
        expect(await failure(`smtp://${login}@${elsewhere(address)}?ignoreTLS=true`)).to.contain('ignoreTLS');
        expect(logins()).to.equal(0);
      });

      it('logs in over STARTTLS and over smtps', async () => {
        const started = await recorded({});
        expect(await failure(`smtp://${login}@${elsewhere(started.address)}?tls.rejectUnauthorized=false`)).to.equal(
          'opened',
        );
        const secure = await recorded({ secure: true });
        expect(await failure(`smtps://${login}@${elsewhere(secure.address)}?tls.rejectUnauthorized=false`)).to.equal(
          'opened',
        );
        expect([started.logins(), secure.logins()]).to.deep.equal([1, 1]);
      });

      it('logs in without TLS when allowPlainAuth is set', async () => {
        const { address, logins } = await recorded({ disabledCommands: ['STARTTLS'] });
        const session = await SmtpSession.open(smtpTarget(`smtp://${login}@${elsewhere(address)}`, TIMEOUTS, true));
        session.close();
        expect(logins()).to.equal(1);
      });

      it('connects to a remote host without TLS when the URL has no password', async () => {
        const { address } = await recorded({ disabledCommands: ['STARTTLS'] });
        expect(await failure(`smtp://${elsewhere(address)}`)).to.equal('opened');
      });
    });
  });
});

describe('toSmtpData', () => {
  for (const [title, raw, data] of [
    ['leaves valid data unchanged', 'a: b\r\n\r\nx.\r\n', 'a: b\r\n\r\nx.\r\n'],
    ['doubles a dot at the start of a line', '.a\r\n..\r\n\r\n.\r\n', '..a\r\n...\r\n\r\n..\r\n'],
    ['ends every line in CRLF', 'a\nb\r\nc', 'a\r\nb\r\nc\r\n'],
    ['replaces lone CR and LF', 'a\rb\r\r\n\n\rc\n\r', 'a\r\nb\r\n\r\n\r\n\r\nc\r\n\r\n'],
    ['doubles a dot after a lone CR or LF', 'a\r.\r\n\n.b\r\n', 'a\r\n..\r\n\r\n..b\r\n'],
    ['ends empty data in CRLF', '', '\r\n'],
  ] as const)
    it(title, () => {
      expect(toSmtpData(Buffer.from(raw)).toString()).to.equal(data);
    });

  it('throws for a NUL byte', () => {
    expect(() => toSmtpData(Buffer.from('a\r\n\0\r\n'))).to.throw('NUL byte');
  });
});
