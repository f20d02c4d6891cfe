// Every function that processes text of customers or third parties on a main thread. Results and refusals do not matter
// here, only how the work grows with the length of the text.
import { generateKeyPairSync } from 'node:crypto';
import { stringify } from 'csv-stringify/sync';
import type joi from 'joi';
import { recipients, senderAddress } from '../../api/http/addresses.ts';
import { attachments } from '../../api/http/attachments.ts';
import { findRefusedParts } from '../../api/http/clean.ts';
import { mailHeaders } from '../../api/http/mail-headers.ts';
import { dateTime, line, uuid } from '../../api/http/schemas.ts';
import { cookieValue } from '../../api/http/session-cookie.ts';
import { subject } from '../../api/http/subject.ts';
import { parseAddress, readMailbox } from '../../platform/address.ts';
import { keysOf } from '../../platform/conditions/field-path.ts';
import { openCursor } from '../../platform/crypto/cursor.ts';
import { openToken } from '../../platform/crypto/signed-token.ts';
import { UNLIMITED } from '../../platform/limits.ts';
import { composeMail, type MailAttachment, MailSkeleton, type OutgoingMail } from '../../platform/mime/compose.ts';
import { bodyHash, signWithDkim } from '../../platform/mime/dkim.ts';
import { EncodedLineCache, quotedPrintable } from '../../platform/mime/encoding.ts';
import { escapeAttribute, linkTarget, replaceLinks } from '../../platform/mime/html-links.ts';
import { PrecompiledText } from '../../platform/mime/precompiled-text.ts';
import { toSmtpData } from '../../platform/mime/smtp-message.ts';
import { nameViolation, normalizeName } from '../../platform/names.ts';
import { answerText, providerIdOf } from '../../platform/smtp/outcome.ts';
import { checkTemplate, escapeHtml, plainMail } from '../../platform/templates/index.ts';
import { renderMail } from '../../platform/templates/mail.ts';
import { plainText } from '../../platform/templates/plain-text.ts';
import { parseMoment } from '../../services/conditions/instants.ts';
import { parseCondition } from '../../services/conditions/parse.ts';
import { readDomainName, senderDomain } from '../../services/domains/name.ts';
import { evaluateRecord } from '../../services/domains/records.ts';
import { MailLinks } from '../../services/emails/links.ts';
import { readClickToken, TrackedLinks } from '../../services/emails/tracked-links.ts';
import { isReservedEvent } from '../../services/events/reserved.ts';
import { openCsv, subscribedCell, typedCell } from '../../services/jobs/csv.ts';
import { ImportChunk } from '../../services/jobs/import-chunk.ts';
import { readReturnedMail, takesReturnedMail } from '../../services/notices/returned-mail.ts';
import { slugOf } from '../../services/segments/create.ts';
import { addTracking, MailTracking, ownHead } from '../../services/sending/add-tracking.ts';
import { isCron } from '../../services/workflows/trigger.ts';

export type TextPath = (text: string) => unknown;

const KEYS = ['growth-test-secret-key'] as const;
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const dkim = { domain: 'demo.example', selector: 'ep1', privateKey };

const mail = (change: Partial<OutgoingMail>): OutgoingMail => ({
  id: ID,
  from: { email: 'shop@demo.example' },
  to: { email: 'ann@example.com' },
  subject: 'Hello',
  html: '<p>Hello</p>',
  dkim,
  ...change,
});
/** An address that needs nodemailer. */
const NODEMAILER_ADDRESS = { email: 'jörg@example.com' };
const compose = (change: Partial<OutgoingMail>) => composeMail(mail(change)).catch(() => {});
const file = (contentType: string, text: string): MailAttachment => ({
  filename: 'file',
  contentType,
  disposition: 'attachment',
  content: Buffer.from(text),
});
const validate = (schema: joi.Schema, value: unknown) => schema.validate(value, { abortEarly: false }).error;
const attempt = (work: () => unknown): unknown => {
  try {
    return work();
  } catch {
    return undefined;
  }
};
const tracks = () => new MailTracking(new TrackedLinks('https://mail.example', KEYS).of({ id: ID, projectId: ID }));
const filter = (change: object) => ({
  logic: 'AND',
  groups: [{ filters: [{ field: 'data.a', operator: 'equals', value: 'x', ...change }] }],
});
const returned = (raw: string) => readReturnedMail(KEYS, 'b-x@bounces.example', Buffer.from(raw));
const report = (type: string, content: string) =>
  returned(
    `Content-Type: multipart/report; boundary="b"\r\n\r\n--b\r\nContent-Type: ${type}\r\n\r\n${content}\r\n--b--\r\n`,
  );
