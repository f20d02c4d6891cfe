import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { pino } from 'pino';
import { decodeWords, type Email as ParsedMail } from 'postal-mime';
import type { Db } from '../../../db/connect.ts';
import { createRenderer } from '../../../platform/templates/index.ts';
import { TEST_TIMINGS } from '../../../platform/timings.ts';
import { listEmails } from '../../../services/emails/list.ts';
import { type SendInput, sendEmails } from '../../../services/emails/send.ts';
import { addContacts, campaignWorker, startCampaign } from '../../support/campaigns.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { mailById } from '../../support/ledger.ts';
import { storedContacts } from '../../support/rows/contacts.ts';
import { countLeases, leasesPerMail, outgoingMails, setMails } from '../../support/rows/mails.ts';
import { setProject } from '../../support/rows/projects.ts';
import { counts, longLease, type TestSender, type TestSenderOptions, testSender } from '../../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';
import { eventually } from '../../support/waiting.ts';

describe('content of a sent mail', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let smtp: SmtpStandIn;
  let sending: TestSender;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase();
    db = database.db;
    smtp = await startSmtp();
    sending = testSender(database.url, { url: smtp.url, connections: 3 });
    project = await makeProject(db);
    // Tracking has tests of its own.
    await setProject(db, project.id, { tracking: 'DISABLED' });
  });
  after(async () => {
    await sending.close();
    await smtp.close();
    await database.close();
  });
  beforeEach(() => {
    smtp.mails.length = 0;
  });

  const accept = (input: Partial<SendInput> = {}) =>
    sendEmails(db, project.access, {
      to: [{ email: 'ann@example.com' }],
      from: { email: `shop@${project.senderDomain}` },
      subject: 'Hello',
      body: '<p>Hello</p>',
      ...input,
    });
  const deliver = async (more: Partial<TestSenderOptions> = {}): Promise<void> => {
    if (Object.keys(more).length === 0) return void (await sending.send());
    const own = testSender(database.url, { url: smtp.url, ...more });
    await own.send().finally(() => own.close());
  };
  const sent = async (input: Partial<SendInput>): Promise<ParsedMail> => {
    await accept(input);
    await deliver();
    const [mail] = smtp.mails;
    if (!mail) throw new Error('no mail came');
    return mail.parsed();
  };
  const head = () => smtp.mails[0]?.raw.toString('latin1').split('\r\n\r\n', 1)[0] ?? '';

  it('renders subject, body and text with the values of contact and request', async () => {
    const data = { plan: 'pro', 'first name': 'Ann', code: { value: '<7>', persistent: false } };
    const mail = await sent({
      to: [{ email: 'vars@example.com', name: 'Ann B' }],
      subject: '{{ name }}: {{ code }} {{ missing ?? "none" }}',
      body: '<p>{{ first name }} {{ data.plan }} {{ code }} {{ email }} {{ everpost_email }} {{ subscribed }} {{ locale }}</p>',
      data,
    });
    expect(mail.subject).to.equal('Ann B: <7> none');
    const {
      data: [record],
    } = await listEmails(db, project.id, ['a key for cursors'], { limit: 1 });
    expect(record).to.include({ to: 'vars@example.com', subject: 'Ann B: <7> none', status: 'SENT' });
    const values = 'Ann pro &lt;7&gt; vars@example.com vars@example.com false en';
    expect(mail.html?.trim()).to.equal(`<p>${values}</p>`);
    expect(mail.text?.trim()).to.equal('Ann pro <7> vars@example.com vars@example.com false en');
    expect(head()).to.match(/^Content-Type: multipart\/alternative/m);
  });

  it("contains the contact's id and age", async () => {
    const body = '{{ id }} {{ everpost_id }} {{ createdAt }}';
    const mail = await sent({ to: [{ email: 'built-in@example.com' }], body });
    const contact = await storedContacts(db, { email: 'built-in@example.com' }).first();
    expect(mail.html?.trim()).to.equal(`${contact.id} ${contact.id} ${contact.createdAt.toISOString()}`);
  });

  it('uses the values of its own request, whatever changed on the contact later', async () => {
    for (const code of ['one', 'two'])
      await accept({ to: [{ email: 'codes@example.com' }], body: '{{ code }}', data: { code } });
    await deliver();
    const bodies = await Promise.all(smtp.mails.map(async (mail) => (await mail.parsed()).html?.trim()));
    expect(bodies).to.have.members(['one', 'two']);
  });

  it('keeps its own subject and values among mails with the same body', async () => {
    const body = `<p>For {{ who }}</p>\n<p>${'a = b, '.repeat(30)}</p>\n<p>.</p>`;
    const names = Array.from({ length: 8 }, (_, n) => `kin${n}`);
    for (const who of names) {
      const subject = who === 'kin5' ? 'News for {{ who }}' : `News\u0007for ${who}`;
      await accept({ to: [{ email: `${who}@example.com` }], subject, body, data: { who } });
    }
    await deliver();
    const mails = await Promise.all(smtp.mails.map((mail) => mail.parsed()));
    expect(mails.map(({ subject }) => subject)).to.have.members(names.map((who) => `News for ${who}`));
    for (const { subject, html, text } of mails) {
      const who = subject?.slice('News for '.length);
      expect(html?.trim()).to.equal(body.replace('{{ who }}', who ?? ''));
      expect(text).to.match(new RegExp(`^For ${who}\\n`));
    }
  });

  it('offers workflow values as event.*, and by their own name where the contact has none', async () => {
    const event = { value: { code: 'X', plan: 'old' }, persistent: false };
    const input = {
      to: [{ email: 'workflow@example.com' }],
      body: '{{ event.code }}|{{ code }}|{{ event.plan }}|{{ plan }}',
      data: { plan: 'new', event },
    };
    expect((await sent(input)).html?.trim()).to.equal('X||old|new');
    smtp.mails.length = 0;
    await accept(input);
    await setMails(db, { status: 'PENDING' }, { sourceType: 'WORKFLOW', priority: 1 });
    await deliver();
    expect((await smtp.mails[0]?.parsed())?.html?.trim()).to.equal('X|X|old|new');
  });

  it('has a subject of one line, whatever its values contain', async () => {
    const mail = await sent({ subject: 'Hi {{ name }}', data: { name: 'x\r\nBcc: victim@example.com' } });
    expect(mail.subject).to.equal('Hi x Bcc: victim@example.com');
    expect(head()).to.not.match(/^Bcc/im);
    expect(smtp.mails[0]?.to).to.deep.equal(['ann@example.com']);
  });

  it('has its variables replaced when the body is no valid template', async () => {
    const mail = await sent({ body: '{% if %}<p>{{ name }} {{ x | nope }}</p>', data: { name: 'Ann <b>' } });
    expect(mail.html?.trim()).to.equal('{% if %}<p>Ann &lt;b&gt; {{ x | nope }}</p>');
  });

  it('has its variables replaced when its template exceeds the limits, and delays no other mail', async () => {
    const loop = '{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}';
    const hostile = await accept({
      to: [{ email: 'h@example.com' }],
      subject: '{{ n }}',
      body: `${loop}<p>{{ n }}</p>`,
      data: { n: 1 },
    });
    const others = await accept({ to: [{ email: 'o@example.com' }], body: '<p>{{ n ?? "other" }}</p>' });
    await deliver();
    for (const { email } of [...hostile.emails, ...others.emails])
      expect(await mailById(db, email)).to.include({ status: 'SENT', attempts: 1 });
    const [mail] = smtp.mailsTo('h@example.com');
    const parsed = await mail?.parsed();
    expect(parsed?.subject).to.equal('1');
    expect(parsed?.html?.trim()).to.equal(`${loop}<p>1</p>`);
    expect(parsed?.text?.trim()).to.equal(`${loop}\n\n1`);
  });

  it('has the headers of its request, and our headers unless they are replaced', async () => {
    const headers = {
      'X-Order': 'Bestellung Nr. 7 für Ännchen',
      'In-Reply-To': '<1@example.com>',
      'reply-to': 'Elsewhere <else@example.com>',
      'List-Unsubscribe': '<https://example.com/out?a=1,2>',
    };
    const mail = await sent({ headers, reply: 'here@example.com' });
    const value = (name: string) => mail.headers.filter(({ key }) => key === name).map((one) => decodeWords(one.value));
    expect(value('x-order')).to.deep.equal([headers['X-Order']]);
    expect(value('list-unsubscribe')).to.deep.equal([headers['List-Unsubscribe']]);
    expect(mail.inReplyTo).to.equal('<1@example.com>');
    expect(mail.replyTo).to.deep.equal([{ name: 'Elsewhere', address: 'else@example.com' }]);
  });

  it('has its attachments byte for byte, inline ones by their ids', async () => {
    const bytes = Buffer.from(Array.from({ length: 5_000 }, (_, n) => n % 256));
    const mail = await sent({
      body: '<p>See <img src="cid:logo@everpost"></p>',
      attachments: [
        {
          filename: 'Rechnung für Jürgen 😀.pdf',
          contentType: 'application/pdf',
          disposition: 'attachment',
          content: bytes,
        },
        {
          filename: 'logo.png',
          contentType: 'image/png',
          contentId: 'logo@everpost',
          disposition: 'inline',
          content: Buffer.from('png'),
        },
        {
          filename: 'it’s; x=y.txt',
          contentType: 'text/plain; charset=utf-8',
          disposition: 'attachment',
          content: Buffer.from('ü'),
        },
      ],
    });
    const found = mail.attachments.map(({ filename, mimeType, disposition, contentId, related, content }) => ({
      filename,
      mimeType,
      disposition,
      contentId,
      related,
      content: Buffer.from(content as ArrayBuffer).toString('hex'),
    }));
    expect(found).to.have.deep.members([
      {
        filename: 'logo.png',
        mimeType: 'image/png',
        disposition: 'inline',
        contentId: '<logo@everpost>',
        related: true,
        content: Buffer.from('png').toString('hex'),
      },
      {
        filename: 'Rechnung für Jürgen 😀.pdf',
        mimeType: 'application/pdf',
        disposition: 'attachment',
        contentId: undefined,
        related: undefined,
        content: bytes.toString('hex'),
      },
      {
        filename: 'it’s; x=y.txt',
        mimeType: 'text/plain',
        disposition: 'attachment',
        contentId: undefined,
        related: undefined,
        content: Buffer.from('ü').toString('hex'),
      },
    ]);
    expect(mail.html).to.contain('cid:logo@everpost');
    expect(mail.text?.trim()).to.equal('See');
  });

  describe('with a message/rfc822 attachment, which is not encoded', () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const signer = async () => ({ selector: 'ep1', privateKey });
    const accepted = async (content: string) => {
      const attachment = { filename: 'x.eml', contentType: 'message/rfc822', disposition: 'attachment' as const };
      const { emails } = await accept({ attachments: [{ ...attachment, content: Buffer.from(content) }] });
      return emails[0]?.email ?? '';
    };
    const verified = async (raw: Buffer | undefined) => {
      const record = `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`;
      const { results } = await dkimVerify(raw ?? Buffer.alloc(0), { resolver: async () => [[record]] });
      return results[0]?.status.result;
    };

    it('is sent signed when it has one line of 200 KB', async () => {
      const id = await accepted(`${' '.repeat(200 * 1024)}x`);
      await deliver({ signerFor: signer });
      expect(await mailById(db, id)).to.include({ status: 'SENT', attempts: 1 });
      expect(await verified(smtp.mails[0]?.raw)).to.equal('pass');
    });

    it('replaces every lone CR and LF by CRLF, and signs the bytes that are sent', async () => {
      await accepted('From: a@b.co\r\rone\rtwo\n.\nthree\r.\r\rMAIL FROM:<eve@b.co>\n');
      await deliver({ signerFor: signer });
      const [mail] = smtp.mails;
      expect(mail?.raw.toString('latin1'))
        .to.contain('From: a@b.co\r\n\r\none\r\ntwo\r\n.\r\nthree\r\n.\r\n\r\nMAIL FROM:<eve@b.co>\r\n')
        .and.not.match(/\r(?!\n)|(?<!\r)\n/);
      expect(await verified(mail?.raw)).to.equal('pass');
      expect(smtp.mails).to.have.length(1);
    });

    it('ends FAILED with a reason when it contains a NUL byte, and is not retried', async () => {
      const id = await accepted('From: a@b.co\r\n\r\na\0b');
      await deliver({ signerFor: signer });
      expect(smtp.mails).to.deep.equal([]);
      const row = await mailById(db, id);
      expect(row).to.include({ status: 'FAILED', attempts: 1 });
      expect(row.reason).to.contain('NUL byte');
    });
  });

  it('waits without counting an attempt while rendering is unavailable', async () => {
    // More than are leased at once.
    const to = Array.from({ length: 200 }, (_, n) => ({ email: `waits${n}@example.com` }));
    const { emails } = await accept({ to });
    const id = emails[0]?.email ?? '';
    const closed = createRenderer({ log: pino({ level: 'silent' }) });
    await closed.close();
    const warnings: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
    // The next try comes in an hour, and the test goes on after ten heartbeats.
    const sender = { ...TEST_TIMINGS.sender, retry: 3_600_000, heartbeat: 50 };
    const timings = { ...TEST_TIMINGS, senderLease: longLease, sender };
    const own = testSender(database.url, { url: smtp.url, renderer: closed, log, timings });
    const stop = new AbortController();
    let beats = 0;
    const heartbeat = () => void beats++;
    const run = own.send({ stop: stop.signal, untilIdle: false, heartbeat });
    const failures = () => warnings.filter((line) => line.includes('sending failed')).length;
    await eventually(() => failures() > 0, { what: 'a failed preparation' });
    const until = beats + 10;
    await eventually(() => beats >= until, { what: 'ten heartbeats' });
    // Three groups may be leased ahead when the first one fails.
    expect(failures(), 'tries in half a second').to.be.at.most(4);
    stop.abort();
    expect(await run).to.deep.equal(counts({}));
    await own.close();
    expect(await outgoingMails(db)).to.deep.equal([]);
    expect(await mailById(db, id)).to.include({ status: 'PENDING', attempts: 0 });
    expect(smtp.mails).to.deep.equal([]);
    await deliver();
    expect(await mailById(db, id)).to.include({ status: 'SENT', attempts: 1 });
  });

  it('is not leased again until rendering is available', async () => {
    await countLeases(db);
    const project = await makeProject(db);
    await addContacts(db, project, 20);
    const closed = createRenderer({ log: pino({ level: 'silent' }) });
    await closed.close();
    let failures = 0;
    const log = pino(
      { level: 'warn' },
      { write: (line: string) => void (line.includes('sending failed') && failures++) },
    );
    const own = campaignWorker(database, smtp.url, { renderer: closed, log });
    const { id } = await startCampaign(db, project);
    await own.advance(id);
    await accept();
    const stop = new AbortController();
    const run = own.send({ stop: stop.signal, untilIdle: false });
    await eventually(() => failures >= 10, { what: 'ten attempts to render' });
    stop.abort();
    await run;
    await own.close();
    const leases = await leasesPerMail(db);
    expect(leases).to.have.length(21);
    // A lease that is under way while the first attempt fails may take mail again that goes back meanwhile.
    for (const { count } of leases) expect(count).to.be.at.most(2);
    await deliver();
    expect(smtp.mails).to.have.length(21);
  });

  it('is read in small portions, and all mails of a large request are sent once', async () => {
    const to = Array.from({ length: 60 }, (_, n) => ({ email: `many${n}@example.com` }));
    await accept({ to, body: `<p>{{ email }}</p>${'A line of text that is not long.\n'.repeat(10_000)}` });
    await deliver();
    expect(smtp.mails).to.have.length(60);
    const texts = smtp.mails.map(({ to: [address], raw }) => raw.includes(`<p>${address}</p>`));
    expect(texts.every(Boolean)).to.equal(true);
  });
});
