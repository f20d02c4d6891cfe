import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { pino } from 'pino';
import PostalMime, { type Email as ParsedMail } from 'postal-mime';
import type { Db } from '../../../db/connect.ts';
import { newId } from '../../../platform/ids.ts';
import type { CampaignInput } from '../../../services/campaigns/save.ts';
import { readPageToken } from '../../../services/emails/links.ts';
import { openReturnToken } from '../../../services/emails/return-token.ts';
import { readClickToken, readOpenToken } from '../../../services/emails/tracked-links.ts';
import { Preparation, type PreparationDeps, type PreparedMail } from '../../../services/sending/prepare.ts';
import { addContacts, makeCampaign } from '../../support/campaigns.ts';
import { testComposer } from '../../support/composer.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { testLinkSettings } from '../../support/links.ts';
import { testRenderer } from '../../support/renderer.ts';
import { removeContacts, setContacts } from '../../support/rows/contacts.ts';
import { addCampaignMails, campaignRecipients } from '../../support/rows/mails.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

/** The keys of the test links. */
const KEYS: [string] = ['everpost-development-secret-key'];

const rawOf = ({ message }: PreparedMail): Buffer => ('raw' in message ? message.raw : Buffer.alloc(0));
const header = ({ headers }: ParsedMail, name: string) => headers.find(({ key }) => key === name)?.value;

