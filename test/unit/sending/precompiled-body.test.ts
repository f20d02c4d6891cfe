import { expect } from 'chai';
import fc from 'fast-check';
import PostalMime from 'postal-mime';
import { newId } from '../../../platform/ids.ts';
import { MailSkeleton } from '../../../platform/mime/compose.ts';
import { type SmtpMessage, toSmtpData } from '../../../platform/mime/smtp-message.ts';
import type { SkeletonMail } from '../../../platform/templates/index.ts';
import { type Mail, renderMail } from '../../../platform/templates/mail.ts';
import { addTracking, type MailTracking, trackingOf } from '../../../services/sending/add-tracking.ts';
import { bodyValues, precompiledBody } from '../../../services/sending/precompiled-body.ts';
import { footerFor } from '../../../services/templates/footer.ts';
import { testLinks } from '../../support/links.ts';

const skeleton = new MailSkeleton({ from: { email: 'shop@demo.localhost' } });
const id = newId();
const projectId = newId();
const trackedMail = { id, projectId, type: 'HEADLESS', tracking: 'ENABLED' } as const;
const unsubscribeUrl = 'http://app.test/unsubscribe/token';

function render(html: string, data: Record<string, unknown>, footer = ''): Mail {
  const variables = Object.assign(Object.create(null), { unsubscribeUrl, manageUrl: unsubscribeUrl }, data);
  return renderMail({ subject: '', html }, footer, variables);
}

/** Shares one skeleton object per text, as the renderer does. */
const skeletons = new Map<string, SkeletonMail['skeleton']>();
function shared({ skeleton, values }: SkeletonMail): SkeletonMail {
  const known = skeletons.get(skeleton.html) ?? skeleton;
  skeletons.set(skeleton.html, known);
  return { skeleton: known, values };
}

function fillPrecompiled(
  { skeletonMail }: Mail,
  tracking: MailTracking | undefined,
  headers = {},
): SmtpMessage | undefined {
  if (!skeletonMail) return undefined;
  const own = shared(skeletonMail);
  precompiledBody(own.skeleton, tracking !== undefined);
  const precompiled = precompiledBody(own.skeleton, tracking !== undefined);
  return (
    precompiled &&
    skeleton.fillPrecompiled(
      { id, to: { email: 'a@example.com' }, subject: 'x', headers },
      precompiled,
      bodyValues(own.values, tracking),
    )
  );
}

function composeOrdinary({ html, text }: Mail, tracking: MailTracking | undefined): Buffer | undefined {
  const body = { html: addTracking(html, tracking), ...(text && { text }) };
  return skeleton.fill({ id, to: { email: 'a@example.com' }, subject: 'x', ...body })?.raw;
}

/** Parses the parts with postal-mime and normalises line ends, which differ in base64. */
async function partsOf(raw: Buffer): Promise<(string | undefined)[]> {
  const { html, text } = await PostalMime.parse(raw);
  return [html, text].map((part) => part?.replace(/\r*\n/g, '\n').replace(/[\r\n]+$/, ''));
}

/** Decodes the quoted-printable parts to exact bytes (RFC 2045, 6.7). */
function decodedParts(raw: Buffer): string[] {
  const whole = raw.toString('latin1');
  const border = /boundary="(.*)"/.exec(whole)?.[1];
  const parts = border ? whole.split(`--${border}`).slice(1, -1) : [whole];
  return parts.map((part) => {
    const body = part.slice(part.indexOf('\r\n\r\n') + 4, -2);
    const bytes = body.replace(/=\r\n/g, '').replace(/\r\n/g, '\n');
    return Buffer.from(
      bytes.replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
      'latin1',
    ).toString();
  });
}

const asWritten = (text: string): string => Buffer.from(text.replace(/\r\n/g, '\n')).toString();

function expectValidEncoding(raw: Buffer): void {
  const text = raw.toString('latin1');
  expect(text).to.match(/^[\t\r\n\x20-\x7e]*$/);
  expect(text.replaceAll('\r\n', '')).to.not.match(/[\r\n]/);
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  for (const line of body.split('\r\n')) {
    expect(line.length).to.be.at.most(76);
    expect(line).to.not.match(/^\.|^From |[ \t]$/);
  }
}

