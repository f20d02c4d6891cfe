import { expect } from 'chai';
import fc from 'fast-check';
import { newId } from '../../platform/ids.ts';
import { MailLinks } from '../../services/emails/links.ts';
import { openReturnPath, openReturnToken, returnPath, returnToken } from '../../services/emails/return-token.ts';
import { bounceTypeOf, readReturnedMail, takesReturnedMail } from '../../services/notices/returned-mail.ts';
import { bounceReport, complaintReport } from '../support/reports.ts';

const keys = ['the current secret key', 'the one before it'] as const;
const id = newId();
const token = returnToken(keys, id);
const path = returnPath(token, 'bounce.shop.example');
const complaintAddress = 'abuse@bounce.shop.example';
const read = (to: string, raw: string) => readReturnedMail(keys, to, Buffer.from(raw));

describe('the return path', () => {
  it('contains the mail’s id, in any letter case and with an older key', () => {
    expect(path).to.match(/^b-[0-9a-f]{32}-[0-9a-f]{20}@bounce\.shop\.example$/);
    expect(path.split('@')[0]?.length).to.be.at.most(64);
    expect(openReturnPath(keys, path.toUpperCase())).to.equal(id);
    expect(openReturnPath(keys, `<${path}>`)).to.equal(id);
    expect(openReturnPath(keys, returnPath(returnToken([keys[1]], id), 'x.example'))).to.equal(id);
  });

  it('is set when a bounce subdomain is configured; the header token always', () => {
    const links = { baseUrl: '', secretKeys: keys };
    const mail = { id, from: 'a@zürich.example' };
    expect(new MailLinks(links).signedIdOf(mail)).to.deep.equal({ mark: token, envelopeFrom: undefined });
    expect(new MailLinks({ ...links, mailFrom: { subdomain: 'bounce' } }).signedIdOf(mail)).to.deep.equal({
      mark: token,
      envelopeFrom: `b-${token}@bounce.xn--zrich-kva.example`,
    });
  });

  it('is rejected when forged', () => {
    const forged = returnToken(['the secret key of another installation'], id);
    const others = [forged, `${newId().replaceAll('-', '')}${token.slice(32)}`, token.slice(0, -1), '', 'b-', id, '-'];
    for (const other of others) expect(openReturnToken(keys, other), other).to.equal(undefined);
    fc.assert(fc.property(fc.string(), (text) => openReturnPath(keys, text) === undefined));
  });
});

