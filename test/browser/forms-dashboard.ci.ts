// Forms from the dashboard to a confirmed visitor, the settings of hosted pages, and imports with consent.
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiProject } from '../support/api.ts';
import { describeStackApp } from '../support/app.ts';
import { noticed } from '../support/browser.ts';
import { type DnsStandIn, startDns } from '../support/dns.ts';

const SLOW = { timeout: 60_000 };
const VISITOR = 'ann@visitors.example';

let dns: DnsStandIn | undefined;
const settings = async () => {
  dns = await startDns();
  dns.set('visitors.example', 'MX', [{ preference: 10, exchange: 'mail.visitors.example' }]);
  dns.set('mail.visitors.example', 'A', ['192.0.2.1']);
  return { DNS_SERVERS: dns.address };
};

describeStackApp('forms in the dashboard', settings, (app) => {
  let project: ApiProject;
  let newsId: string;

  before(() => app.startWorker());
  after(() => dns?.stop());
  beforeEach(async () => {
    project = await app.project();
    newsId = (await project.server.post('/topics', { name: 'News' })).body.id;
    await project.server.post('/topics', { name: 'Offers' });
  });

  const open = (path: string): Promise<Page> => app.open(`/app/p/${project.id}${path}`, { cookie: project.cookie });
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true, level: 1 });
  const button = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true });

  async function makeForm(page: Page): Promise<void> {
    await heading(page, 'Forms').waitFor();
    await page.getByRole('link', { name: 'New form' }).first().click();
    await heading(page, 'New form').waitFor();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Newsletter');
    for (const topic of ['News', 'Offers']) await page.getByRole('checkbox', { name: topic, exact: true }).check();
    await page.getByLabel('Consent text').fill('Yes, send me email.');
    await page.getByRole('switch', { name: 'Visitors check a box to agree' }).check();
    await button(page, 'Add field').click();
    await page.getByLabel('Label').fill('First name');
    await page.getByLabel('Field of the contact').fill('firstName');
    await page.getByLabel('Sender address').fill(`news@${project.senderDomain}`);
  }

  /** Fills in the form, and presses one more button where the page was filled in faster than people do. */
  async function submit(page: Page): Promise<void> {
    await heading(page, 'Newsletter').waitFor();
    await page.getByLabel('Email address').fill(VISITOR);
    await page.getByLabel('First name').fill('Ann');
    await page.getByLabel('Yes, send me email.').check();
    await page.getByLabel('Offers').uncheck();
    await button(page, 'Subscribe').click();
    const thanks = page.getByText('If the address is right');
    const more = button(page, 'Send');
    await thanks.or(more).waitFor(SLOW);
    if (await more.isVisible()) await more.click();
    await thanks.waitFor(SLOW);
  }

  async function confirmationLink(): Promise<string> {
    const [mail] = await app.smtp.received(1, { to: VISITOR });
    const text = (mail?.raw.toString('utf8') ?? '').replaceAll('=\r\n', '');
    return /\/confirm\/[\w-]+/.exec(text)?.[0] ?? 'none';
  }

  it('are made by clicks, shown to a visitor without a session, submitted and confirmed', async () => {
    const page = await open('/forms');
    await makeForm(page);
    const preview = page.frameLocator('iframe[title="Preview of the form"]');
    await preview.getByText('First name').waitFor();
    await preview.getByRole('heading', { name: 'Newsletter' }).waitFor();
    await button(page, 'Create form').click();
    await heading(page, 'Newsletter').waitFor();
    await noticed(page, 'The form Newsletter is published.', () => button(page, 'Publish').click());
    const [form] = (await project.server.get('/forms')).body;
    expect(form).to.deep.include({ status: 'ACTIVE', consentRequired: true, consentText: 'Yes, send me email.' });
    expect(form.topicIds).to.have.length(2);
    await page.getByRole('tab', { name: 'Embed' }).click();
    await page.locator('[data-embed=url]').getByText(`/f/${form.id}`).waitFor();

    await submit(await app.open(`/f/${form.id}`));
    await page.getByRole('tab', { name: 'Submissions' }).click();
    await page.getByRole('cell', { name: 'Waiting for confirmation' }).waitFor(SLOW);
    expect((await project.server.get('/contacts')).body.total).to.equal(0);

    const visitor = await app.open(await confirmationLink());
    await heading(visitor, 'Confirm your subscription').waitFor();
    // A person moves.
    await visitor.mouse.move(20, 20);
    await visitor.mouse.move(60, 60);
    await heading(visitor, 'Subscription confirmed').waitFor();
    await page.getByRole('link', { name: VISITOR }).waitFor(SLOW);
    await page.getByRole('tab', { name: 'Statistics' }).click();
    await page.getByText('100%').waitFor(SLOW);
    const [contact] = (await project.server.get(`/contacts?search=${VISITOR}`)).body.data;
    expect(contact.data).to.include({ firstName: 'Ann' });
    const { data: topics } = (await project.server.get(`/contacts/${contact.id}/topics`)).body;
    expect(topics.filter(({ state }: { state: string }) => state === 'SUBSCRIBED')).to.have.length(1);
  });

  it('are paused, duplicated and deleted', async () => {
    const from = `news@${project.senderDomain}`;
    const form = (await project.server.post('/forms', { name: 'Newsletter', from, topicIds: [newsId] })).body;
    const page = await open(`/forms/${form.id}`);
    await heading(page, 'Newsletter').waitFor();
    const choose = async (name: string) => {
      await button(page, 'More actions').click();
      await page.getByRole('menuitem', { name }).click();
    };
    await choose('Pause');
    await noticed(page, 'The form Newsletter is paused.', () => button(page.getByRole('dialog'), 'Pause').click());
    expect((await project.server.get(`/forms/${form.id}`)).body.status).to.equal('PAUSED');
    await choose('Duplicate');
    await heading(page, 'Newsletter (Copy)').waitFor();
    await choose('Delete');
    await button(page.getByRole('dialog'), 'Delete').click();
    await heading(page, 'Forms').waitFor();
    await page.getByRole('link', { name: 'Newsletter', exact: true }).waitFor();
    expect((await project.server.get('/forms')).body).to.have.length(1);
  });

  it('take sender and look from the settings of the hosted pages', async () => {
    const page = await open('/project?tab=pages');
    await page.getByRole('heading', { name: 'Sender', exact: true }).waitFor();
    await page.getByText('exists once there is a sender').waitFor();
    await page.getByLabel('Sender address').fill(`news@${project.senderDomain}`);
    await page.getByRole('textbox', { name: 'Color of buttons and links', exact: true }).fill('#0b7285');
    await page.getByLabel('Imprint').fill('Acme Ltd., Dublin');
    await noticed(page, 'The settings of the pages are saved.', () => button(page, 'Save').click());
    const { body } = await project.owner.get(`/projects/${project.id}/pages`);
    expect(body).to.deep.include({ color: '#0b7285', imprint: 'Acme Ltd., Dublin', privacyUrl: null });
    const link = page.getByRole('link', { name: 'Open preferences page' });
    const visitor = await app.open((await link.getAttribute('href')) ?? '');
    await visitor.getByText('Acme Ltd., Dublin').waitFor();
  });

  it('share topics and consent with imports', async () => {
    const page = await open('/contacts/import');
    await heading(page, 'Import contacts').waitFor();
    const file = `email,Topic:News\n${VISITOR},subscribed\n`;
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(file) });
    const target = page.getByRole('combobox', { name: 'What the column Topic:News becomes' });
    await target.waitFor();
    expect(await target.inputValue()).to.equal('Topic: News');
    await page.getByRole('switch', { name: 'Record consent for all rows' }).check();
    await page.getByRole('textbox', { name: 'Source of consent' }).fill('Trade fair');
    await button(page, 'Check without importing').click();
    await button(page, 'Import 1 row').click(SLOW);
    await page.getByText('The import is finished.').waitFor(SLOW);
    const [contact] = (await project.server.get(`/contacts?search=${VISITOR}`)).body.data;
    const records: object[] = (await project.server.get(`/contacts/${contact.id}/consents`)).body.data;
    const [record] = records.filter((each) => 'topicId' in each && each.topicId === newsId);
    expect(record).to.deep.include({ method: 'IMPORT', action: 'GRANTED', evidence: { source: 'Trade fair' } });
  });
});
