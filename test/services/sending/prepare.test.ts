import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { pino } from 'pino';
import PostalMime, { decodeWords, type Email as ParsedMail } from 'postal-mime';
import type { Db } from '../../../db/connect.ts';
import { SealError } from '../../../platform/crypto/seal.ts';
import { newId } from '../../../platform/ids.ts';
import { composeMail } from '../../../platform/mime/compose.ts';
import { renderMail } from '../../../platform/templates/mail.ts';
import { type SendInput, sendEmails } from '../../../services/emails/send.ts';
import { addTracking, ownHead, trackingOf } from '../../../services/sending/add-tracking.ts';
import { QUARANTINE_REASON } from '../../../services/sending/composer.ts';
import { Preparation, type PreparationDeps, type PreparedMail } from '../../../services/sending/prepare.ts';
import { poisonousComposer, SILENCE_MS, testComposer } from '../../support/composer.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { testLinkSettings, testLinks } from '../../support/links.ts';
import { testRenderer } from '../../support/renderer.ts';
import { removeContents, setMails, storedContents, storedMails } from '../../support/rows/mails.ts';
import { setProject } from '../../support/rows/projects.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const signerFor = async () => ({ selector: 'ep1', privateKey });

const rawOf = ({ message }: PreparedMail): Buffer => {
  if ('raw' in message) return message.raw;
  throw new Error(message.reason);
};
const refusalOf = ({ message }: PreparedMail) => ('raw' in message ? undefined : message);