describe('returned mail', () => {
  it('is accepted for valid return paths and complaint addresses only', () => {
    for (const address of [path, path.toUpperCase(), complaintAddress, 'FBL@x.example'])
      expect(takesReturnedMail(keys, address)).to.equal(true);
    for (const address of ['ann@x.example', 'b-123@x.example', '', '@', 'b-@x.example'])
      expect(takesReturnedMail(keys, address), address).to.equal(false);
  });

  it('is read as a bounce with the diagnostic of the server', async () => {
    expect(await read(path, bounceReport({ to: path }))).to.deep.equal([
      {
        mail: { id },
        kind: 'bounce',
        bounceType: 'Permanent',
        reason: 'smtp; 550 5.1.1 <user@example.com>: no such user',
      },
    ]);
  });

  it('is read with folded lines and with bare LF line ends', async () => {
    const folded = bounceReport({ to: path, diagnostic: 'smtp;\r\n 550 5.1.1\r\n\tunknown' });
    const [notice] = await read(path, folded.replaceAll('\r\n', '\n'));
    expect(notice).to.include({ kind: 'bounce', bounceType: 'Permanent' });
    expect(notice?.reason).to.match(/^smtp; 550 5\.1\.1\s+unknown$/);
  });

  it('is matched by the returned X-Everpost-Id header', async () => {
    const headers = `From: a@shop.example\r\nX-Everpost-Id: ${token}`;
    expect((await read('postmaster@x.example', bounceReport({ to: 'x', headers })))[0]).to.deep.include({
      mail: { id },
    });
  });

  it('is read as a complaint', async () => {
    const expected = [{ mail: { id }, kind: 'complaint', reason: 'abuse' }];
    expect(await read(path, complaintReport({ to: path }))).to.deep.equal(expected);
    expect(await read(complaintAddress, complaintReport({ to: complaintAddress, originalFrom: path }))).to.deep.equal(
      expected,
    );
    const headers = `X-EVERPOST-ID: ${token}\r\nSubject: Hello`;
    expect(await read(complaintAddress, complaintReport({ to: complaintAddress, headers }))).to.deep.equal(expected);
  });

  it('is ignored when it is no report or reports no failure', async () => {
    const plain = `To: ${path}\r\nSubject: Re: Hello\r\n\r\nThanks!`;
    const vacation = `To: ${path}\r\nAuto-Submitted: auto-replied\r\nSubject: Away\r\n\r\nI am away.`;
    const harmless = [
      plain,
      vacation,
      '',
      bounceReport({ to: path, action: 'delayed', status: '4.4.1' }),
      bounceReport({ to: path, action: 'relayed', status: '2.0.0' }),
      complaintReport({ to: path, type: 'not-spam' }),
    ];
    for (const raw of harmless) expect(await read(path, raw)).to.deep.equal([]);
    expect(await read(path, bounceReport({ to: path, action: 'delivered', status: '2.0.0' }))).to.deep.equal([
      { mail: { id }, kind: 'delivery' },
    ]);
  });

  it('is ignored without a valid token', async () => {
    const forged = returnToken(['the secret key of another installation'], id);
    const headers = `X-Everpost-Id: ${forged}`;
    expect(await read(complaintAddress, complaintReport({ to: complaintAddress, headers }))).to.deep.equal([]);
    const originalFrom = returnPath(forged, 'bounce.shop.example');
    expect(await read(complaintAddress, complaintReport({ to: complaintAddress, originalFrom }))).to.deep.equal([]);
    expect(await read(originalFrom, bounceReport({ to: originalFrom }))).to.deep.equal([]);
    // The text of the mail is not trusted.
    const body = complaintReport({ to: complaintAddress }).replace(
      'Hello\r\n--report--',
      `X-Everpost-Id: ${token}\r\n--report--`,
    );
    expect(await read(complaintAddress, body)).to.deep.equal([]);
  });

  it('is ignored when malformed or huge', async () => {
    const nested = `${'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n'.repeat(500)}`;
    const monsters = [
      nested,
      `Subject: ${'x'.repeat(600_000)}\r\n\r\n`,
      '\0'.repeat(10_000),
      '--report\r\n'.repeat(20_000),
    ];
    for (const raw of monsters) expect(await read(path, raw)).to.deep.equal([]);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (raw) => {
        expect(await readReturnedMail(keys, path, raw)).to.deep.equal([]);
      }),
    );
  });
});

describe('the type of a bounce', () => {
  const cases: [string, string, string][] = [
    ['5.1.1', '', 'Permanent'],
    ['5.1.2', '', 'Permanent'],
    ['5.1.8', 'smtp; 550 bad sender', 'Undetermined'],
    ['5.2.1', '', 'Permanent'],
    ['5.2.2', 'smtp; 552 mailbox full', 'Transient'],
    ['5.3.4', '', 'Transient'],
    ['5.4.4', '', 'Permanent'],
    ['5.6.0', '', 'Transient'],
    ['5.7.1', 'smtp; 550 spam', 'Undetermined'],
    ['5.0.0', 'smtp; 550 user unknown', 'Permanent'],
    ['5.0.0', 'smtp; 554 no', 'Undetermined'],
    ['4.4.1', '', 'Transient'],
    ['', '', 'Undetermined'],
  ];
  for (const [status, diagnostic, type] of cases)
    it(`is ${type} for status ${status || '(none)'} ${diagnostic}`, () => {
      expect(bounceTypeOf(status, diagnostic)).to.equal(type);
    });
});
