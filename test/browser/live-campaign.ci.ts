import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { describeStackApp, type StackApp } from '../support/app.ts';
import { noticed } from '../support/browser.ts';
import { addContacts } from '../support/campaigns.ts';

const RECIPIENTS = 600;
const FIELDS = ['sentCount', 'pendingCount', 'failedCount', 'skippedCount', 'cancelledCount', 'unknownCount'];

const DAY = 86_400_000;

describeStackApp('the pages of a campaign', { SMTP_MAX_CONNECTIONS: '4' }, (app) => {
  const project = (contacts: number) => projectWithContacts(app, contacts);
  const open = (cookie: string, path: string): Promise<Page> => app.open(`/app/p/${path}`, { cookie });

  it('shows a scheduled campaign without progress, saves changes of it, and cancels it as a whole', async () => {
    const { id, cookie, server, create } = await project(2);
    const campaignId = await create();
    const scheduledFor = new Date(Date.now() + DAY).toISOString();
    expect(await server.post(`/campaigns/${campaignId}/send`, { scheduledFor })).to.have.status(200);
    const page = await open(cookie, `${id}/campaigns/${campaignId}`);
    await page.getByText('2 people would get it now.').waitFor();
    expect(await page.locator('[data-outcome], [data-reaction]').count()).to.equal(0);

    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('button', { name: 'Schedule' }).click();
    await page.getByLabel('Date and time').fill('2099-05-01T10:00');
    await noticed(page, 'The changes are saved. The campaign stays scheduled.', () =>
      page.getByRole('button', { name: 'Save changes' }).click(),
    );
    await page.getByText(/^Starts .*2099/).waitFor();
    expect((await server.get(`/campaigns/${campaignId}`)).body.scheduledFor).to.match(/^2099-0/);

    await page.getByRole('button', { name: 'Cancel campaign' }).click();
    await page.getByRole('dialog').getByText('It will not be sent.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel campaign' }).click();
    await page.getByText('Cancelled before it started. No one received it.').waitFor();
    expect(await page.locator('[data-outcome]').count()).to.equal(0);
    await page.goto(`${app.url}/app/p/${id}/campaigns/${campaignId}/edit`);
    await page.waitForURL(`**/campaigns/${campaignId}`);
  });

  it('points at faults in the composer, and begins with a template or again', async () => {
    const { id, cookie, server, mail } = await project(1);
    const template = { name: 'Offer', type: 'MARKETING', ...mail, subject: 'Of the template' };
    expect(await server.post('/templates', template)).to.have.status(201);
    const page = await open(cookie, `${id}/campaigns/new`);
    const next = () => page.getByRole('button', { name: 'Next' }).click();
    await next();
    await page.getByText('A campaign needs a name.').waitFor();
    expect(await page.evaluate('document.activeElement.labels[0].textContent')).to.equal('Campaign name *');
    await page.getByLabel('Campaign name').fill('Autumn');
    await next();
    await page.getByLabel('Before the @').fill('bad part');
    await page.getByLabel('Reply-to address').fill('nonsense');
    await next();
    await page.getByText('This cannot stand before the @.').waitFor();
    await page.getByText('This is not an email address').waitFor();
    await page.getByLabel('Before the @').fill('good.part+1');
    await page.getByLabel('Reply-to address').fill('help@example.com');
    await next();
    await next();
    await page.getByText('Choose what the email begins with.').waitFor();

    await page.getByLabel('Start from a template').click();
    await page.getByRole('option', { name: 'Offer' }).click();
    await page.waitForURL('**/edit?step=2');
    expect(await page.getByLabel('Subject').inputValue()).to.equal('Of the template');
    await page.getByRole('button', { name: 'Start again' }).click();
    await page.getByRole('dialog').getByText('The design replaces the content of this email.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'HTML', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.frameLocator('iframe').getByText('Write your mail here.').waitFor();
    expect(await page.getByLabel('Subject').inputValue()).to.equal('Of the template');
    await next();
    await page.getByLabel('Emails per minute').fill('0');
    await next();
    await page.getByText('Enter a whole number from 1 to 1,000,000').waitFor();
  });

  it('saves a stored draft by itself, and asks before one that is not stored is left', async () => {
    const { id, cookie, server } = await project(1);
    const page = await open(cookie, `${id}/campaigns`);
    const next = () => page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('link', { name: 'New campaign' }).first().click();
    await page.getByLabel('Campaign name').fill('Winter');
    await page.getByRole('link', { name: 'Contacts', exact: true }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stay here' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Campaign name').inputValue()).to.equal('Winter');
    await next();
    await next();
    await page.getByRole('button', { name: 'Blank', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Subject').fill('Snow');
    await page.getByRole('dialog').getByRole('button', { name: 'Next' }).click();
    await page.waitForURL('**/edit?step=2');
    await page.getByRole('textbox', { name: 'Content of the email' }).waitFor();
    await next();
    await page.getByLabel('At a time', { exact: true }).check();
    await page.getByLabel('Date and time').fill('2099-05-01T10:00');
    await next();
    await page.waitForURL('**/edit?step=4&sendAt=**');
    await page.reload();
    await page.getByText('May 1, 2099').waitFor();
    await page.getByRole('button', { name: 'Audience' }).click();
    await page.getByLabel('Campaign name').fill('Winter sale');
    await page.getByRole('link', { name: 'Contacts', exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Contacts' }).waitFor();
    await page.getByRole('link', { name: 'Campaigns', exact: true }).click();
    await page.getByRole('link', { name: 'Winter sale', exact: true }).waitFor();
    const { body } = await server.get('/campaigns');
    expect(body.total).to.equal(1);
    expect(body.data[0]).to.include({ name: 'Winter sale', subject: 'Snow', editor: 'VISUAL' });
  });

  it('pauses, resumes, and shows sums that close while a worker is killed', async () => {
    const { smtp } = app;
    const { id, cookie, server, create } = await project(RECIPIENTS);
    const last = `p${RECIPIENTS - 1}@example.com`;
    const misbehave = () => {
      smtp.misbehave({ at: 'recipient', to: 'p7@example.com', do: { code: 550, text: 'no such user' } });
      smtp.misbehave({ at: 'message', do: { delayMs: 15 } });
      // The campaign cannot end before it was paused, however slow the page is.
      smtp.misbehave({ at: 'recipient', to: last, do: 'hang' });
    };
    misbehave();
    const campaignId = await create();
    const worker = await app.startWorker();
    expect(await server.post(`/campaigns/${campaignId}/send`, {})).to.have.status(200);

    const page = await open(cookie, `${id}/campaigns/${campaignId}`);
    await smtp.received(60);
    // The others are not sent before the worker is killed.
    smtp.misbehave({ at: 'sender', do: 'hang' });
    await worker.kill();
    smtp.behave();
    misbehave();
    await expectClosedSums(page);
    await app.startWorker();
    await smtp.received(150);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    await expectClosedSums(page);
    smtp.behave(last);
    await page.getByRole('button', { name: 'Resume' }).click();

    await page.getByText('Sent', { exact: true }).first().waitFor({ timeout: 120_000 });
    await page.locator('[data-outcome=pendingCount]').getByText('0', { exact: true }).waitFor();
    await expectClosedSums(page);
    await page.locator('[data-outcome=failedCount]').getByText('1', { exact: true }).waitFor();
    await page.getByLabel('Status').selectOption('Failed');
    await page.getByRole('link', { name: 'p7@example.com' }).waitFor();
    await page
      .getByRole('table')
      .getByText(/550.*no such user/)
      .waitFor();
  });
});

async function projectWithContacts(app: StackApp, contacts: number) {
  const project = await app.project();
  await addContacts(app.db, project, contacts);
  const mail = { subject: 'Hi', body: '<p>Hi</p>', from: `news@${project.senderDomain}` };
  const create = async (): Promise<string> =>
    (await project.server.post('/campaigns', { name: 'Spring', audienceType: 'ALL', ...mail })).body.data.id;
  return { ...project, mail, create };
}

/** Reads all numbers at one moment: the page shows them from one answer. */
async function expectClosedSums(page: Page): Promise<void> {
  await page.locator('[data-outcome=sentCount]').waitFor();
  const shown = await page.evaluate<Record<string, string>>(
    `Object.fromEntries([...document.querySelectorAll('[data-outcome]')].map((e) => [e.dataset.outcome, e.textContent]))`,
  );
  const sum = FIELDS.map((field) => Number(shown[field]?.replaceAll(',', ''))).reduce((a, b) => a + b, 0);
  expect(sum, JSON.stringify(shown)).to.equal(RECIPIENTS);
}
