import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { findSender } from '../../db/models/project-pages.ts';
import { newId } from '../../platform/ids.ts';
import { MailLinks } from '../../services/emails/links.ts';
import { person } from '../support/accounts.ts';
import { type ApiAnswer, type ApiProject, describeApi } from '../support/api.ts';
import { readAudit } from '../support/reading.ts';

const KEY = 'a key of sixteen or more';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const UPLOADS_DIR = mkdtempSync(join(tmpdir(), 'everpost-pages-'));

describeApi('settings of hosted pages', { env: { SECRET_KEY: KEY, UPLOADS_DIR } }, (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const path = () => `/projects/${project.id}/pages`;
  const change = (body: object) => project.owner.patch(path(), body);
  const upload = async (by: ApiProject): Promise<string> => {
    const form = new FormData();
    form.set('image', new Blob([PNG], { type: 'image/png' }), 'logo.png');
    const answer = await by.server.post('/uploads/image', form);
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body.url;
  };
  const fieldOf = ({ body }: ApiAnswer): string => body.error.errors[0].field;

  it('are all null at first, change field by field, and are audited', async () => {
    const none = {
      from: null,
      senderName: null,
      logoUrl: null,
      color: null,
      css: null,
      imprint: null,
      privacyUrl: null,
    };
    expect((await project.owner.get(path())).body).to.deep.equal(none);
    const logoUrl = await upload(project);
    const from = `hello@${project.senderDomain}`;
    const settings = {
      from,
      senderName: 'Acme',
      logoUrl,
      color: '#b00020',
      css: 'main { border-radius: 0; }',
      imprint: 'Acme Ltd.\n1 Main Street',
      privacyUrl: 'https://example.com/privacy',
    };
    const saved = await change(settings);
    expect(saved).to.have.status(200);
    expect(saved.body).to.deep.equal(settings);
    expect((await change({ senderName: null })).body).to.deep.equal({ ...settings, senderName: null });
    expect((await project.owner.get(path())).body).to.deep.equal({ ...settings, senderName: null });
    expect(await findSender(api.db, project.id)).to.deep.equal({ email: from, name: null });
    const [first, second] = await readAudit(project, 'project.updated');
    expect(first.changes).to.include.keys('pages.from', 'pages.color');
    expect(second.changes).to.deep.equal({ 'pages.senderName': { from: 'Acme', to: null } });
    expect(await change({ from: null })).to.have.status(200);
    expect(await findSender(api.db, project.id)).to.equal(undefined);
  });

  it('reject bad input with 422 and an unverified sender with 403, writing nothing', async () => {
    const other = await api.project();
    const cases: [object, string][] = [
      [{ css: 'p{}</STYLE><script>' }, 'css'],
      [{ css: '@import url(x);' }, 'css'],
      [{ css: '@\\69mport url(x);' }, 'css'],
      [{ css: 'x'.repeat(20_001) }, 'css'],
      [{ color: 'red' }, 'color'],
      [{ logoUrl: 'https://example.com/logo.png' }, 'logoUrl'],
      [{ logoUrl: await upload(other) }, 'logoUrl'],
      [{ privacyUrl: 'javascript:alert(1)' }, 'privacyUrl'],
      [{ from: 'nobody' }, 'from'],
      [{ senderName: 'a\nb' }, 'senderName'],
      [{ imprint: 'x'.repeat(2_001) }, 'imprint'],
    ];
    for (const [body, field] of cases) {
      const answer = await change({ senderName: 'Changed', ...body });
      expect(answer, JSON.stringify(body)).to.have.status(422);
      expect(fieldOf(answer)).to.equal(field);
    }
    expect(await change({ from: 'a@elsewhere.example' })).to.have.status(403);
    expect((await project.owner.get(path())).body.senderName).to.equal(null);
    expect(await change({ css: 'x'.repeat(20_000) })).to.have.status(200);
  });

  it('are read by every member and changed by an ADMIN', async () => {
    const viewer = await person(api, { project: project.id, role: 'VIEWER' });
    const member = await person(api, { project: project.id, role: 'MEMBER' });
    const admin = await person(api, { project: project.id, role: 'ADMIN' });
    expect(await viewer.get(path())).to.have.status(200);
    expect(await member.patch(path(), { color: '#000000' })).to.have.status(403);
    expect(await admin.patch(path(), { color: '#000000' })).to.have.status(200);
    const stranger = await api.project();
    expect(await stranger.owner.get(path())).to.have.status(404);
    expect(await project.server.get(path())).to.have.status(401);
  });

  it('keep a sender that confirmations of a topic need, and its domain', async () => {
    const from = `hello@${project.senderDomain}`;
    await change({ from });
    const created = await project.server.post('/topics', { name: 'News', doubleOptIn: true });
    expect(created).to.have.status(201);
    const refused = await change({ from: null });
    expect(refused).to.have.status(409);
    expect(refused.body.error.message).to.contain('News');
    const { body: domains } = await project.owner.get(`/domains/project/${project.id}`);
    const deleted = await project.server.delete(`/domains/${(domains.data ?? domains)[0].id}`);
    expect(deleted).to.have.status(409);
    expect(deleted.body.error.suggestion).to.contain('/pages');
    await project.server.patch(`/topics/${created.body.id}`, { confirmation: { from } });
    expect(await change({ from: null })).to.have.status(200);
    await change({ from });
    const form = await project.server.post('/forms', { name: 'Footer form' });
    expect(form, JSON.stringify(form.body)).to.have.status(201);
    expect((await change({ from: null })).body.error.message).to.contain('Footer form');
    await project.server.patch(`/forms/${form.body.id}`, { status: 'PAUSED' });
    expect(await change({ from: null })).to.have.status(200);
  });

  it('give the pages their look, with a policy that loads own images only', async () => {
    const { body: contact } = await project.server.post('/contacts', { email: 'ann@example.com' });
    const links = new MailLinks({ baseUrl: '', secretKeys: [KEY] });
    const page = links.contactLinks({ contactId: contact.id, emailId: newId() }).manageUrl;
    const logoUrl = await upload(project);
    await change({
      senderName: 'Acme & Co',
      logoUrl,
      color: '#ffee00',
      css: 'h1 > b { color: "x"; }',
      imprint: 'Acme <Ltd>\nDublin',
      privacyUrl: 'https://example.com/privacy?a&b',
    });
    const { body, headers } = await api.get(page);
    expect(body)
      .to.contain(`src="${logoUrl}"`)
      .and.contain('Acme &amp; Co')
      .and.contain('h1 > b { color: "x"; }')
      .and.contain('Acme &lt;Ltd&gt;\nDublin')
      .and.contain('href="https://example.com/privacy?a&amp;b"')
      .and.contain('--brand: #ffee00; --on-brand: #000000');
    // Too light for a link on white.
    expect(body).not.to.contain('--link: #ffee00; }\n  @media');
    expect(headers.get('content-security-policy')).to.match(
      /^default-src 'none'; style-src 'nonce-[\w+/=]+'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; img-src http:\/\/app\.test\/uploads\/$/,
    );
  });
});