const rules = {
  limits: UNLIMITED,
  refusedKeys: new Set<string>(),
  subscribed: true,
  context: { method: 'IMPORT' as const },
};
async function imported(csv: string): Promise<void> {
  const content = Buffer.from(csv);
  const opened = await openCsv(content).catch(() => undefined);
  if (!opened) return;
  let chunk = new ImportChunk(opened.columns, rules);
  for await (const rows of opened.rows())
    for (const row of rows) {
      chunk.add(row);
      if (chunk.isFull) chunk = new ImportChunk(opened.columns, rules);
    }
}
const record = (purpose: 'DKIM' | 'SPF' | 'DMARC', value: string, texts: string[]) =>
  evaluateRecord({ purpose, type: 'TXT', name: 'x', value, required: true }, { kind: 'found', values: texts });
const variables = { data: {}, builtIn: {} };
const names = (text: string) => Object.assign(Object.create(null), { v: text });

export const textPaths: Record<string, TextPath> = {
  'DKIM: body hash': bodyHash,
  'DKIM: signing a body': (text) => signWithDkim(Buffer.from(`From: a@demo.example\r\n\r\n${text}`), dkim),
  'DKIM: signing a header': (text) =>
    signWithDkim(Buffer.from(`From: a@demo.example\r\nSubject: ${text.replace(/[\r\n]/g, ' ')}\r\n\r\nx\r\n`), dkim),

  'MIME: html and text': (text) => compose({ html: text, text }),
  'MIME: html and text with cached lines': (text) => compose({ html: text, text, known: new EncodedLineCache() }),
  'MIME: subject': (text) => compose({ subject: text }),
  'MIME: sender name': (text) => compose({ from: { email: 'shop@demo.example', name: text } }),
  'MIME: recipient name': (text) => compose({ to: { email: 'ann@example.com', name: text } }),
  'MIME: address': (text) => compose({ to: { email: text } }),
  'MIME: domain of an address': (text) => compose({ to: { email: `a@${text}` } }),
  'MIME: header': (text) => compose({ headers: { 'X-A': text, 'List-Help': text, References: text } }),
  'MIME: header name': (text) => compose({ headers: { [text]: 'x' } }),
  'MIME: reply address': (text) => compose({ replyTo: text }),
  'MIME: quoted-printable': quotedPrintable,
  'MIME: precompiled body': (text) => PrecompiledText.of([text, () => text]),
  'MIME: campaign skeleton': (text) => new MailSkeleton(mail({ headers: { 'X-A': text } })).fill(mail({ html: text })),
  'MIME by nodemailer: html and text': (text) => compose({ to: NODEMAILER_ADDRESS, html: text, text }),
  'MIME by nodemailer: subject': (text) => compose({ to: NODEMAILER_ADDRESS, subject: text }),
  'MIME by nodemailer: names': (text) =>
    compose({ to: { ...NODEMAILER_ADDRESS, name: text }, from: { email: 'a@demo.example', name: text } }),
  'MIME by nodemailer: headers': (text) =>
    compose({ to: NODEMAILER_ADDRESS, headers: { 'X-A': text, 'List-Help': text } }),
  'MIME by nodemailer: references': (text) =>
    compose({ to: NODEMAILER_ADDRESS, headers: { References: text, 'X-Id': text } }),
  'MIME by nodemailer: message/rfc822': (text) => compose({ attachments: [file('message/rfc822', text)] }),
  'MIME by nodemailer: text/plain': (text) => compose({ attachments: [file('text/plain', text)] }),
  'MIME by nodemailer: binary': (text) => compose({ attachments: [file('application/pdf', text)] }),
  'MIME: SMTP data': (text) => attempt(() => toSmtpData(Buffer.from(text))),

  'links: in a body': (text) => replaceLinks(text, (target) => `${target}x`),
  'links: in an address': (text) => replaceLinks(`<a href="${text}">x</a>`, (target) => `${target}x`),
  'links: tracked body': (text) => addTracking(text, tracks()),
  'links: tracked address': (text) => addTracking(`<a href="http://${text}">x</a><a href='${text}'>x</a>`, tracks()),
  'links: entities': linkTarget,
  'links: attribute': escapeAttribute,
  'links: headers of a mail': (text) =>
    ownHead(
      new MailLinks({ baseUrl: 'https://mail.example', secretKeys: [...KEYS] }),
      { id: ID, type: 'HEADLESS', from: text, unsubscribeUrl: 'u' },
      () => text,
    ),

  'html-to-text': plainText,
  'html-to-text: in a paragraph': (text) => plainText(`<p>${text}</p><a href="${text}">${text}</a>`),
  'templates: check': checkTemplate,
  'templates: check in a variable': (text) => checkTemplate(`{{ ${text} }}`),
  'templates: check in a string': (text) => checkTemplate(`{{ "${text}" | replace('${text}') }}`),
  'templates: check in a block': (text) => checkTemplate(`{% if ${text} %}x{% endif %}`),
  'templates: check in raw': (text) => checkTemplate(`{% raw %}${text}{% endraw %}${text}{% raw %}${text}`),
  'templates: check in a comment': (text) => checkTemplate(`{#${text}#}${text}{#${text}`),
  'templates: variables replaced': (text) => plainMail({ subject: text, html: text }, variables),
  'templates: variables replaced in a name': (text) =>
    plainMail({ subject: `{{${text}}}`, html: `{{a${text}}}{{a["${text}}}{{a.${text}b}}{{a ?? "${text}}}` }, variables),
  'templates: values': (text) => attempt(() => renderMail({ subject: '{{ v }}', html: '<p>{{ v }}' }, '', names(text))),
  'templates: filters': (text) =>
    ['striptags', 'urlize', 'title', 'wordcount', 'nl2br', 'trim', 'escape', 'urlencode', 'truncate'].map((name) =>
      attempt(() => renderMail({ subject: 'x', html: `{{ v | ${name} }}`, plain: true }, '', names(text))),
    ),
  'templates: escape': escapeHtml,

  'CSV: rows': (text) => imported(`email,a\n${text.slice(text.length * 0.9)}`),
  'CSV: one quoted cell': (text) => imported(`email,a\nann@example.com,"${text}"\n`),
  'CSV: an unclosed cell': (text) => imported(`email,a\nann@example.com,"${text}`),
  'CSV: header': (text) => imported(`email,${text.slice(text.length * 0.8)}\nann@example.com\n`),
  'CSV: cells': (text) => [typedCell(text), typedCell(`1${text}`), subscribedCell(text)],
  'CSV: export': (text) => stringify([[text, `=${text}`]], { record_delimiter: '\r\n', quoted_match: /[\r\n]/ }),

  'conditions: field': (text) => parseCondition(filter({ field: text })),
  'conditions: data field': (text) => parseCondition(filter({ field: `data.${text}` })),
  'conditions: operator': (text) => parseCondition(filter({ operator: text })),
  'conditions: value': (text) => parseCondition(filter({ value: text })),
  'conditions: values': (text) => parseCondition(filter({ operator: 'in', value: text.split('') })),
  'conditions: many filters': (text) =>
    parseCondition({ logic: 'AND', groups: [{ filters: text.split('').map((field) => ({ field, operator: 'in' })) }] }),
  'conditions: path': keysOf,
  'conditions: quoted path': (text) => [keysOf(`["${text}"]`), keysOf(`["${text}`), keysOf(`['${text}`)],
  'conditions: moment': parseMoment,

  'headers: value': (text) => validate(mailHeaders(), { 'X-A': text }),
  'headers: name': (text) => validate(mailHeaders(), { [text]: 'x' }),
  'headers: subject': (text) => validate(subject(), text),
  'headers: cookie': (text) => cookieValue({ cookie: text }, 'everpost_session'),
  'attachments: names and types': (text) =>
    validate(attachments(), [{ filename: text, contentType: `a/${text}`, contentId: text, content: text }]),
  'attachments: type with parameters': (text) =>
    validate(attachments(), [{ filename: 'a', contentType: `a/b; c="${text}`, content: 'eA==' }]),

  'addresses: address': parseAddress,
  'addresses: local part': (text) => parseAddress(`${text}@example.com`),
  'addresses: domain': (text) => parseAddress(`ann@${text}`),
  'addresses: mailbox': readMailbox,
  'addresses: mailbox name': (text) => readMailbox(`${text} <ann@example.com>`),
  'addresses: mailbox with text behind': (text) => readMailbox(`<ann@example.com>${text}`),
  'addresses: quoted mailbox name': (text) => readMailbox(`"${text}" <ann@example.com>`),
  'addresses: recipients': (text) => [validate(recipients(), text), validate(recipients(), [text, { email: text }])],
  'addresses: sender': (text) => validate(senderAddress(), text),
  'addresses: domain of a sender': (text) => senderDomain(`a@${text}`),
  'domains: name': readDomainName,
  'domains: DKIM record': (text) => [
    record('DKIM', 'v=DKIM1; p=abc', [text]),
    record('DKIM', 'v=DKIM1; p=abc', [`v=DKIM1; h=${text}; s=${text}; p=${text}`]),
  ],
  'domains: SPF and DMARC records': (text) => [
    record('SPF', 'v=spf1 include:x ~all', [`v=spf1 ${text}`, text]),
    record('DMARC', 'v=DMARC1; p=none', [`v${text}`, `v=DMARC1${text}`, `v=DMARC1; p=${text}`]),
  ],

  'cursors: cursor': (text) => attempt(() => openCursor(KEYS, ['list'], text)),
  'cursors: signed token': (text) => [openToken(KEYS, 'x', text), readClickToken(KEYS, text)],

  'returned mail: whole': returned,
  'returned mail: header': (text) => returned(`Subject: ${text}\r\nContent-Type: ${text}\r\n\r\nx`),
  'returned mail: addresses': (text) => returned(`From: ${text}\r\nTo: "${text}" <a@b.co>\r\nCc: a,${text}\r\n\r\nx`),
  'returned mail: date and references': (text) =>
    returned(`Date: ${text}\r\nReferences: ${text}\r\nMessage-ID: ${text}\r\n\r\nx`),
  'returned mail: content type parameters': (text) =>
    returned(`Content-Type: text/plain; a="${text}; charset=${text}\r\nContent-Disposition: x; a*0=${text}\r\n\r\nx`),
  'returned mail: boundary': (text) =>
    returned(`Content-Type: multipart/mixed; boundary="${text.slice(0, 70)}"\r\n\r\n${text}`),
  'returned mail: base64 and quoted-printable': (text) =>
    Promise.all(
      ['base64', 'quoted-printable'].map((encoding) =>
        returned(`Content-Transfer-Encoding: ${encoding}\r\n\r\n${text}`),
      ),
    ),
  'returned mail: html': (text) => returned(`Content-Type: text/html\r\n\r\n${text}`),
  'returned mail: text and html': (text) =>
    returned(
      'Content-Type: multipart/mixed; boundary="b"\r\n\r\n' +
        `--b\r\nContent-Type: text/plain\r\n\r\n${text}\r\n--b\r\nContent-Type: text/html\r\n\r\n${text}\r\n--b--\r\n`,
    ),
  'returned mail: flowed text': (text) => returned(`Content-Type: text/plain; format=flowed; delsp=yes\r\n\r\n${text}`),
  'returned mail: delivery status': (text) => report('message/delivery-status', `Action: failed\r\n${text}`),
  'returned mail: diagnostic': (text) =>
    report('message/delivery-status', `x: y\r\n\r\nAction: failed\r\nStatus: ${text}\r\nDiagnostic-Code: ${text}`),
  'returned mail: feedback report': (text) => report('message/feedback-report', `Feedback-Type: ${text}`),
  'returned mail: head of the mail': (text) => report('message/rfc822', text),
  'returned mail: recipient': (text) => takesReturnedMail(KEYS, text),
  'relay: answer': (text) => [providerIdOf(`250 queued as ${text}`), answerText({ response: text })],
  'relay: other answers': (text) =>
    [`250 2.0.0 OK ${text}`, `250 Ok ${text}`, `id=${text}`, text].map((one) => providerIdOf(one)),

  'names: name': nameViolation,
  'names: plain': normalizeName,
  'names: slug': slugOf,
  'names: line': (text) => validate(line({ max: 255 }), text),
  'names: event': isReservedEvent,
  'times: date': (text) => [validate(dateTime(), text), validate(dateTime(), `2026-01-01T00:00:00${text}`)],
  'times: cron': (text) => [isCron(text), isCron(`${text} * * * *`)],
  'ids: uuid': (text) => validate(uuid(), text),
  'JSON: text that cannot be stored': (text) => findRefusedParts({ a: text, [text]: 'x' }),
};

