import { expect } from 'chai';
import type { ApiProject } from '../support/api.ts';
import { describeApp } from '../support/app.ts';
import { noticed } from '../support/browser.ts';

describeApp('topics in the dashboard', {}, (app) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await app.project();
  });

  it('are created by clicks with texts in two languages, previewed, changed and shown in the list', async () => {
    const page = await app.open(`/app/p/${project.id}/topics`, { cookie: project.cookie });
    const heading = (name: string) => page.getByRole('heading', { name, exact: true, level: 1 });
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await page.getByText('No topics yet').waitFor();
    await page.getByRole('link', { name: 'New topic' }).first().click();
    await heading('New topic').waitFor();
    expect(await button('Create topic').isDisabled()).to.equal(true);
    const name = page.getByRole('textbox', { name: 'Name', exact: true });
    await name.fill('Product news');
    await page.getByLabel('Description').fill('Once a month.');
    await page.getByLabel('Consent text').fill('Yes, send me news.');
    const preview = page.locator('.topic-page');
    await preview.getByText('Yes, send me news.').waitFor();

    await button('Add language').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Language').fill('nonsense tag');
    await dialog.getByRole('button', { name: 'Add language' }).click();
    await dialog.getByText('Enter a language tag').waitFor();
    await dialog.getByLabel('Language').fill('de');
    await dialog.getByRole('button', { name: 'Add language' }).click();
    await button('Remove German (de)').waitFor();
    // What a language does not have is that of the default.
    await preview.getByText('Product news').waitFor();
    await name.fill('Neuigkeiten');
    await preview.getByText('Neuigkeiten').waitFor();
    await page.getByRole('combobox', { name: 'Language' }).selectOption('Default');
    await preview.getByText('Product news').waitFor();
    await page.getByRole('radio', { name: 'Subscribed', exact: true }).check();

    await noticed(page, 'The topic is created.', () => button('Create topic').click());
    await heading('Product news').waitFor();
    const [topic] = (await project.server.get('/topics')).body;
    expect(topic).to.deep.include({
      key: 'product-news',
      name: 'Product news',
      consentText: 'Yes, send me news.',
      defaultState: 'SUBSCRIBED',
    });
    expect(topic.translations.de).to.include({ name: 'Neuigkeiten' });
    expect(await button('Save').isDisabled()).to.equal(true);
    await page.getByLabel('Description').fill('Once a week.');
    await noticed(page, 'The topic is saved.', () => button('Save').click());
    expect((await project.server.get(`/topics/${topic.id}`)).body.description).to.equal('Once a week.');
    await page.getByRole('main').getByRole('link', { name: 'Topics' }).click();
    await page.getByRole('link', { name: 'Product news' }).waitFor();
    await page.getByText('Once a week.').waitFor();
  });
});
