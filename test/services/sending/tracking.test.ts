import { expect } from 'chai';
import type { Email as ParsedMail } from 'postal-mime';
import type { Db } from '../../../db/connect.ts';
import type { TemplateType } from '../../../db/models/template.ts';
import { languages } from '../../../platform/languages.ts';
import { findEmailWithAttempts } from '../../../services/emails/find.ts';
import { readPageToken } from '../../../services/emails/links.ts';
import { type SendInput, sendEmails } from '../../../services/emails/send.ts';
import { readClickToken, readOpenToken } from '../../../services/emails/tracked-links.ts';
import { createTemplate } from '../../../services/templates/save.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { mailById } from '../../support/ledger.ts';
import { testLinks } from '../../support/links.ts';
import { makeDue, setContents } from '../../support/rows/mails.ts';
import { setProject } from '../../support/rows/projects.ts';
import { type TestSender, testSender } from '../../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';

const KEYS: [string] = ['everpost-development-secret-key'];

describe('links, footer, headers and tracking of a sent mail', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let smtp: SmtpStandIn;
  let sending: TestSender;
  let project: TestProject;
  let people = 0;

  before(async () => {
    database = await connectTestDatabase();
    db = database.db;
    smtp = await startSmtp();
    sending = testSender(database.url, { url: smtp.url, connections: 3 });
    project = await makeProject(db);
  });
  after(async () => {
    await sending.close();
    await smtp.close();
    await database.close();
  });
  beforeEach(async () => {
    smtp.mails.length = 0;
    await track('DISABLED');
  });

  const track = (tracking: string) => setProject(db, project.id, { tracking });
  const deliver = async (): Promise<void> => {
    await makeDue(db, { status: 'PENDING' });
    await sending.send();
  };

  interface Sent {
    id: string;
    contactId: string;
    html: string;
    text: string;
    raw: string;
    parsed: ParsedMail;
  }

  interface Wish extends Partial<SendInput> {
    type?: TemplateType;
    /** Inserted directly, for values that no request can have. */
    untracked?: boolean;
  }

  async function sent({ type = 'TRANSACTIONAL', untracked, ...input }: Wish = {}): Promise<Sent> {
    const content = { from: { email: `shop@${project.senderDomain}` }, subject: 'Hello', body: '<p>Hello</p>' };
    const to = [{ email: `tracked${++people}@example.com` }];
    const { emails } = await sendEmails(db, project.access, { to, subscribed: true, ...content, ...input });
    const [{ email: id, contact } = { email: '', contact: { id: '' } }] = emails;
    await setContents(db, { emailId: id }, { type, untracked: untracked ?? false });
    await deliver();
    const mail = smtp.mails.at(-1);
    if (!mail) throw new Error('no mail came');
    const parsed = await mail.parsed();
    const { html = '', text = '' } = parsed;
    return {
      id,
      contactId: contact.id,
      html: html.trim(),
      text: text.trim(),
      raw: mail.raw.toString('latin1'),
      parsed,
    };
  }
  const header = ({ parsed }: Sent, name: string): string | undefined => {
    const found = parsed.headers.filter(({ key }) => key === name);
    expect(found.length, name).to.be.at.most(1);
    return found[0]?.value;
  };
  const pages = ({ id, contactId }: Sent) => testLinks.contactLinks({ contactId, emailId: id });

  describe('links of the contact', () => {
    it('are inserted where a template names them, signed for the contact and the mail', async () => {
      const mail = await sent({ body: '<a href="{{ unsubscribeUrl }}">{{ subscribeUrl }}</a> {{ manageUrl }}' });
      const { unsubscribeUrl, subscribeUrl, manageUrl } = pages(mail);
      expect(mail.html).to.equal(`<a href="${unsubscribeUrl}">${subscribeUrl}</a> ${manageUrl}`);
      expect(unsubscribeUrl).to.match(/^http:\/\/app\.test\/unsubscribe\/[\w-]{64}$/);
      const token = unsubscribeUrl.split('/').at(-1) ?? '';
      expect(readPageToken(KEYS, token)).to.deep.equal({ contactId: mail.contactId, emailId: mail.id });
    });

    it('cannot be replaced by data of the contact or the request', async () => {
      const data = { unsubscribeUrl: 'https://evil.example/', manageUrl: { value: 'x', persistent: false } };
      const mail = await sent({ data, body: '{{ unsubscribeUrl }} {{ manageUrl }}' });
      expect(mail.html).to.equal(`${pages(mail).unsubscribeUrl} ${pages(mail).manageUrl}`);
    });
  });

  describe('the footer', () => {
    it('ends MARKETING mail, in HTML and text, and no other type', async () => {
      const mail = await sent({ type: 'MARKETING', body: '<html><body><p>News</p></body></html>' });
      const { unsubscribeUrl, manageUrl } = pages(mail);
      expect(mail.html).to.contain(`href="${unsubscribeUrl}"`).and.contain(`href="${manageUrl}"`);
      expect(mail.html).to.match(/<\/p><\/body><\/html>$/);
      expect(mail.text).to.contain('News').and.contain(unsubscribeUrl);
      for (const type of ['TRANSACTIONAL', 'HEADLESS'] as const)
        expect((await sent({ type })).html).to.equal('<p>Hello</p>');
    });

    it('is added when the body is no valid template or exceeds the limits', async () => {
      const loop = '{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}';
      for (const body of ['{% if %}<p>Hello</p>', loop]) {
        const mail = await sent({ type: 'MARKETING', body });
        expect(mail.html).to.contain(`href="${pages(mail).unsubscribeUrl}"`);
      }
    });

    for (const language of languages)
      it(`is written in ${language}`, async () => {
        const mail = await sent({ type: 'MARKETING', data: { locale: `${language}-XX` } });
        expect(mail.html).to.contain(`<p lang="${language}"`);
      });

    it("uses the project's language when the contact's is not supported", async () => {
      await setProject(db, project.id, { language: 'nl' });
      const mail = await sent({ type: 'MARKETING', data: { locale: 'xx' } });
      await setProject(db, project.id, { language: 'en' });
      expect(mail.html).to.contain('<p lang="nl"');
    });

    it('is added to templates of type MARKETING', async () => {
      const texts = { name: 'N', subject: 'News', body: '<p>News</p>', type: 'MARKETING' as const };
      const from = { email: `t@${project.senderDomain}` };
      const { id: template } = await createTemplate(db, project.access, { ...texts, from });
      const to = [{ email: 'subscriber@example.com' }];
      await sendEmails(db, project.access, { to, template, subscribed: true });
      await deliver();
      const mail = await smtp.mails.at(-1)?.parsed();
      expect(mail?.html).to.contain('/unsubscribe/');
      expect(mail?.headers.some(({ key }) => key === 'list-unsubscribe')).to.equal(true);
    });
  });

  describe('List-Unsubscribe', () => {
    const post = 'List-Unsubscribe=One-Click';

    it('has one-click headers in MARKETING mail (RFC 8058), each once and on one line', async () => {
      const mail = await sent({ type: 'MARKETING' });
      expect(header(mail, 'list-unsubscribe')).to.equal(`<${pages(mail).unsubscribeUrl}>`);
      expect(header(mail, 'list-unsubscribe-post')).to.equal(post);
      expect(mail.raw).to.contain(`\r\nList-Unsubscribe: <${pages(mail).unsubscribeUrl}>\r\n`);
      expect(mail.raw).to.contain(`\r\nList-Unsubscribe-Post: ${post}\r\n`);
    });

    for (const type of ['TRANSACTIONAL', 'HEADLESS'] as const) {
      it(`is added to ${type} mail whose body contains the contact's unsubscribe link`, async () => {
        const mail = await sent({ type, body: '<a href="{{ unsubscribeUrl }}">No more</a>' });
        expect(header(mail, 'list-unsubscribe')).to.equal(`<${pages(mail).unsubscribeUrl}>`);
        expect(header(mail, 'list-unsubscribe-post')).to.equal(post);
      });

      it(`is not added to other ${type} mail`, async () => {
        const mail = await sent({ type, body: '{{ manageUrl }} http://app.test/unsubscribe/' });
        expect(header(mail, 'list-unsubscribe')).to.equal(undefined);
        expect(header(mail, 'list-unsubscribe-post')).to.equal(undefined);
      });
    }

    it('is not added when the caller sets either of its two headers', async () => {
      const own = await sent({ type: 'MARKETING', headers: { 'list-UNSUBSCRIBE': '<mailto:out@example.com>' } });
      expect(header(own, 'list-unsubscribe')).to.equal('<mailto:out@example.com>');
      expect(header(own, 'list-unsubscribe-post')).to.equal(undefined);
      const half = await sent({ type: 'MARKETING', headers: { 'List-Unsubscribe-Post': post } });
      expect(header(half, 'list-unsubscribe')).to.equal(undefined);
      expect(header(half, 'list-unsubscribe-post')).to.equal(post);
    });

    it('is added besides other headers of the caller', async () => {
      const mail = await sent({ type: 'MARKETING', headers: { 'X-Order': '7' } });
      expect(header(mail, 'x-order')).to.equal('7');
      expect(header(mail, 'list-unsubscribe')).to.be.a('string');
    });
  });

  it('has no headers of campaign mail', async () => {
    const mail = await sent({ type: 'MARKETING' });
    for (const name of ['precedence', 'x-auto-response-suppress', 'list-id', 'feedback-id'])
      expect(header(mail, name), name).to.equal(undefined);
  });

  describe('tracking', () => {
    const body = '<html><body><a href="https://shop.example/?a=1&amp;b=2">Shop</a></body></html>';
    const pixelIn = ({ html }: Sent) => /<img src="http:\/\/app\.test\/t\/o\/([\w-]+)"/.exec(html)?.[1];
    const clicksIn = ({ html }: Sent) =>
      [...html.matchAll(/href="http:\/\/app\.test\/t\/c\/([\w.-]+)"/g)].map(([, token = '']) =>
        readClickToken(KEYS, token),
      );

    it('adds a pixel and rewrites links; the text keeps the original links', async () => {
      await track('ENABLED');
      const mail = await sent({ body });
      expect(readOpenToken(KEYS, pixelIn(mail) ?? '')).to.equal(mail.id);
      expect(clicksIn(mail)).to.deep.equal([{ emailId: mail.id, target: 'https://shop.example/?a=1&b=2', index: 0 }]);
      expect(mail.html).to.match(/<img [^>]*alt=""[^>]*><\/body><\/html>$/);
      expect(mail.text).to.contain('https://shop.example/?a=1&b=2').and.not.contain('/t/c/');
    });

    for (const [tracking, types] of [
      ['ENABLED', { TRANSACTIONAL: true, HEADLESS: true, MARKETING: true }],
      ['MARKETING_ONLY', { TRANSACTIONAL: false, HEADLESS: false, MARKETING: true }],
      ['DISABLED', { TRANSACTIONAL: false, HEADLESS: false, MARKETING: false }],
    ] as const)
      for (const [type, expected] of Object.entries(types))
        it(`is ${expected ? 'in' : 'not in'} ${type} mail of a project where it is ${tracking}`, async () => {
          await track(tracking);
          const mail = await sent({ body, type: type as TemplateType });
          expect(pixelIn(mail) !== undefined).to.equal(expected);
          expect(clicksIn(mail)).to.have.length(expected ? 1 : 0);
          if (!expected) expect(mail.html).to.contain('href="https://shop.example/?a=1&amp;b=2"');
        });

    it('is left out of mails that are not tracked', async () => {
      await track('ENABLED');
      const mail = await sent({ body, untracked: true });
      expect(pixelIn(mail)).to.equal(undefined);
      expect(clicksIn(mail)).to.deep.equal([]);
    });

    it('does not rewrite other schemes, invalid URLs and our own pages', async () => {
      await track('ENABLED');
      const hrefs = [
        'mailto:a@example.com',
        'tel:+491234',
        'sms:+491234',
        '#top',
        '',
        '/relative',
        '//example.com/',
        'cid:logo',
        'javascript:alert(1)',
        'https:',
        'https://',
        'http://[',
        'https:// exa mple.com',
        'ftp://example.com/',
        `https://example.com/${'x'.repeat(5_000)}`,
        `https://example.com/${'…'.repeat(1_400)}`,
        'https://example.com/&eacute;',
        '{{ unsubscribeUrl }}',
        '{{ subscribeUrl }}',
        '{{ manageUrl }}',
      ];
      const links = hrefs.map((href) => `<a href="${href}">x</a>`).join('');
      const mail = await sent({
        body: `${links}<img src="https://example.com/a.png"><link href="https://example.com/">`,
      });
      expect(clicksIn(mail)).to.deep.equal([]);
      for (const href of hrefs.filter((one) => !one.includes('{{'))) expect(mail.html).to.contain(`<a href="${href}">`);
      expect(mail.html).to.contain(`<a href="${pages(mail).unsubscribeUrl}">`);
      expect(header(mail, 'list-unsubscribe')).to.equal(`<${pages(mail).unsubscribeUrl}>`);
    });

    it('rewrites links that come from values, with their escaping', async () => {
      await track('ENABLED');
      const data = { url: 'https://a.example/?x=1&y="2"', html: '<a href=https://b.example/>b</a>' };
      const mail = await sent({ data, body: '<a href="{{ url }}">a</a>{{ html | safe }}{{ html }}' });
      expect(clicksIn(mail)).to.deep.include({ emailId: mail.id, target: data.url, index: 0 });
      expect(mail.html).to.match(/<a href=http:\/\/app\.test\/t\/c\/[\w.-]+>b<\/a>&lt;a href/);
    });

    it('keeps hostile HTML unchanged', async () => {
      await track('ENABLED');
      const hostile = '<a href="https://a.example/"<!-- <a href=\'><style><a href="https://b.example/">';
      const mail = await sent({ body: `<a href="https://ok.example/">x</a>${hostile}` });
      expect(clicksIn(mail)).to.deep.include({ emailId: mail.id, target: 'https://ok.example/', index: 0 });
      expect(mail.html).to.contain('https://b.example/');
    });

    it('rewrites the first 300 links of a mail and keeps the rest', async () => {
      await track('ENABLED');
      const links = Array.from({ length: 310 }, (_, n) => `<a href="https://a.example/${n}">x</a>`).join('');
      const mail = await sent({ body: links });
      expect(clicksIn(mail)).to.have.length(300);
      expect(mail.html).to.contain('href="https://a.example/309"');
    });

    it('keeps the links of two consecutive mails apart', async () => {
      await track('ENABLED');
      const first = await sent({ body });
      const second = await sent({ body });
      expect(pixelIn(first)).to.not.equal(pixelIn(second));
      expect(clicksIn(second)).to.deep.equal([
        { emailId: second.id, target: 'https://shop.example/?a=1&b=2', index: 0 },
      ]);
    });
  });

  describe('attempts', () => {
    it('are recorded with the answer of the relay and shown with the mail', async () => {
      const to = [{ email: 'twice@example.com' }];
      smtp.misbehave({ at: 'recipient', to: 'twice@example.com', do: { code: 451, text: 'come back' }, times: 1 });
      const content = { from: { email: `shop@${project.senderDomain}` }, subject: 'Hello', body: '<p>Hello</p>' };
      const { emails } = await sendEmails(db, project.access, { to, ...content });
      const id = emails[0]?.email ?? '';
      await deliver();
      await deliver();
      expect(await mailById(db, id)).to.include({ status: 'SENT', attempts: 2 });
      const { attemptLog } = await findEmailWithAttempts(db, project.id, id);
      expect(attemptLog.map(({ number, outcome }) => [number, outcome])).to.deep.equal([
        [1, 'deferred'],
        [2, 'sent'],
      ]);
      expect(attemptLog[0]?.answer).to.contain('451').and.contain('come back');
      expect(attemptLog[1]?.answer).to.match(/^250 queued as stand-in-\d+$/);
      for (const { startedAt, endedAt } of attemptLog) expect(startedAt <= endedAt).to.equal(true);
    });

    it('record that a mail was rejected', async () => {
      const to = [{ email: 'never@example.com' }];
      smtp.misbehave({ at: 'recipient', to: 'never@example.com', do: { code: 550, text: 'unknown' }, times: 1 });
      const content = { from: { email: `shop@${project.senderDomain}` }, subject: 'Hello', body: '<p>Hello</p>' };
      const { emails } = await sendEmails(db, project.access, { to, ...content });
      await deliver();
      const { attemptLog, status } = await findEmailWithAttempts(db, project.id, emails[0]?.email ?? '');
      expect(status).to.equal('FAILED');
      expect(attemptLog).to.have.length(1);
      expect(attemptLog[0]).to.include({ number: 1, outcome: 'refused' });
    });
  });
});