/** Returns whether a precompiled body was used; asserts that it equals the mail composed without one. */
async function expectSame(mail: Mail, isTracked: boolean): Promise<boolean> {
  const tracking = () => (isTracked ? trackingOf(testLinks, trackedMail, trackedMail) : undefined);
  const message = fillPrecompiled(mail, tracking());
  if (!message) return false;
  const { raw, isSmtpData } = message;
  expect(isSmtpData).to.equal(true);
  expect(toSmtpData(raw)).to.equal(raw);
  expectValidEncoding(raw);
  const { html, text } = mail;
  const expected = [...(text ? [text] : []), addTracking(html, tracking())];
  expect(decodedParts(raw)).to.deep.equal(expected.map(asWritten));
  expect(await partsOf(raw)).to.deep.equal(await partsOf(composeOrdinary(mail, tracking()) ?? Buffer.alloc(0)));
  return true;
}

const value = fc.oneof(
  fc.constantFrom(
    'Ann',
    '.',
    '.dot',
    'From',
    'From here',
    '=',
    'a=b',
    '=3D',
    '<b>',
    '"',
    "'",
    '&',
    '&amp;',
    'é',
    '😀',
    'F',
    '-->',
    '',
    ' ',
    ' x ',
    'a\nb',
    '/',
    '>',
    'href="http://evil.example/"',
    'http://a.example/?a=1&b=2',
    'dy>',
    'body',
    '!--',
    'x'.repeat(74),
    'x'.repeat(75),
    'x'.repeat(76),
    'y '.repeat(100),
    'é'.repeat(80),
    'p;',
    '\\',
    '\u200b',
    '\x02',
  ),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 120 }),
);

const piece = fc.constantFrom(
  '{{ a }}',
  '{{ b }}',
  '{{ c }}',
  '\n{{ a }}\n',
  '\r\n{{ b }}\r\n',
  ' {{ a }} ',
  '{{ a }}{{ b }}',
  '{{ a | safe }}',
  '.',
  '\n.',
  '\nFrom ',
  'From ',
  '=',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\r',
  'text',
  'grüße ',
  'x'.repeat(80),
  'é'.repeat(20),
  '<a href="http://a.example/1">',
  '<a href="{{ a }}">',
  '<a href="http://a.example/?u={{ b }}&amp;x=1">',
  '</a>',
  '<a href="{{ unsubscribeUrl }}">',
  "<a href='https://b.example/{{ a }}'>",
  '<a href={{ a }}>',
  '<a href=http://c/ >',
  '<a href="mailto:{{ a }}">',
  '<a href="&copy;{{ a }}">',
  '<a href="http://a.example/&am{{ c }}">',
  '<a href="</body">',
  '<img alt="{{ a }}" src="{{ b }}">',
  '<p title="</bo{{ a }}">',
  '<p {{ a }}>',
  '<{{ a }}',
  '</{{ a }}',
  '<!{{ a }}>',
  '<!-- {{ a }} -->',
  '<!--',
  '-->',
  '<title>{{ a }}</title>',
  '<title>',
  '</title{{ a }}',
  '<style>',
  '</style>',
  '</body>',
  '</BODY>',
  '<body>',
  '</body',
  '{% if a %}yes{% endif %}',
  '{% set t %}<i>{{ a }}</i>{% endset %}{{ t }}',
  '<p>',
  '</p>',
  '<',
  '>',
  '"',
  "'",
  '&',
  '<b',
  '</',
  '<a',
);

