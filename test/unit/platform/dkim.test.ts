import { createHash, generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { newId } from '../../../platform/ids.ts';
import { composeMail, MailSkeleton, type OutgoingMail } from '../../../platform/mime/compose.ts';
import { bodyHash, type DkimKey, signWithDkim } from '../../../platform/mime/dkim.ts';
import { toSmtpData } from '../../../platform/mime/smtp-message.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const key: DkimKey = { domain: 'demo.example', selector: 'ep1', privateKey };

/** Verifies like a receiving server, with the key from DNS. */
async function verify(raw: Buffer): Promise<string | undefined> {
  const { results } = await dkimVerify(raw, {
    resolver: async (name: string) => {
      if (name !== 'ep1._domainkey.demo.example') throw Object.assign(new Error('none'), { code: 'ENOTFOUND' });
      return [[`v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`]];
    },
  });
  return results[0]?.status.result;
}

/** Returns the header names in the `h=` tag of the signature. */
const covered = (raw: Buffer): string[] => (/\bh=([^;]*);/.exec(raw.toString())?.[1] ?? '').split(/[\s:]+/);

const mail = (change: Partial<OutgoingMail> = {}): OutgoingMail => ({
  id: newId(),
  from: { email: 'shop@demo.example', name: 'Läden & Söhne' },
  to: { email: 'ann@example.com' },
  subject: 'Grüße',
  html: '<p>Hello  there</p>',
  text: 'Hello  there \t\n\n\n',
  dkim: key,
  ...change,
});

describe('DKIM signature', () => {
  it('verifies and covers the unsubscribe headers', async () => {
    const headers = {
      'List-Unsubscribe': '<https://example.com/unsubscribe/x>',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    };
    const { raw } = await composeMail(mail({ headers, replyTo: 'help@demo.example' }));
    expect(await verify(raw)).to.equal('pass');
    for (const name of ['from', 'to', 'subject', 'date', 'message-id', 'reply-to', 'mime-version', 'content-type'])
      expect(covered(raw)).to.include(name);
    expect(covered(raw)).to.include('list-unsubscribe').and.include('list-unsubscribe-post');
  });

  it('verifies with attachments and with addresses that need SMTPUTF8', async () => {
    const file = {
      filename: 'ü.txt',
      contentType: 'text/plain',
      disposition: 'attachment' as const,
      content: Buffer.from('a \t b\n\n'),
    };
    expect(await verify((await composeMail(mail({ attachments: [file] }))).raw)).to.equal('pass');
    const internationalized = await composeMail(mail({ to: { email: 'jörg@example.com', name: 'Jörg' } }));
    expect(await verify(internationalized.raw)).to.equal('pass');
  });

  it('fails when a second From is added or any signed text is changed', async () => {
    const { raw } = await composeMail(mail());
    const text = raw.toString('latin1');
    for (const changed of [
      `From: boss@demo.example\r\n${text}`,
      text.replace('Hello', 'Hullo'),
      text.replace('ann@', 'eve@'),
    ])
      expect(await verify(Buffer.from(changed, 'latin1'))).to.not.equal('pass');
  });

  const OVERSIGNED = ['from', 'subject', 'to', 'date', 'reply-to', 'mime-version', 'content-type'];

  it('names each oversigned header once more than the mail has it', async () => {
    const { raw } = await composeMail(mail());
    const countOf = (name: string) => covered(raw).filter((header) => header === name).length;
    expect(OVERSIGNED.map(countOf)).to.deep.equal([2, 2, 2, 2, 1, 2, 2]);
    const { raw: withReplyTo } = await composeMail(mail({ replyTo: 'help@demo.example' }));
    expect(covered(withReplyTo).filter((header) => header === 'reply-to')).to.have.length(2);
    expect([await verify(raw), await verify(withReplyTo)]).to.deep.equal(['pass', 'pass']);
  });

  for (const name of OVERSIGNED)
    it(`fails when a ${name} header is added above or below the signed ones`, async () => {
      const text = (await composeMail(mail())).raw.toString('latin1');
      const headEnd = text.indexOf('\r\n\r\n') + 2;
      const added = `${name}: Eve <eve@demo.example>\r\n`;
      for (const changed of [added + text, text.slice(0, headEnd) + added + text.slice(headEnd)])
        expect(await verify(Buffer.from(changed, 'latin1'))).to.not.equal('pass');
    });

  it('verifies for campaign mails with a shared head, and fails when a header is added', async () => {
    const skeleton = new MailSkeleton({ from: { email: 'shop@demo.example' }, dkim: key });
    for (const to of ['ann@example.com', 'bob@example.com']) {
      const { raw } = await skeleton.compose({ id: newId(), to: { email: to }, subject: 'x', html: '<p>a  b</p>' });
      expect(await verify(raw)).to.equal('pass');
      expect(await verify(Buffer.concat([Buffer.from('From: eve@demo.example\r\n'), raw]))).to.not.equal('pass');
    }
  });

  it('covers the sent bytes because line ends are normalised before signing', async () => {
    const content = Buffer.from('From: a@b.co\r\rone\rtwo\n.three \t\n\r\nfour');
    const file = { filename: 'x.eml', contentType: 'message/rfc822', disposition: 'attachment' as const, content };
    const { raw } = await composeMail(mail({ attachments: [file] }));
    expect(raw.toString('latin1')).to.not.match(/\r(?!\n)|(?<!\r)\n/);
    expect(raw.toString('latin1')).to.contain('\r\none\r\ntwo\r\n.three');
    expect(await verify(raw)).to.equal('pass');
    // A server removes the doubled dot before it verifies.
    const received = toSmtpData(raw).toString('latin1').replaceAll('\r\n..', '\r\n.');
    expect(await verify(Buffer.from(received, 'latin1'))).to.equal('pass');
  });

  it('hashes any mix of blanks, tabs, line ends and text like a literal RFC 6376 implementation', () => {
    const piece = fc.constantFrom(' ', '\t', '\r\n', '\r', '\n', 'x', '  ', ' \r\n');
    /** Applies the two rules of RFC 6376, 3.4.4, one after the other. */
    const reference = (body: string) => {
      const reduced = body.replace(/[ \t]+(?=\r\n|$)/g, '').replace(/[ \t]+/g, ' ');
      const text = reduced.replace(/(?:\r\n)+$/, '');
      return createHash('sha256')
        .update(text && `${text}\r\n`)
        .digest('base64');
    };
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        expect(bodyHash(pieces.join(''))).to.equal(reference(pieces.join('')));
      }),
      { numRuns: 500 },
    );
  });

  for (const [what, body] of Object.entries({
    'an empty body': '',
    'empty lines alone': '\r\n\r\n',
    'spaces alone': ' \t\r\n  ',
    'empty lines at the end': 'a\r\n\r\n\r\n',
    'no line end at the end': 'a',
    'spaces at the ends of lines': ' a  b\t c \r\n\t\r\nd \r\n',
  }))
    it(`verifies with ${what}`, async () => {
      const head = 'From: Shop <shop@demo.example>\r\nSubject:  a\r\n\t b \r\n';
      expect(await verify(await signWithDkim(Buffer.from(`${head}\r\n${body}`), key))).to.equal('pass');
    });

  it('verifies for any subject and body', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(text, text, text, async (subject, html, plain) => {
        const { raw } = await composeMail(mail({ subject, html: `<p>${html}`, text: plain }));
        expect(await verify(raw)).to.equal('pass');
      }),
      { numRuns: 50 },
    );
  });

  it('uses the RFC 6376 hash for an empty body', () => {
    expect(bodyHash('')).to.equal('47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=');
    expect(bodyHash('\r\n\r\n')).to.equal(bodyHash(''));
  });
});