describe('prepared mails', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase();
    db = database.db;
  });
  after(() => database?.close());
  beforeEach(async () => {
    project = await makeProject(db);
    await setProject(db, project.id, { tracking: 'DISABLED' });
  });

  const preparation = (deps: Partial<PreparationDeps> = {}) =>
    new Preparation({
      db,
      renderer: testRenderer(),
      composer: testComposer(),
      links: testLinkSettings,
      log: pino({ level: 'silent' }),
      ...deps,
    });

  async function accept(input: Partial<SendInput> = {}): Promise<string[]> {
    const { emails } = await sendEmails(db, project.access, {
      to: [{ email: 'ann@example.com' }],
      from: { email: `shop@${project.senderDomain}` },
      subject: 'Hello',
      body: '<p>Hello</p>',
      ...input,
    });
    return emails.map(({ email }) => email);
  }

  /** In the order of the ids. */
  async function prepared(ids: string[], deps: Partial<PreparationDeps> = {}): Promise<PreparedMail[]> {
    const mails = new Map<string, PreparedMail>();
    await preparation(deps).prepare(ids, (mail) => void mails.set(mail.id, mail));
    return ids.flatMap((id) => mails.get(id) ?? []);
  }

  async function parsed(input: Partial<SendInput>, deps: Partial<PreparationDeps> = {}): Promise<ParsedMail> {
    const [mail] = await prepared(await accept(input), deps);
    return PostalMime.parse(mail ? rawOf(mail) : '');
  }

  it('have the rendered subject, body and text, and report the subject where it differs', async () => {
    const ids = [
      ...(await accept({ subject: '{{ name }}!', body: '<p>{{ name }} {{ x }}</p>', data: { name: 'Ann', x: '<7>' } })),
      ...(await accept({ to: [{ email: 'bob@example.com', name: 'Bob B' }] })),
    ];
    const [ann, bob] = await prepared(ids);
    if (!ann || !bob) throw new Error('no mails');
    expect(ann).to.include({ to: 'ann@example.com', projectId: project.id, senderDomain: project.senderDomain });
    expect([ann.subject, bob.subject]).to.deep.equal(['Ann!', null]);
    const mail = await PostalMime.parse(rawOf(ann));
    expect([mail.subject, mail.html?.trim(), mail.text?.trim()]).to.deep.equal([
      'Ann!',
      '<p>Ann &lt;7&gt;</p>',
      'Ann <7>',
    ]);
    expect((await PostalMime.parse(rawOf(bob))).to?.[0]).to.deep.equal({ name: 'Bob B', address: 'bob@example.com' });
    const [content] = await storedContents(db, { emailId: ids[0] });
    expect(content.renderedSubject).to.equal(null);
  });

  it('keep their own subject and values in a group with the same body', async () => {
    const body = `<p>For {{ who }}</p>\n<p>${'a = b, '.repeat(30)}</p>\n<p>.</p>`;
    const ids: string[] = [];
    for (let n = 0; n < 8; n++) {
      const subject = n === 5 ? 'News for {{ who }}' : `News\u0007for m${n}`;
      ids.push(...(await accept({ to: [{ email: `m${n}@example.com` }], subject, body, data: { who: `m${n}` } })));
    }
    for (const [n, mail] of (await prepared(ids)).entries()) {
      const { subject, html, text } = await PostalMime.parse(rawOf(mail));
      expect(subject).to.equal(`News for m${n}`);
      expect(html?.trim()).to.equal(body.replace('{{ who }}', `m${n}`));
      expect(text).to.match(new RegExp(`^For m${n}\\n`));
    }
  });

  it('offer the event of a workflow mail as event.*, and by its own names where the contact has none', async () => {
    const event = { value: { code: 'X', plan: 'old' }, persistent: false };
    const input = { body: '{{ event.code }}|{{ code }}|{{ event.plan }}|{{ plan }}', data: { plan: 'new', event } };
    const [id = ''] = await accept(input);
    const body = async () => (await PostalMime.parse(rawOf((await prepared([id]))[0] as PreparedMail))).html?.trim();
    expect(await body()).to.equal('X||old|new');
    await setMails(db, { id }, { sourceType: 'WORKFLOW' });
    expect(await body()).to.equal('X|X|old|new');
  });

  it('have the headers of the request, and ours unless they are replaced', async () => {
    const headers = {
      'X-Order': 'Bestellung Nr. 7 für Ännchen',
      'In-Reply-To': '<1@example.com>',
      'reply-to': 'Elsewhere <else@example.com>',
      'List-Unsubscribe': '<https://example.com/out?a=1,2>',
    };
    const mail = await parsed({ headers, reply: 'here@example.com' });
    const value = (name: string) => mail.headers.filter(({ key }) => key === name).map((one) => decodeWords(one.value));
    expect(value('x-order')).to.deep.equal([headers['X-Order']]);
    expect(value('list-unsubscribe')).to.deep.equal([headers['List-Unsubscribe']]);
    expect(mail.inReplyTo).to.equal('<1@example.com>');
    expect(mail.replyTo).to.deep.equal([{ name: 'Elsewhere', address: 'else@example.com' }]);
    expect((await parsed({ reply: 'here@example.com' })).replyTo?.[0]?.address).to.equal('here@example.com');
  });

  it('offer one click to unsubscribe where the body has the contact’s link', async () => {
    const header = async (body: string) =>
      (await parsed({ body })).headers.find(({ key }) => key === 'list-unsubscribe')?.value;
    expect(await header('<a href="{{ unsubscribeUrl }}">x</a>')).to.match(/^<http:\/\/app\.test\/unsubscribe\//);
    expect(await header('<p>x</p>')).to.equal(undefined);
  });

  for (const tracking of ['ENABLED', 'DISABLED'] as const)
    for (const signed of [false, true])
      it(`equal mails composed in this process (tracking ${tracking}, ${signed ? 'signed' : 'unsigned'})`, async () => {
        await setProject(db, project.id, { tracking });
        const body =
          '<body><p title="{{ name }}">Grüße, {{ name }}!</p>\n<a href="https://shop.example/?u={{ email }}&amp;x=1">Shop</a>' +
          '<a href="{{ unsubscribeUrl }}">x</a></body>';
        const to = Array.from({ length: 5 }, (_, n) => ({ email: `e${n}@example.com`, name: `Ü ${n}` }));
        const from = { email: `shop@${project.senderDomain}`, name: 'Shöp' };
        const ids = await accept({ to, from, body, subject: 'Für {{ name }}', reply: 'r@example.com' });
        const mails = await prepared(ids, signed ? { signerFor } : {});
        for (const [n, mail] of mails.entries()) {
          const { contactId } = await storedMails(db, { id: mail.id }).first('contactId');
          const { unsubscribeUrl } = testLinks.contactLinks({ contactId, emailId: mail.id });
          const email = `e${n}@example.com`;
          const name = `Ü ${n}`;
          const rendered = renderMail({ subject: 'Für {{ name }}', html: body }, '', { email, name, unsubscribeUrl });
          const rule = { type: 'TRANSACTIONAL', tracking } as const;
          const tracked = trackingOf(testLinks, rule, { id: mail.id, projectId: project.id });
          const expected = await composeMail({
            id: mail.id,
            from,
            to: { email, name },
            replyTo: 'r@example.com',
            subject: rendered.subject,
            html: addTracking(rendered.html, tracked),
            text: rendered.text,
            ...ownHead(testLinks, { ...rule, id: mail.id, from: from.email, unsubscribeUrl }, () => rendered.html),
          });
          expect(mail.message).to.include({ from: expected.from, to: expected.to, utf8: false });
          expect(decoded(rawOf(mail))).to.deep.equal(decoded(expected.raw));
          if (signed) expect(await verdictOn(rawOf(mail))).to.equal('pass');
        }
      });

  it('have their attachments byte for byte, also when they exceed what is read at a time', async () => {
    const files = Array.from({ length: 4 }, (_, n) => Buffer.alloc(6 * 1024 * 1024, n + 1));
    const ids: string[] = [];
    for (const content of files)
      ids.push(
        ...(await accept({
          attachments: [
            { filename: 'a.bin', contentType: 'application/octet-stream', disposition: 'attachment', content },
          ],
        })),
      );
    for (const [n, mail] of (await prepared(ids, { signerFor })).entries()) {
      const { attachments } = await PostalMime.parse(rawOf(mail));
      expect(Buffer.from(attachments[0]?.content as ArrayBuffer).equals(files[n] ?? Buffer.alloc(0))).to.equal(true);
    }
  });

  it('read the next attachments when the last mail was taken', async () => {
    const content = Buffer.alloc(16 * 1024 * 1024, 1);
    const attachments = [
      { filename: 'a.bin', contentType: 'application/octet-stream', disposition: 'attachment' as const, content },
    ];
    const ids = [...(await accept({ attachments })), ...(await accept({ attachments }))];
    let open = 0;
    let most = 0;
    await preparation().prepare(ids, async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open--;
    });
    expect(most).to.equal(1);
  });

  it('are refused when they have no valid form, and deferred while the key cannot be unsealed', async () => {
    const nul = Buffer.from('Subject: x\r\n\r\na\0b\r\n');
    const attachments = [
      { filename: 'x.eml', contentType: 'message/rfc822', disposition: 'attachment' as const, content: nul },
    ];
    const [refused] = await prepared(await accept({ attachments }));
    expect(refused && refusalOf(refused)?.kind).to.equal('refused');
    expect(refused && refusalOf(refused)?.reason).to.match(/^cannot be composed: it contains a NUL byte/);
    const sealed = () => Promise.reject(new SealError('no key opens it'));
    const [deferred] = await prepared(await accept(), { signerFor: sealed });
    expect(deferred && refusalOf(deferred)).to.include({
      kind: 'deferred',
      reason: 'cannot be signed: no key opens it',
    });
  });

  it('are gone with their content', async () => {
    const [id = ''] = await accept();
    await removeContents(db, { emailId: id });
    const mails = await prepared([id, newId()]);
    expect(mails.map(({ to, senderDomain, message }) => [to, senderDomain, 'kind' in message && message.kind])).to.eql([
      [null, '', 'refused'],
      [null, '', 'refused'],
    ]);
  });

  it('have their variables replaced when the template exceeds the limits, with a text part', async () => {
    const loop = '{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}';
    const mail = await parsed({ subject: '{{ n }}', body: `${loop}<p>{{ n }}</p>`, data: { n: 1 } });
    expect([mail.subject, mail.html?.trim(), mail.text?.trim()]).to.deep.equal([
      '1',
      `${loop}<p>1</p>`,
      `${loop}\n\n1`,
    ]);
  });

  it('of a poisonous mail is a refusal, and the others of its group are composed', async () => {
    const quarantined: string[] = [];
    const composer = poisonousComposer({
      limits: { silenceMs: SILENCE_MS },
      onQuarantined: ({ id }) => quarantined.push(id),
    });
    const to = ['one', 'HANG', 'two', 'three'].map((name) => ({ email: `${name.toLowerCase()}@example.com`, name }));
    const ids = await accept({ to, subject: 'For {{ name }}' });
    const mails = await prepared(ids, { composer });
    expect(mails.map((mail) => refusalOf(mail)?.reason)).to.deep.equal([
      undefined,
      QUARANTINE_REASON,
      undefined,
      undefined,
    ]);
    expect(quarantined).to.deep.equal([ids[1]]);
    await composer.close();
  });

  it('reject when no compose process can be started', async () => {
    const composer = poisonousComposer({ entry: '/nowhere/child.js' });
    const error = await prepared(await accept(), { composer }).catch((error) => error);
    expect(error).to.be.an('error').with.property('message').that.contains('The compose process');
    await composer.close();
  });
});

/** The header lines in any order without date and signature, and the decoded parts. */
function decoded(raw: Buffer): { headers: string[]; body: string } {
  const text = raw.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  const headers = text.slice(0, end).split(/\r\n(?![ \t])/);
  return {
    headers: headers.filter((line) => !/^(?:Date|DKIM-Signature):/.test(line)).sort(),
    body: text
      .slice(end)
      .replace(/=\r\n/g, '')
      .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
  };
}

async function verdictOn(raw: Buffer): Promise<string | undefined> {
  const resolver = async () => [[`v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`]];
  const { results } = await dkimVerify(raw, { resolver });
  return results[0]?.status.result;
}