describe('a precompiled body', () => {
  it('gives the same mail as ordinary composing, for any template and values', async () => {
    let forms = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { minLength: 1, maxLength: 14 }),
        fc.array(fc.record({ a: value, b: value, c: value }), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        fc.boolean(),
        async (pieces, mails, isTracked, hasFooter) => {
          const html = pieces.join('');
          const footer = hasFooter ? footerFor('fr', 'en') : '';
          for (const data of mails) if (await expectSame(render(html, data, footer), isTracked)) forms++;
        },
      ),
      { numRuns: 500 },
    );
    // Guards against a test that compares nothing.
    expect(forms).to.be.above(500);
  });

  for (const [what, html] of [
    ['values in the text', '<p>Hello {{ a }}, you are {{ b }}</p>'],
    ['values in quoted attributes', '<img alt="{{ a }}" src=\'https://i.example/{{ b }}.png\'><p>x</p>'],
    ['a value as a link', '<a href="{{ a }}">x</a>'],
    ['the contact’s own link', '<a href="{{ unsubscribeUrl }}">x</a>'],
    ['a value in a link', '<a href="https://shop.example/?u={{ a }}&amp;v={{ b }}">x</a>'],
    ['several links', '<a href="https://a.example/">x</a><a href="https://b.example/">y</a> {{ a }}'],
    ['a value in the title', '<head><title>{{ a }}</title></head><body>{{ b }}</body>'],
    ['text that is not all ASCII', '<p>Grüße an {{ a }}, alles Gute</p>'],
    ['conditions', '{% if a %}<p>{{ a }}</p>{% else %}<p>you</p>{% endif %}'],
    ['no values', '<p>Hello <a href="https://a.example/">you</a></p>'],
  ] as const)
    it(`is used for ${what}`, async () => {
      for (const data of [
        { a: 'Ann & "Bob"', b: 'b' },
        { a: 'https://a.example/?b=1&c=<d>', b: '.é' },
      ])
        for (const isTracked of [true, false])
          for (const footer of ['', footerFor('en', 'en'), footerFor('en', 'en', '', 'News & {{ a }} {% b')])
            expect(await expectSame(render(html, data, footer), isTracked)).to.equal(true);
    });

  for (const [what, html] of [
    ['a value outside of quotes', '<p {{ a }}>x</p>'],
    ['a link without quotes', '<a href={{ a }}>x</a>'],
    ['a value in a comment', '<!-- {{ a }} --><a href="https://a.example/">x</a>'],
    ['an end of the body in a link', '<a href="</body">x</a>{{ a }}'],
    ['text that is hardly ASCII', '<p>Привет, {{ a }}, и всем, кто это читает</p>'],
  ] as const)
    it(`is not used for ${what}`, () => {
      const mail = render(html, { a: 'Ann' });
      expect(fillPrecompiled(mail, trackingOf(testLinks, trackedMail, trackedMail))).to.equal(undefined);
    });

  for (const html of ['<\x020\x03>', '</title\x020\x03', '<p title="</bo\x020\x03">', '<!-\x020\x03'])
    it(`is not used where a value may continue ${JSON.stringify(html)}`, () => {
      const skeleton = { html, text: ['x'], crowded: false };
      for (const _ of 'twice') expect(precompiledBody(skeleton, true)).to.equal(undefined);
    });

  it('tracks at most 300 links, as other mail does', async () => {
    const html = `${'<a href="https://a.example/{{ a }}">x</a>'.repeat(305)}`;
    expect(await expectSame(render(html, { a: 'b' }), true)).to.equal(true);
    const message = fillPrecompiled(render(html, { a: 'b' }), trackingOf(testLinks, trackedMail, trackedMail));
    const [body = ''] = await partsOf(message?.raw ?? Buffer.alloc(0));
    expect(body.match(/\/t\/c\//g)).to.have.lengthOf(300);
  });

  it('is compiled only when a skeleton is used a second time', () => {
    const { skeletonMail } = render('<p>{{ a }} once</p>', { a: 'Ann' });
    if (!skeletonMail) throw new Error('no skeleton');
    expect(precompiledBody(skeletonMail.skeleton, true)).to.equal(undefined);
    expect(precompiledBody(skeletonMail.skeleton, false)).to.equal(undefined);
    expect(precompiledBody(skeletonMail.skeleton, true)).to.not.equal(undefined);
  });

  it('does not count as checked with a header that begins with a dot', () => {
    const mail = render('<p>{{ a }} dotted</p>', { a: 'Ann' });
    const { raw, isSmtpData } = fillPrecompiled(mail, undefined, { '.a': 'b' }) ?? {};
    expect(raw?.toString()).to.include('\r\n.a: b\r\n');
    expect(isSmtpData).to.equal(undefined);
  });
});
