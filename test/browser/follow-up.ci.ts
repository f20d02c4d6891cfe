import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { describeStackApp } from '../support/app.ts';
import { noticed } from '../support/browser.ts';
import { addContacts } from '../support/campaigns.ts';
import { eventually } from '../support/waiting.ts';

const SLOW = { timeout: 60_000 };
const READER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36' };
const CSV =
  'E-mail,First Name,Plan\nann@story.example,Ann,pro\nbob@story.example,Bob,pro\ncem@story.example,Cem,free\n';

describeStackApp('a follow-up', {}, (app) => {
  before(() => app.startWorker());

  const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first();
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const figure = (page: Page, name: string) => page.locator(`[data-outcome=${name}], [data-reaction=${name}]`);

  /** Loads the pictures of the email as its recipient, until the page shows that a person has opened it. */
  async function openMail(page: Page, to: string): Promise<void> {
    const [mail] = await app.smtp.received(1, { to });
    const { html = '' } = (await mail?.parsed()) ?? {};
    const pixel = /http[^"]+(\/t\/o\/[^"]+)/.exec(html)?.[1] ?? '';
    // What is opened within two seconds counts as opened by a machine.
    await eventually(
      async () => {
        expect(await fetch(app.url + pixel, { headers: READER })).to.include({ status: 200 });
        await page.reload();
        await page.getByRole('heading', { level: 1 }).waitFor();
        return (await figure(page, 'peopleOpenedCount').innerText()) === '1';
      },
      { what: 'an open by a person' },
    );
  }

  async function sendCampaign(page: Page, name: string, people: number, template?: string): Promise<void> {
    const next = () => button(page, 'Next').click();
    await page.getByLabel('Campaign name').fill(name);
    await page.getByTestId('match-count').getByText(String(people), { exact: true }).waitFor();
    await next();
    await page.getByLabel('From name').fill('The shop');
    await next();
    if (template) {
      await page.getByLabel('Start from a template').click();
      await page.getByRole('option', { name: template }).click();
    } else {
      await button(page, 'HTML').click();
      await page.getByRole('dialog').getByLabel('Subject').fill(`About ${name}`);
      await page.getByRole('dialog').getByRole('button', { name: 'Next' }).click();
    }
    await page.waitForURL('**/edit?step=2');
    await next();
    await next();
    await button(page, 'Send now').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send now' }).click();
    await figure(page, 'sentCount').getByText(String(people), { exact: true }).waitFor(SLOW);
  }

  it('leads from an import over a segment, a template and a campaign to a second campaign, by clicks alone', async () => {
    const { id, cookie } = await app.project();
    const page = await app.open(`/app/p/${id}/contacts/import`, { cookie });

    const file = { name: 'guests.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByLabel('Add everyone to a segment').click();
    await page.getByRole('option', { name: 'Create a new segment for this import' }).click();
    await page.locator('input[value="Import guests"]').waitFor();
    await button(page, 'Check without importing').click();
    await page.getByText('This would happen').waitFor(SLOW);
    await button(page, 'Import 3 rows').click();
    await page.getByText('The import is finished.').waitFor(SLOW);
    await link(page, 'Show the imported contacts').click();
    await page.getByText('3 of 3 shown').waitFor();

    await link(page, 'Segments').click();
    await link(page, 'Import guests').waitFor();
    await link(page, 'New segment').click();
    // The list of segments also has a field for a name.
    await page.getByRole('heading', { level: 1, name: 'New segment' }).waitFor();
    await page.getByLabel('Name').fill('Pro guests');
    const group = page.getByRole('group', { name: 'Group 1' });
    await group.getByLabel('Field').click();
    await page.getByRole('option', { name: 'Plan', exact: true }).click();
    await group.getByLabel('Value').fill('pro');
    await page.getByTestId('match-count').getByText('2', { exact: true }).waitFor();
    await button(page, 'Create segment').click();
    await page.getByRole('heading', { level: 1, name: 'Pro guests' }).waitFor();
    await page.getByText('Members: 2').waitFor();

    await link(page, 'Templates').click();
    await link(page, 'New template').click();
    await page.getByRole('heading', { level: 1, name: 'New template' }).waitFor();
    await button(page, 'HTML').click();
    await page.getByRole('dialog').getByLabel('Name').fill('Spring');
    await page.getByRole('dialog').getByLabel('Subject').fill('Spring is here');
    await page.getByRole('dialog').getByRole('button', { name: 'Create template' }).click();
    await page.getByRole('heading', { level: 1, name: 'Spring' }).waitFor();
    await page.getByText('Marketing', { exact: true }).first().waitFor();

    await link(page, 'Segments').click();
    await link(page, 'Pro guests').click();
    await link(page, 'Send a campaign').click();
    await sendCampaign(page, 'Spring', 2, 'Spring');
    await figure(page, 'deliveredCount').getByText('—').waitFor();

    await openMail(page, 'ann@story.example');
    await figure(page, 'peopleOpenedCount').getByRole('link').click();
    await page.waitForURL('**outcome=OPENED**');
    await page.getByText('1 of 1 shown').waitFor();
    await link(page, 'ann@story.example').waitFor();
    await button(page, 'Make a segment').click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Segment name').inputValue()).to.equal('Spring: Opened');
    await dialog.getByRole('button', { name: 'Create segment' }).click();
    await page.getByRole('heading', { level: 1, name: 'Spring: Opened' }).waitFor();

    await link(page, 'Send a campaign').click();
    await sendCampaign(page, 'Follow-up', 1);
    expect(app.smtp.mailsTo('ann@story.example')).to.have.length(2);
    expect(app.smtp.mailsTo('bob@story.example')).to.have.length(1);
    expect(app.smtp.mailsTo('cem@story.example')).to.have.length(0);
  });

  it('searches and filters recipients, sends again to those that failed, and shows who paused', async () => {
    const own = await app.project();
    await addContacts(app.db, own, 5);
    app.smtp.misbehave({ at: 'recipient', to: 'p1@example.com', do: { code: 554, text: 'closed today' } });
    const { body } = await own.server.post('/campaigns', {
      name: 'News',
      subject: 'News',
      body: '<p>News</p>',
      from: `news@${own.senderDomain}`,
      audienceType: 'ALL',
    });
    const path = `/campaigns/${body.data.id}`;
    const page = await app.open(`/app/p/${own.id}${path}`, { cookie: own.cookie });
    await own.server.post(`${path}/send`, { scheduledFor: new Date(Date.now() + 86_400_000).toISOString() });
    await page.reload();
    await button(page, 'Back to draft').click();
    await noticed(page, 'The campaign is a draft again.', () =>
      page.getByRole('dialog').getByRole('button', { name: 'Back to draft' }).click(),
    );
    await own.server.post(`${path}/send`);
    await page.reload();
    await figure(page, 'sentCount').getByText('4', { exact: true }).waitFor(SLOW);

    await figure(page, 'failedCount').getByRole('link').click();
    await page.getByText('1 of 1 shown').waitFor();
    await page.getByRole('table').getByText('closed today').waitFor();
    await page.getByLabel('Search by email address').fill('p2@');
    await page.getByText('No recipient matches').waitFor();
    await button(page, 'Clear filters').click();
    await page.getByText('5 of 5 shown').waitFor();

    app.smtp.behave();
    await button(page, 'Send again to failed').click();
    await noticed(page, 'Sending again.', () =>
      page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click(),
    );
    await figure(page, 'sentCount').getByText('5', { exact: true }).waitFor(SLOW);

    app.smtp.holdAfter(0);
    const second = (await own.server.post(`${path}/duplicate`)).body.id;
    await own.server.post(`/campaigns/${second}/send`);
    await page.goto(`${app.url}/app/p/${own.id}/campaigns/${second}`);
    await button(page, 'Pause').click();
    const { email } = (await own.owner.get('/users/@me')).body;
    await page.getByText(`Paused by ${email}.`).waitFor();
    app.smtp.behave();
  });
});
