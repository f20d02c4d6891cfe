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
const desk = 'abuse@bounce.shop.example';
const read = (to: string, raw: string) => readReturnedMail(keys, to, Buffer.from(raw));

describe('the sender of an envelope', () => {
  it('says which mail has come back, in any case and under an older key', () => {
    expect(path).to.match(/^b-[0-9a-f]{32}-[0-9a-f]{20}@bounce\.shop\.example$/);
    expect(path.split('@')[0]?.length).to.be.at.most(64);
    expect(openReturnPath(keys, path.toUpperCase())).to.equal(id);
    expect(openReturnPath(keys, `<${path}>`)).to.equal(id);
    expect(openReturnPath(keys, returnPath(returnToken([keys[1]], id), 'x.example'))).to.equal(id);
  });

  it('stands in every mail, and in its envelope where bounces have a place', () => {
    const links = { baseUrl: '', secretKeys: keys };
    const mail = { id, from: 'a@zürich.example' };
    expect(new MailLinks(links).marksOf(mail)).to.deep.equal({ mark: token, envelopeFrom: undefined });
    expect(new MailLinks({ ...links, mailFrom: { subdomain: 'bounce' } }).marksOf(mail)).to.deep.equal({
      mark: token,
      envelopeFrom: `b-${token}@bounce.xn--zrich-kva.example`,
    });
  });

  it('cannot be made up', () => {
    const forged = returnToken(['the secret key of somebody else'], id);
    const others = [forged, `${newId().replaceAll('-', '')}${token.slice(32)}`, token.slice(0, -1), '', 'b-', id, '-'];
    for (const other of others) expect(openReturnToken(keys, other), other).to.equal(undefined);
    fc.assert(fc.property(fc.string(), (text) => openReturnPath(keys, text) === undefined));
  });
});

describe('returned mail', () => {
  it('is taken for our mails and for complaints, and for nobody else', () => {
    for (const address of [path, path.toUpperCase(), desk, 'FBL@x.example'])
      expect(takesReturnedMail(keys, address)).to.equal(true);
    for (const address of ['ann@x.example', 'b-123@x.example', '', '@', 'b-@x.example'])
      expect(takesReturnedMail(keys, address), address).to.equal(false);
  });

  it('is a bounce, with what the other server said', async () => {
    expect(await read(path, bounceReport({ to: path }))).to.deep.equal([
      {
        mail: { id },
        kind: 'bounce',
        bounceType: 'Permanent',
        reason: 'smtp; 550 5.1.1 <user@example.com>: no such user',
      },
    ]);
  });

  it('is read where its lines are folded, or end without a CR', async () => {
    const folded = bounceReport({ to: path, diagnostic: 'smtp;\r\n 550 5.1.1\r\n\tunknown' });
    const [notice] = await read(path, folded.replaceAll('\r\n', '\n'));
    expect(notice).to.include({ kind: 'bounce', bounceType: 'Permanent' });
    expect(notice?.reason).to.match(/^smtp; 550 5\.1\.1\s+unknown$/);
  });

  it('is found by the head that came back with it', async () => {
    const headers = `From: a@shop.example\r\nX-Everpost-Id: ${token}`;
    expect((await read('postmaster@x.example', bounceReport({ to: 'x', headers })))[0]).to.deep.include({
      mail: { id },
    });
  });

  it('is a complaint', async () => {
    const expected = [{ mail: { id }, kind: 'complaint', reason: 'abuse' }];
    expect(await read(path, complaintReport({ to: path }))).to.deep.equal(expected);
    expect(await read(desk, complaintReport({ to: desk, originalFrom: path }))).to.deep.equal(expected);
    const headers = `X-EVERPOST-ID: ${token}\r\nSubject: Hello`;
    expect(await read(desk, complaintReport({ to: desk, headers }))).to.deep.equal(expected);
  });

  it('means nothing where it is no report, or one that says nothing bad', async () => {
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

  it('means nothing where no token of ours is in it', async () => {
    const forged = returnToken(['the secret key of somebody else'], id);
    const headers = `X-Everpost-Id: ${forged}`;
    expect(await read(desk, complaintReport({ to: desk, headers }))).to.deep.equal([]);
    const originalFrom = returnPath(forged, 'bounce.shop.example');
    expect(await read(desk, complaintReport({ to: desk, originalFrom }))).to.deep.equal([]);
    expect(await read(originalFrom, bounceReport({ to: originalFrom }))).to.deep.equal([]);
    // In the text of the mail anybody can write anything.
    const body = complaintReport({ to: desk }).replace('Hello\r\n--report--', `X-Everpost-Id: ${token}\r\n--report--`);
    expect(await read(desk, body)).to.deep.equal([]);
  });

  it('is no trouble, whatever it is', async () => {
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
    it(`of ${status || 'nothing'} ${diagnostic} is ${type}`, () => {
      expect(bounceTypeOf(status, diagnostic)).to.equal(type);
    });
});
