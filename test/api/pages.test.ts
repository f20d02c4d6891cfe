import { expect } from 'chai';
import { signToken } from '../../platform/crypto/signed-token.ts';
import { newId } from '../../platform/ids.ts';
import { languages } from '../../platform/languages.ts';
import { MailLinks } from '../../services/emails/links.ts';
import { subscriptionTexts } from '../../web/subscription-texts.ts';
import { type ApiAnswer, type ApiProject, describeApi } from '../support/api.ts';
import { changeProject, readContact, readEventsOfContact } from '../support/reading.ts';
import { addMailRows, storedMails } from '../support/rows/mails.ts';
import { blockProject, setProject, unblockProject } from '../support/rows/projects.ts';

const KEY = 'a key of sixteen or more';
const OLD_KEY = 'the key that was before it';

describeApi('subscription pages of a contact', { env: { SECRET_KEY: `${KEY},${OLD_KEY}` } }, (api) => {
  let project: ApiProject;
  let people = 0;

  before(async () => {
    project = await api.project();
  });

  const pages = ['unsubscribe', 'subscribe', 'manage'] as const;

  interface Person {
    id: string;
    emailId: string;
    token: string;
  }

  /** A contact and the token in a mail to it. */
  async function person({ subscribed = true, data = {} } = {}): Promise<Person> {
    const email = `person${++people}@example.com`;
    const { body } = await project.server.post('/contacts', { email, subscribed, data });
    const emailId = newId();
    await addMailRows(api.db, { id: emailId, projectId: project.id, contactId: body.id, status: 'SENT' });
    return { id: body.id, emailId, token: tokenFor(body.id, emailId) };
  }
  const tokenFor = (contactId: string, emailId = newId(), key = KEY) =>
    new MailLinks({ baseUrl: '', secretKeys: [key] }).contactLinks({ contactId, emailId }).manageUrl.split('/')[2] ??
    '';
  const row = (id: string) => readContact(project, id);
  const events = (contactId: string) =>
    readEventsOfContact(project, contactId).then((all) => all.map(({ name, data }) => ({ name, data })));
  const bare = async (path: string, init: RequestInit = {}): Promise<ApiAnswer> => {
    const response = await fetch(api.url + path, init);
    return { status: response.status, headers: response.headers, body: await response.text() };
  };

  for (const page of pages)
    it(`shows a page on GET /${page}/:token and changes nothing`, async () => {
      for (const subscribed of [true, false]) {
        const { id, token } = await person({ subscribed });
        const before = await row(id);
        const answer = await bare(`/${page}/${token}`);
        expect(answer).to.have.status(200);
        expect(answer.body).to.match(/^<!doctype html>\n<html lang="en">/);
        expect(answer.body).to.contain(`action="../${subscribed ? 'unsubscribe' : 'subscribe'}/${token}"`);
        expect(await row(id)).to.deep.equal(before);
        expect(await events(id)).to.deep.equal([]);
      }
    });

  it('are accessible, run no script and load nothing', async () => {
    const { token } = await person();
    for (const page of pages) {
      const { body, headers } = await bare(`/${page}/${token}`);
      expect(body)
        .to.match(/<title>[^<]+<\/title>/)
        .and.match(/<main>\s*<h1>/);
      expect(body).to.contain('name="viewport"').and.contain('<button type="submit">');
      expect(body).to.not.match(/<script|<img|<link|src=|https?:/i);
      expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(headers.get('content-security-policy'))
        .to.contain("default-src 'none'")
        .and.contain("frame-ancestors 'none'");
      expect(headers.get('referrer-policy')).to.equal('same-origin');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('x-robots-tag')).to.equal('noindex');
    }
  });

  it("have the project's logo and colors once its brand kit is saved, and load the logo only", async () => {
    const branded = await api.project();
    const created = await branded.server.post('/contacts', { email: 'anna@example.com' });
    const token = tokenFor(created.body.id);
    const kit = { logoUrl: 'https://cdn.shop.example/logo.png', colors: { button: '#b00020', link: '#b00020' } };
    expect(await branded.server.put('/brand-kit', kit)).to.have.status(200);
    for (const page of pages) {
      const { body, headers } = await bare(`/${page}/${token}`);
      expect(body)
        .to.contain('<img class="logo" src="https://cdn.shop.example/logo.png"')
        .and.contain('--brand: #b00020');
      expect(headers.get('content-security-policy')).to.match(/; img-src https:\/\/cdn\.shop\.example$/);
    }
  });

  it('mask the address and escape markup in the name of the project', async () => {
    const { token } = await person();
    await changeProject(project, { name: '<b>Shop</b> & {sender} $&' });
    const { body } = await bare(`/manage/${token}`);
    expect(body).to.contain('&lt;b&gt;Shop&lt;/b&gt; &amp; {sender} $&amp;').and.contain('pe…@example.com');
    expect(body).to.not.contain('person');
  });

  for (const [what, init] of [
    ['the one-click of RFC 8058', { body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }],
    ['an empty body', {}],
    ['multipart, as some mail programs send it', { body: oneClickForm() }],
    ['an unexpected body', { body: '{"x":', headers: { 'content-type': 'application/json' } }],
  ] as [string, RequestInit][])
    it(`unsubscribes on POST /unsubscribe/:token with ${what}`, async () => {
      const { id, emailId, token } = await person();
      const answer = await bare(`/unsubscribe/${token}`, { method: 'POST', ...init });
      expect(answer).to.have.status(200);
      expect(answer.body).to.contain('You are unsubscribed').and.contain('role="status"');
      expect((await row(id)).subscribed).to.equal(false);
      expect(await events(id)).to.deep.equal([
        {
          name: 'contact.unsubscribed',
          data: {
            reason: 'by the recipient',
            emailId,
            campaignId: null,
            workflowId: null,
            method: 'ONE_CLICK',
            userAgentClass: 'SCRIPT',
          },
        },
      ]);
      const mail = await storedMails(api.db, { id: emailId }).first();
      expect(mail.unsubscribedAt).to.be.instanceOf(Date);
    });

  function oneClickForm(): FormData {
    const form = new FormData();
    form.set('List-Unsubscribe', 'One-Click');
    return form;
  }

  it('record one event when POST /unsubscribe/:token is repeated', async () => {
    const { id, token } = await person();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => bare(`/unsubscribe/${token}`, { method: 'POST' })),
    );
    for (const answer of answers) expect(answer).to.have.status(200);
    expect(await events(id)).to.have.length(1);
  });

  it('subscribe again on POST /subscribe/:token', async () => {
    const { id, token } = await person({ subscribed: false });
    const answer = await bare(`/subscribe/${token}`, { method: 'POST' });
    expect(answer).to.have.status(200);
    expect(answer.body).to.contain('You are subscribed');
    expect((await row(id)).subscribed).to.equal(true);
    expect((await events(id)).map(({ name }) => name)).to.deep.equal(['contact.subscribed']);
  });

  it('accept a POST with a session cookie from our own origin', async () => {
    const { id, token } = await person();
    const headers = { cookie: project.cookie, origin: 'http://app.test' };
    expect(await bare(`/unsubscribe/${token}`, { method: 'POST', headers })).to.have.status(200);
    expect((await row(id)).subscribed).to.equal(false);
  });

  it('work while the project is disabled', async () => {
    const { id, token } = await person();
    await blockProject(api.db, project.id);
    try {
      for (const page of pages) expect(await bare(`/${page}/${token}`)).to.have.status(200);
      expect(await bare(`/unsubscribe/${token}`, { method: 'POST' })).to.have.status(200);
    } finally {
      await unblockProject(api.db, project.id);
    }
    expect((await row(id)).subscribed).to.equal(false);
  });

  it('accept tokens signed with every listed key', async () => {
    const { id } = await person();
    expect(await bare(`/manage/${tokenFor(id, newId(), OLD_KEY)}`)).to.have.status(200);
    expect(await bare(`/manage/${tokenFor(id, newId(), 'an unlisted key')}`)).to.have.status(404);
  });

  it('answer a 404 page to a deleted contact and to a forged token', async () => {
    const gone = await person();
    expect(await project.server.delete(`/contacts/${gone.id}`)).to.have.status(204);
    const { id, token } = await person();
    const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
    const tokens = {
      gone: gone.token,
      id,
      'of another purpose': signToken([KEY], 'click', Buffer.concat([bytes, bytes])),
      'too short': signToken([KEY], 'contact', bytes),
      garbage: 'x'.repeat(300),
      cut: token.slice(0, -1),
      'with more': `${token}A`,
      unicode: encodeURIComponent('ünï…'),
      markup: encodeURIComponent('"><b>'),
    };
    for (const [what, bad] of Object.entries(tokens))
      for (const page of pages)
        for (const method of ['GET', 'POST']) {
          const answer = await bare(`/${page}/${bad}`, { method });
          expect(answer, `${what} ${page}`).to.have.status(404);
          expect(answer.body).to.contain('This link does not work').and.not.contain('<b>');
          expect(answer.headers.get('content-security-policy')).to.contain("default-src 'none'");
        }
    expect((await row(id)).subscribed).to.equal(true);
  });

  for (const language of languages)
    it(`are available in ${language}`, async () => {
      const texts = subscriptionTexts[language];
      const { token } = await person({ data: { locale: `${language}-XX` } });
      const asking = await bare(`/unsubscribe/${token}`);
      expect(asking.body)
        .to.contain(`<html lang="${language}">`)
        .and.contain(`<h1>${escaped(texts.askUnsubscribe)}</h1>`);
      const done = await bare(`/unsubscribe/${token}`, { method: 'POST' });
      expect(done.body)
        .to.contain(`<h1>${escaped(texts.unsubscribed)}</h1>`)
        .and.contain(escaped(texts.subscribe));
      const bad = await bare('/manage/none', { headers: { 'accept-language': `xx, ${language};q=0.8` } });
      expect(bad.body).to.contain(escaped(texts.badLink));
    });
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll("'", '&#39;');

  it('fall back to the language of the project, then to English', async () => {
    const plain = await person();
    const other = await person({ data: { locale: 'xx' } });
    const odd = await person({ data: { locale: { de: true } } });
    await changeProject(project, { language: 'fr' });
    for (const { token } of [plain, other, odd]) expect((await bare(`/manage/${token}`)).body).to.contain('lang="fr"');
    await setProject(api.db, project.id, { language: 'tlh' });
    expect((await bare(`/manage/${plain.token}`)).body).to.contain('lang="en"');
  });

  it('are documented as HTML in the OpenAPI document', async () => {
    const { paths } = (await api.get('/openapi.json')).body;
    expect(paths['/unsubscribe/{token}'].post.responses[200].content).to.have.keys('text/html');
    expect(paths['/unsubscribe/{token}'].post.security).to.deep.equal([]);
  });
});
