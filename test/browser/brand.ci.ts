import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { ApiProject } from '../support/api.ts';
import { describeStackApp } from '../support/app.ts';
import { axeFindings, noticed } from '../support/browser.ts';
import { eventually } from '../support/waiting.ts';

const paragraph = (text: string) => ({ type: 'paragraph', content: [{ type: 'text', text }] });
const documentOf = (...content: object[]) => ({ version: 1, content });

describeStackApp('brand and saved blocks', {}, (app) => {
  let project: ApiProject;

  before(() => app.startWorker());
  beforeEach(async () => {
    project = await app.project();
  });

  const open = (path: string, width = 1280): Promise<Page> =>
    app.open(`/app/p/${project.id}${path}`, { cookie: project.cookie, width });
  const createTemplate = async (name: string, ...content: object[]): Promise<{ id: string; body: string }> => {
    const template = { name, subject: 's', type: 'MARKETING', document: documentOf(...content) };
    const answer = await project.server.post('/templates', template);
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body;
  };
  const createBlock = async (name: string, kind: string, ...content: object[]): Promise<string> =>
    (await project.server.post('/saved-blocks', { name, kind, document: documentOf(...content) })).body.id;
  const writing = (page: Page) => page.getByRole('textbox', { name: 'Content of the email' });

  it('shows a brand before it is saved, and updates existing emails', async () => {
    const template = await createTemplate('Offer', paragraph('Hello'));
    const page = await open('/brand');
    const preview = page.frameLocator('iframe');
    await preview.getByRole('heading', { name: 'This is your brand' }).waitFor();
    const light = page.getByRole('group', { name: 'Light' });
    await light.getByRole('textbox', { name: 'Links', exact: true }).fill('#eeeeee');
    await light.getByText('hard to read').waitFor();
    await light.getByRole('textbox', { name: 'Links', exact: true }).fill('#b91c1c');
    await light.getByText('hard to read').waitFor({ state: 'detached' });
    await light.getByRole('textbox', { name: 'Text', exact: true }).fill('#123456');
    const button = light.getByRole('textbox', { name: 'Buttons', exact: true });
    const before = await button.inputValue();
    await light.getByRole('button', { name: /^Buttons: / }).click();
    await page.getByRole('slider', { name: 'Hue' }).press('ArrowRight');
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.keyboard.press('Escape');
    expect(await button.inputValue())
      .to.match(/^#[0-9a-f]{6}$/)
      .and.not.equal(before);
    await page.getByLabel('Postal address').fill('1 Main Street');
    await preview.getByText('1 Main Street').waitFor();
    await page.getByRole('button', { name: 'Add link' }).click();
    await page.getByLabel('Network 1').selectOption('GitHub');
    await page.getByLabel('Link to GitHub', { exact: true }).fill('github.com/example');
    expect(await axeFindings(page)).to.deep.equal([]);
    expect((await project.owner.get('/brand-kit')).body.updatedAt, 'nothing is saved yet').to.equal(null);

    // A field with a fault keeps the brand from being saved without it.
    await light.getByRole('textbox', { name: 'Paper', exact: true }).fill('white');
    await page.getByRole('button', { name: 'Save' }).click();
    expect(await page.evaluate('document.activeElement.value')).to.equal('white');
    await light.getByRole('textbox', { name: 'Paper', exact: true }).fill('#fffffe');
    await noticed(page, 'The brand is saved. New emails use it.', () =>
      page.getByRole('button', { name: 'Save' }).click(),
    );
    const { body: kit } = await project.owner.get('/brand-kit');
    expect(kit).to.deep.include({
      address: '1 Main Street',
      socialLinks: [{ network: 'github', href: 'https://github.com/example' }],
    });
    expect(kit.colors).to.include({ link: '#b91c1c', text: '#123456', surface: '#fffffe' });

    expect((await project.server.get(`/templates/${template.id}`)).body.body).to.equal(template.body);
    await page.getByRole('button', { name: 'Update emails' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Update emails' }).click();
    await page.getByText('1 email updated, 0 as before.').waitFor();
    expect((await project.server.get(`/templates/${template.id}`)).body.body).to.include('#123456');
  });

  it('names the emails that cannot be updated, and leads to them', async () => {
    const block = await createBlock('Box', 'SECTION', paragraph('Box'));
    const saved = { type: 'saved', attrs: { blockId: block } };
    const { id } = await createTemplate('Nested', { type: 'section', content: [saved] });
    const footer = documentOf({ type: 'footer', content: [paragraph('Bye')] });
    await project.server.patch(`/saved-blocks/${block}`, { kind: 'FOOTER', document: footer });
    const page = await open(`/saved-blocks/${block}`);
    await page.getByRole('button', { name: 'Update emails' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Update emails' }).click();
    await page.getByText('1 email could not be updated').waitFor();
    const failed = page.getByRole('alert').getByRole('link', { name: 'Nested' });
    expect(await failed.getAttribute('href')).to.equal(`/app/p/${project.id}/templates/${id}`);
    await page.getByRole('link', { name: 'Details' }).click();
    await page.getByRole('heading', { level: 1, name: 'Update emails with the brand' }).waitFor();
    await page.getByRole('link', { name: 'Nested' }).waitFor();
  });

  it('makes, changes and deletes a saved block, but none that is used', async () => {
    const page = await open('/saved-blocks');
    await page.getByRole('link', { name: 'New saved block' }).first().click();
    await page.getByLabel('Name').fill('Greeting');
    await writing(page).click();
    await page.keyboard.type('Hello from all of us');
    await noticed(page, 'The block is saved. Insert it into emails with “Add block”.', () =>
      page.getByRole('button', { name: 'Save', exact: true }).click(),
    );
    await page.getByRole('heading', { level: 1, name: 'Greeting' }).waitFor();
    const [{ id }] = (await project.server.get('/saved-blocks')).body;
    const stored = (await project.server.get(`/saved-blocks/${id}`)).body;
    expect(JSON.stringify(stored.document)).to.include('Hello from all of us');

    await page.getByLabel('Name').fill('Salute');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Salute' }).waitFor();
    const template = await createTemplate('Offer', { type: 'saved', attrs: { blockId: id } });
    await page.reload();
    await page.getByRole('link', { name: 'Offer' }).waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Remove it from these emails first').waitFor();
    await dialog.getByRole('link', { name: 'Offer' }).waitFor();
    await page.keyboard.press('Escape');

    await project.server.delete(`/templates/${template.id}`);
    await page.reload();
    await page.getByText('Nowhere yet.').waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No saved blocks yet').waitFor();
    expect((await project.server.get('/saved-blocks')).body).to.deep.equal([]);
  });

  it('makes a saved footer that is nothing but a footer', async () => {
    const page = await open('/saved-blocks/new', 375);
    await page.getByLabel('Name').fill('Imprint');
    await page.getByLabel('Kind').selectOption('Footer');
    await writing(page).getByText('address').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Imprint' }).waitFor();
    const [{ kind }] = (await project.server.get('/saved-blocks')).body;
    expect(kind).to.equal('FOOTER');
    expect(await axeFindings(page)).to.deep.equal([]);
    await eventually(async () => (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) === 0);
  });
});