/** Paths that depend on the length of the text only, so that one filler is enough. */
export const lengthPaths: Record<string, TextPath> = {
  'DKIM: signing many headers': (text) =>
    signWithDkim(Buffer.from(`${'To: x\r\n'.repeat(text.length / 16)}From: a@demo.example\r\n\r\nx\r\n`), dkim),
  'CSV: many columns and many rows': (text) =>
    imported(`email${',a'.repeat(text.length / 16)}\n${'a@b.co\n'.repeat(text.length / 64)}`),
  'headers: many': (text) =>
    validate(mailHeaders(), Object.fromEntries(Array.from({ length: text.length / 32 }, (_, n) => [`x${n}`, 'x']))),
};

/** Quadratic functions that the measurement must detect. */
export const controls: Record<string, TextPath> = {
  'control: quadratic pattern': (text) => text.replace(/[ \t]+(?=\r\n|$)/g, ''),
  'control: quadratic loop': (text) => {
    let sum = 0;
    for (let end = 0; end < text.length; end += 8)
      for (let index = 0; index < end; index++) sum ^= text.charCodeAt(index);
    return sum;
  },
};

const SINGLE = [
  ' ',
  '\t',
  '\r',
  '\n',
  '"',
  "'",
  '<',
  '>',
  '&',
  '=',
  '.',
  '@',
  '{',
  '}',
  '%',
  '(',
  ')',
  '[',
  ']',
  ',',
  ';',
  ':',
  '\\',
  '/',
  '-',
  '_',
  '#',
  '|',
  '?',
  '!',
  '*',
  '+',
  '$',
  '~',
  '^',
  '`',
  '0',
  'a',
  '\u00a0',
  '\u2003',
  '\u3000',
  '\u200b',
  '\ufeff',
  '\u2028',
  'é',
  '\u{1f600}',
];
const COMBINED = [
  ' \t',
  '\r\n',
  '\r\n ',
  '\n.',
  '\n\n',
  ' \r\n',
  '=\r\n',
  '\\"',
  '" ',
  "' ",
  'a ',
  'a, ',
  'a: ',
  'a=',
  '.a',
  'a@',
  '<a ',
  '</',
  '<!--',
  '<a href="',
  "<a href=' ",
  '<style>',
  '<p>',
  '<b x=',
  '&#',
  '&amp',
  '&a;',
  '</a',
  '<![CDATA[',
  '{{',
  '{%',
  '{#',
  '{{ ',
  '{% ',
  '{{a}}',
  '{% raw %}',
  '{{a.',
  '{{ a["',
  '=?',
  '=?a?q?',
  '=3',
  '--',
  '( ',
  '[[',
  '<<',
  'a.',
  '..',
  '@@',
  'a b ',
  ',,',
  ';a="',
  '; a=',
  'From ',
  '\n"',
  ',"',
  '"",',
  'a\n',
  'a,a\n',
  '--b\r\n',
  ' :',
  ':\r\n ',
];

const repeatTo = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length));

/** Long runs of each special character, followed by a character that no pattern expects. */
export const fillers: Record<string, (length: number) => string> = Object.fromEntries([
  ...SINGLE.map((piece) => [`${JSON.stringify(piece)}… x`, (length: number) => `${repeatTo(piece, length)}x`]),
  ...[...SINGLE, ...COMBINED].map((piece) => [
    `x ${JSON.stringify(piece)}… x`,
    (length: number) => `x${repeatTo(piece, length)}x`,
  ]),
]);
