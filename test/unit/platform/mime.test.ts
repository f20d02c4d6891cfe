import { expect } from 'chai';
import fc from 'fast-check';
import MailComposer from 'nodemailer/lib/mail-composer';
import PostalMime, { decodeWords, type Email } from 'postal-mime';
import { newId } from '../../../platform/ids.ts';
import { composeMail, MailSkeleton, messageId, type OutgoingMail } from '../../../platform/mime/compose.ts';
import { EncodedLineCache, quotedPrintable } from '../../../platform/mime/encoding.ts';

const mail = (change: Partial<OutgoingMail> = {}): OutgoingMail => ({
  id: newId(),
  from: { email: 'shop@demo.localhost', name: 'Shop' },
  to: { email: 'ann@example.com', name: 'Ann' },
  subject: 'Hello',
  html: '<p>Hello</p>',
  text: 'Hello',
  ...change,
});

const byNodemailer = (outgoing: OutgoingMail): Promise<Buffer> =>
  new MailComposer({
    messageId: messageId(outgoing),
    from: { name: outgoing.from.name ?? '', address: outgoing.from.email },
    to: { name: outgoing.to.name ?? '', address: outgoing.to.email },
    ...(outgoing.replyTo && { replyTo: outgoing.replyTo }),
    subject: outgoing.subject,
    html: outgoing.html,
    ...(outgoing.text && { text: outgoing.text }),
    headers: outgoing.headers ?? {},
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();

const byUs = (outgoing: OutgoingMail): Buffer => {
  const { headers: _, ...content } = outgoing;
  const composed = new MailSkeleton(outgoing).fill(content);
  if (!composed) throw new Error('left to nodemailer');
  return composed.raw;
};

/** Ignores line ends and runs of spaces, which mail programs do not show. */
const oneSpace = (text: string | undefined) => text?.replace(/\s+/g, ' ').trim();
const lines = (text: string | undefined) => text?.replace(/\r\n/g, '\n').replace(/\n+$/, '');
const read = ({ from, to, replyTo, subject, html, text, messageId: id, headers }: Email) => ({
  from: from && { ...from, name: oneSpace(from.name) },
  to: to?.map((recipient) => ({ ...recipient, name: oneSpace(recipient.name) })),
  replyTo,
  subject: oneSpace(subject) ?? '',
  html: lines(html),
  text: lines(text),
  id,
  extra: headers.filter(({ key }) => key.startsWith('x-')).map(({ key, value }) => [key, oneSpace(decodeWords(value))]),
});

/** Checks the line limits of RFC 5322, 2.1.1 and RFC 2045, 6.7. */
function expectValidLines(raw: Buffer): void {
  const text = raw.toString('latin1');
  expect(text).to.match(/^[\t\r\n\x20-\x7e]*$/);
  expect(text.replaceAll('\r\n', '')).to.not.match(/[\r\n]/);
  const [head = ''] = text.split('\r\n\r\n', 1);
  for (const line of text.split('\r\n')) expect(line.length).to.be.at.most(998);
  for (const line of text.slice(head.length + 4).split('\r\n')) expect(line.length).to.be.at.most(76);
  expect(text).to.not.match(/^\./m);
  for (const line of head.split('\r\n')) expect(line).to.match(/^(?:[\w-]+:|[ \t]+\S)/);
}

const anyText = fc.oneof(
  fc.string({ unit: 'binary-ascii', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.stringMatching(/^[ \t=.F\r\nrom ä€x]{0,400}$/),
  fc.constantFrom('', '.', '=', ' ', 'From me', '.\r\n.', 'a \r\n b\t\n', '=?UTF-8?B?eA==?=', 'x'.repeat(1000)),
);
/** Without control characters, which we and nodemailer replace in different ways. */
const lineText = anyText.map((text) => text.replace(/[\p{C}\u2028\u2029]/gu, ' ').trim());
const body = anyText.map((text) => text.replace(/\r\n?/g, '\n'));

describe('MIME composition', () => {
  it('parses back to the same content, and to the same as the output of nodemailer', async () => {
    await fc.assert(
      fc.asyncProperty(lineText, lineText, lineText, body, body, async (name, subject, value, html, text) => {
        const outgoing = mail({
          from: { email: 'shop@demo.localhost', name },
          replyTo: 'help@demo.localhost',
          subject,
          html: `<p>${html}`,
          text: `T${text}`,
          headers: value === '' ? {} : { 'X-Note': value },
        });
        const raw = byUs(outgoing);
        expectValidLines(raw);
        const ours = read(await PostalMime.parse(raw));
        expect(ours).to.deep.include({
          subject: oneSpace(subject),
          html: lines(outgoing.html),
          text: lines(outgoing.text),
          id: messageId(outgoing),
        });
        expect(ours.from).to.deep.equal({ address: 'shop@demo.localhost', name: oneSpace(name) });
        // nodemailer does not escape text that looks like an encoded word.
        if (![name, subject, value].some((text) => text.includes('=?')))
          expect(ours).to.deep.equal(read(await PostalMime.parse(await byNodemailer(outgoing))));
      }),
      { numRuns: 300 },
    );
  });

  it('writes headers in a fixed order, and a single part without text', () => {
    const { text: _, ...htmlOnly } = mail({ replyTo: 'help@demo.localhost', headers: { 'X-A': '1' } });
    const names = byUs(htmlOnly)
      .toString()
      .split('\r\n\r\n', 1)[0]
      ?.split('\r\n')
      .map((line) => line.split(':', 1)[0]);
    expect(names).to.deep.equal([
      'From',
      'Reply-To',
      'X-A',
      'MIME-Version',
      'To',
      'Subject',
      'Message-ID',
      'Date',
      'Content-Type',
      'Content-Transfer-Encoding',
    ]);
  });

  it('is deterministic except for the date', () => {
    const outgoing = mail();
    const undated = (raw: Buffer) => raw.toString().replace(/^Date: .*$/m, '');
    expect(undated(byUs(outgoing))).to.equal(undated(byUs(outgoing)));
  });

  it('uses base64 for mostly non-ASCII text and quoted-printable otherwise', () => {
    expect(
      byUs(mail({ text: 'Привет', html: '<p>Привет всем, кто это читает</p>' }))
        .toString()
        .match(/base64/g),
    ).to.have.length(2);
    expect(
      byUs(mail({ text: 'Grüße an alle', html: '<p>Grüße an alle</p>' }))
        .toString()
        .match(/quoted-printable/g),
    ).to.have.length(2);
  });

  it('encodes an internationalized domain as ASCII', async () => {
    const composed = await composeMail(mail({ to: { email: 'ann@müller.example' } }));
    expect(composed).to.include({ to: 'ann@xn--mller-kva.example', utf8: false });
    expect(composed.raw.toString()).to.contain('To: ann@xn--mller-kva.example');
  });

  it('sets utf8 when an address needs SMTPUTF8', async () => {
    const composed = await composeMail(mail({ to: { email: 'jörg@example.com' } }));
    expect(composed).to.include({ to: 'jörg@example.com', utf8: true });
  });

  it('encodes cached lines like uncached ones', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '',
        '.',
        '.dot',
        'From here',
        'a \t ',
        '\r',
        'x\r',
        '\t',
        '=',
        `${'long = '.repeat(30)} `,
        'é'.repeat(50),
      ),
      fc.string({ unit: 'binary', maxLength: 90 }),
    );
    const text = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { minLength: 1, maxLength: 12 });
    const wholeText = text.map((lines) => lines.map((parts) => parts.join('')).join(''));
    fc.assert(
      fc.property(fc.array(wholeText, { minLength: 2, maxLength: 5 }), (texts) => {
        const known = new EncodedLineCache();
        const latin = texts.map((each) => Buffer.from(each).toString('latin1'));
        // Encodes each text twice, so that the second time all lines are cached.
        for (const each of [...latin, ...latin]) expect(known.quotedPrintable(each)).to.equal(quotedPrintable(each));
      }),
    );
  });

  it('combines the shared head of a campaign with the content of each mail', async () => {
    const skeleton = new MailSkeleton({
      from: { email: 'shop@demo.localhost', name: 'Läden' },
      headers: { Precedence: 'bulk' },
    });
    const parsed = await Promise.all(
      ['ann', 'bob'].map((name) => {
        const filled = skeleton.fill({
          id: name,
          to: { email: `${name}@example.com` },
          subject: `Hello ${name}`,
          html: `<p>${name}</p>`,
          headers: { 'List-Unsubscribe': `<https://example.com/${name}>` },
        });
        return PostalMime.parse(filled?.raw ?? '');
      }),
    );
    expect(parsed.map(({ subject, messageId: id, to }) => [subject, id, to?.[0]?.address])).to.deep.equal([
      ['Hello ann', '<ann@demo.localhost>', 'ann@example.com'],
      ['Hello bob', '<bob@demo.localhost>', 'bob@example.com'],
    ]);
    for (const { headers } of parsed) {
      expect(headers.find(({ key }) => key === 'precedence')?.value).to.equal('bulk');
      expect(headers.find(({ key }) => key === 'list-unsubscribe')?.value).to.match(/^<https:/);
    }
  });

  it('folds long headers without changing their values', async () => {
    const references = Array.from({ length: 30 }, (_, n) => `<${n}@example.com>`).join(' ');
    const raw = byUs(mail({ headers: { References: references }, subject: 'word '.repeat(100).trim() }));
    expectValidLines(raw);
    const parsed = await PostalMime.parse(raw);
    expect(parsed.references).to.equal(references);
    expect(parsed.subject).to.equal('word '.repeat(100).trim());
    for (const line of raw.toString().split('\r\n\r\n', 1)[0]?.split('\r\n') ?? [])
      expect(line.length).to.be.at.most(78);
  });
});