describe('prepared mails of a campaign', () => {
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

  /** Sorted by address. The first mail of a skeleton is rendered completely, the others fill its placeholders. */
  async function mailsOf(input: Partial<CampaignInput>, deps: Partial<PreparationDeps> = {}) {
    const { id } = await makeCampaign(db, project, input);
    await addCampaignMails(db, id, project.id);
    const ready: PreparedMail[] = [];
    const recipients = await campaignRecipients(db, id);
    await preparation(deps).prepareCampaign(id, recipients, (mail) => void ready.push(mail));
    const sorted = ready.sort((a, b) => ((a.to ?? '') < (b.to ?? '') ? -1 : 1));
    const parsed = await Promise.all(sorted.map((mail) => PostalMime.parse(rawOf(mail))));
    return { id, ready: sorted, parsed };
  }

  it('have their own values, subject, links and pixel, whichever way they were composed', async () => {
    await addContacts(db, project, 6);
    const body =
      '<body><p title="{{ name }}">Grüße, {{ name }}!</p>\n<a href="https://shop.example/?u={{ email }}&amp;x=1">Shop</a>' +
      '<a href="https://shop.example/all">All</a></body>';
    const { ready, parsed } = await mailsOf({ type: 'HEADLESS', subject: 'Für {{ name }}', body });
    for (const [n, { subject, html = '', text, to }] of parsed.entries()) {
      expect(to?.[0]?.address).to.equal(`p${n}@example.com`);
      expect(ready[n]).to.include({ to: `p${n}@example.com`, subject: `Für Name ${n}` });
      expect(subject).to.equal(`Für Name ${n}`);
      expect(html).to.match(new RegExp(`^<body><p title="Name ${n}">Grüße, Name ${n}!</p>\n<a href="http://app`));
      expect(text).to.contain(`Grüße, Name ${n}!`).and.contain(`[https://shop.example/?u=p${n}@example.com&x=1]`);
      const clicks = [...html.matchAll(/href="http:\/\/app\.test\/t\/c\/([\w.-]+)"/g)].map(([, token = '']) =>
        readClickToken(KEYS, token),
      );
      expect(clicks).to.deep.equal([
        { emailId: ready[n]?.id, target: `https://shop.example/?u=p${n}@example.com&x=1`, index: 0 },
        { emailId: ready[n]?.id, target: 'https://shop.example/all', index: 1 },
      ]);
      const pixel = /<img src="http:\/\/app\.test\/t\/o\/([\w-]+)"[^>]*><\/body>/.exec(html)?.[1] ?? '';
      expect(readOpenToken(KEYS, pixel)).to.equal(ready[n]?.id);
    }
  });

  it('have the headers of bulk mail, each once', async () => {
    await addContacts(db, project, 3);
    const { id, ready, parsed } = await mailsOf({});
    for (const [n, mail] of parsed.entries()) {
      expect(header(mail, 'precedence')).to.equal('bulk');
      expect(header(mail, 'x-auto-response-suppress')).to.equal('OOF, AutoReply');
      expect(header(mail, 'list-id')).to.equal(`<${project.id}.${project.senderDomain}>`);
      expect(header(mail, 'feedback-id')).to.equal(`${id}:${project.id}:campaign:everpost`);
      expect(openReturnToken(KEYS, header(mail, 'x-everpost-id') ?? '')).to.equal(ready[n]?.id);
      const names = mail.headers.map(({ key }) => key);
      expect(new Set(names).size).to.equal(names.length);
    }
  });

  for (const [what, input, isThere] of [
    ['MARKETING mail', { type: 'MARKETING', body: '<p>{{ name }}</p>' }, true],
    ['a body with the contact’s link', { type: 'HEADLESS', body: '<a href="{{unsubscribeUrl}}">x</a>' }, true],
    [
      'a link that is put together',
      { type: 'HEADLESS', body: 'http:{{ unsubscribeUrl | replace("http:", "") }}' },
      true,
    ],
    [
      'a body with another of the contact’s links',
      { type: 'HEADLESS', body: '<a href="{{ manageUrl }}">x</a>' },
      false,
    ],
    ['a link in the subject alone', { type: 'HEADLESS', subject: '{{ unsubscribeUrl }}', body: '<p>x</p>' }, false],
    ['a body without it', { type: 'HEADLESS', body: '<p>{{ name }}</p>' }, false],
  ] as const)
    it(`${isThere ? 'offer' : 'do not offer'} one click to unsubscribe for ${what}`, async () => {
      await addContacts(db, project, 3);
      const { ready, parsed } = await mailsOf(input);
      for (const [n, mail] of parsed.entries()) {
        const url = header(mail, 'list-unsubscribe');
        if (!isThere) expect(url).to.equal(undefined);
        else {
          const token = /^<http:\/\/app\.test\/unsubscribe\/(.+)>$/.exec(url ?? '')?.[1] ?? '';
          expect(readPageToken(KEYS, token)).to.include({ emailId: ready[n]?.id });
          expect(header(mail, 'list-unsubscribe-post')).to.equal('List-Unsubscribe=One-Click');
        }
        if ('subject' in input) expect(mail.subject).to.match(/^http:\/\/app\.test\/unsubscribe\//);
      }
    });

  it("end with a footer in each contact's language, with untracked links", async () => {
    await addContacts(db, project, 4);
    await db.raw(
      `update contacts set data = data || '{"locale": "fr"}' where project_id = ? and email in ('p1@example.com', 'p3@example.com')`,
      [project.id],
    );
    const { parsed } = await mailsOf({ type: 'MARKETING', body: '<body>{{ name }}</body>' });
    for (const [n, { html, text }] of parsed.entries()) {
      const word = n % 2 === 1 ? 'Se désabonner' : 'Unsubscribe';
      expect(html).to.match(new RegExp(`<a href="http://app.test/unsubscribe/[\\w-]+" style="color:#666">${word}</a>`));
      expect(text).to.contain(`${word} [http://app.test/unsubscribe/`);
    }
  });

  it('are signed, and pass the check of a receiver', async () => {
    await addContacts(db, project, 3);
    const { ready } = await mailsOf(
      { body: '<p>Hello {{ name }}  \n.dots</p>' },
      { signerFor: async () => ({ selector: 'ep1', privateKey }) },
    );
    for (const mail of ready) {
      const { results } = await dkimVerify(rawOf(mail), {
        resolver: async () => [[`v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`]],
      });
      expect(results[0]?.status.result).to.equal('pass');
    }
  });

  it('are composed for unusual addresses, and for values that placeholders cannot take', async () => {
    await addContacts(db, project, 4);
    const change = (n: number, values: object) =>
      setContacts(db, { projectId: project.id, email: `p${n}@example.com` }, values);
    await change(1, { data: { name: 'two\nlines ' } });
    await change(2, { data: { name: '<b>&' } });
    await change(3, { email: 'p3ü@example.com' });
    const { ready, parsed } = await mailsOf({ body: '<p>Hello {{ name }}!</p>', type: 'HEADLESS' });
    expect(parsed.map(({ html }) => html?.slice(0, html.indexOf('<img')))).to.deep.equal([
      '<p>Hello Name 0!</p>',
      '<p>Hello two\nlines !</p>',
      '<p>Hello &lt;b&gt;&amp;!</p>',
      '<p>Hello Name 3!</p>',
    ]);
    expect(ready.map(({ message }) => 'utf8' in message && message.utf8)).to.deep.equal([false, false, false, true]);
  });

  it('name project and sender domain, and a subject only where it differs', async () => {
    await addContacts(db, project, 1);
    const [mail] = (await mailsOf({ subject: 'The same' })).ready;
    expect(mail).to.include({ projectId: project.id, senderDomain: project.senderDomain, subject: null });
  });

  it('are gone with their contact, and with their campaign', async () => {
    await addContacts(db, project, 2);
    const { id } = await mailsOf({});
    await removeContacts(db, { projectId: project.id, email: 'p0@example.com' });
    const recipients = await campaignRecipients(db, id);
    const left: PreparedMail[] = [];
    await preparation().prepareCampaign(id, recipients, (mail) => void left.push(mail));
    expect(left.map(({ to }) => to)).to.have.members([null, 'p1@example.com']);
    const none: PreparedMail[] = [];
    await preparation().prepareCampaign(newId(), recipients, (mail) => void none.push(mail));
    expect(none.map(({ to }) => to)).to.deep.equal([null, null]);
  });

  it('have their variables replaced when the template exceeds the limits of rendering', async () => {
    await addContacts(db, project, 2);
    const loop = '{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}';
    const { parsed } = await mailsOf({ type: 'HEADLESS', subject: 'S', body: `${loop}<p>{{ name }}</p>` });
    expect(parsed.map(({ html }) => html?.slice(0, html.indexOf('<img')))).to.deep.equal([
      `${loop}<p>Name 0</p>`,
      `${loop}<p>Name 1</p>`,
    ]);
  });

  it('are signed with a new key from the next call on', async () => {
    await addContacts(db, project, 1);
    let selector = 'ep1';
    const shared = preparation({ signerFor: async () => ({ selector, privateKey }) });
    const { id } = await mailsOf({});
    const headOf = async () => {
      const mails: PreparedMail[] = [];
      await shared.prepareCampaign(id, await campaignRecipients(db, id), (mail) => void mails.push(mail));
      return mails.map(rawOf).join().split('\r\n\r\n')[0];
    };
    expect(await headOf()).to.contain('s=ep1;');
    selector = 'ep2';
    expect(await headOf()).to.contain('s=ep2;');
  });
});
