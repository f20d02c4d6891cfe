// Campaigns and emails of workflow steps, written in the visual editor.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { person } from '../support/accounts.ts';
import type { ApiProject } from '../support/api.ts';
import { describeApp } from '../support/app.ts';
import { axeFindings } from '../support/browser.ts';
import { eventually } from '../support/waiting.ts';
import { build, makeTemplate } from '../support/workflow-building.ts';

const paragraph = (text: string) => ({ type: 'paragraph', content: [{ type: 'text', text }] });
const documentOf = (...content: object[]) => ({ version: 1, content });

describeApp('the composer with the visual editor', {}, (app) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await app.project();
  });

  const open = (path: string, width = 1280): Promise<Page> =>
    app.open(`/app/p/${project.id}${path}`, { cookie: project.cookie, width, expected: /status of 409/ });
  const campaignOf = (content: object, more: object = {}) => ({
    name: 'Spring',
    subject: 'News',
    from: `news@${project.senderDomain}`,
    audienceType: 'ALL',
    ...content,
    ...more,
  });
  const createCampaign = async (content: object, more: object = {}): Promise<string> => {
    const answer = await project.server.post('/campaigns', campaignOf(content, more));
    expect(answer, JSON.stringify(answer.body)).to.have.status(200);
    return answer.body.data.id;
  };
  const stored = async (id: string) => (await project.server.get(`/campaigns/${id}`)).body;
  const writing = (page: Page) => page.getByRole('textbox', { name: 'Content of the email' });
  const isSaved = (page: Page) => page.locator('[data-save=saved]').waitFor();

  it('begins with a design, saves by itself, and says what recipients lack', async () => {
    await project.server.post('/contacts', {
      email: 'ann@reader.example',
      data: { firstName: 'Ann' },
      subscribed: true,
    });
    await project.server.post('/contacts', { email: 'bob@reader.example', subscribed: true });
    const page = await open('/campaigns/new');
    const next = () => page.getByRole('button', { name: 'Next' }).click();
    await page.getByLabel('Campaign name').fill('Welcome');
    await next();
    await next();
    await page.getByRole('button', { name: 'Welcome', exact: true }).click();
    await page.waitForURL('**/edit?step=2');
    const id = /campaigns\/([^/]+)\/edit/.exec(page.url())?.[1] ?? '';
    await writing(page).getByText('Any questions?').click();
    await page.keyboard.press('End');
    await page.keyboard.type(' We read every answer.');
    await eventually(async () => (await stored(id)).body.includes('We read every answer.'));
    await isSaved(page);
    expect(await stored(id)).to.include({ editor: 'VISUAL', subject: 'Welcome aboard' });
    expect(await axeFindings(page)).to.deep.equal([]);

    await next();
    await next();
    await page.getByText('firstName is empty for 1 of 2 recipients: they see the fallback.').waitFor();
    await page.frameLocator('iframe').getByText('We read every answer.').waitFor();
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send now' }).waitFor();
  });

  it('asks to confirm errors, and leads to what they are about', async () => {
    await project.server.post('/contacts', { email: 'ann@reader.example', subscribed: true });
    const button = { type: 'button', attrs: { href: '' }, content: [{ type: 'text', text: 'Buy' }] };
    const id = await createCampaign({ document: documentOf(paragraph('Hello'), button) }, { type: 'HEADLESS' });
    const page = await open(`/campaigns/${id}/edit?step=4`);
    await page.getByRole('button', { name: 'Send now' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 errors to correct first').waitFor();
    await dialog.getByRole('button', { name: 'Send anyway' }).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect((await stored(id)).status).to.equal('DRAFT');
    await page.getByRole('listitem').filter({ hasText: 'link' }).getByRole('button', { name: 'Show' }).first().click();
    await page
      .getByRole('complementary', { name: 'Block settings' })
      .getByRole('heading', { name: 'Button' })
      .waitFor();
  });

  it('shows a VIEWER the campaign in place of the composer', async () => {
    const id = await createCampaign({ document: documentOf(paragraph('Hello')) });
    const { cookie } = await person(app, { project: project.id, role: 'VIEWER' });
    const page = await app.open(`/app/p/${project.id}/campaigns/${id}/edit`, { cookie });
    await page.waitForURL(`**/campaigns/${id}`);
    await page.getByRole('heading', { level: 1, name: 'Spring' }).waitFor();
    expect(await page.getByRole('link', { name: 'Continue editing' }).count()).to.equal(0);
  });

  it('shows both versions when the campaign was changed elsewhere', async () => {
    const id = await createCampaign({ document: documentOf(paragraph('Mine')) });
    const page = await open(`/campaigns/${id}/edit?step=2`);
    await writing(page).getByText('Mine').waitFor();
    const other = campaignOf({ document: documentOf(paragraph('Theirs')) });
    expect(await project.server.put(`/campaigns/${id}`, other)).to.have.status(200);
    await writing(page).getByText('Mine').click();
    await page.keyboard.press('End');
    await page.keyboard.type(' and better');
    const dialog = page.getByRole('dialog', { name: 'Two versions of this email' });
    await dialog.frameLocator('iframe').nth(1).getByText('Theirs').waitFor();
    await dialog.getByRole('button', { name: 'Keep my version' }).click();
    await eventually(async () => (await stored(id)).body.includes('Mine and better'));
    await isSaved(page);
  });

  it('inserts a saved block, makes one of a block, and takes it apart again', async () => {
    const block = { name: 'Greeting', kind: 'HEADER', document: documentOf(paragraph('Good day')) };
    expect(await project.server.post('/saved-blocks', block)).to.have.status(201);
    const id = await createCampaign({ document: documentOf(paragraph('First'), paragraph('Second')) });
    const page = await open(`/campaigns/${id}/edit?step=2`);
    await writing(page).getByText('First').click();
    await page.getByRole('button', { name: 'Add block', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Saved block' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Greeting/ })
      .click();
    await eventually(async () => (await stored(id)).body.includes('Good day'));
    await page.locator('.block-saved[data-name=Greeting]').waitFor();

    await writing(page).getByText('Second').click();
    await page.getByRole('button', { name: 'Save as a saved block' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Two');
    await page.getByRole('dialog').getByRole('button', { name: 'Save as a saved block' }).click();
    await page.locator('.block-saved[data-name=Two]').waitFor();
    await eventually(async () => JSON.stringify((await stored(id)).document).match(/"saved"/g)?.length === 2);
    const saved = (await project.server.get('/saved-blocks')).body;
    expect(saved.map(({ name, usedBy }: { name: string; usedBy: object }) => [name, usedBy])).to.deep.equal([
      ['Greeting', { templates: 0, campaigns: 1 }],
      ['Two', { templates: 0, campaigns: 1 }],
    ]);

    await page.locator('.block-saved[data-name=Two]').click();
    await page.getByRole('button', { name: 'Replace by its content' }).click();
    await writing(page).getByText('Second').waitFor();
    await eventually(async () => JSON.stringify((await stored(id)).document).match(/"saved"/g)?.length === 1);
  });

  it('makes and edits the email of a workflow step, with the way back', async () => {
    const { id, steps } = await build(project, {
      steps: { mail: { type: 'SEND_EMAIL', config: { templateId: await makeTemplate(project) } } },
    });
    const page = await open(`/workflows/${id}?step=${steps.mail}`);
    const panel = page.locator('.canvas-panel');
    await panel.getByRole('button', { name: 'New email' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Plain letter', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Hello there');
    await page.getByRole('dialog').getByRole('button', { name: 'Create template' }).click();
    await page.getByRole('heading', { level: 1, name: 'Hello there' }).waitFor();
    const [{ id: templateId }] = (await project.server.get('/templates?search=Hello%20there')).body.data;
    await page.getByRole('link', { name: 'Back to the workflow' }).click();
    await panel.getByRole('link', { name: 'Edit email' }).waitFor();
    await eventually(async () => {
      const { graph } = (await project.server.get(`/workflows/${id}/draft`)).body;
      return graph.steps[0].config.templateId === templateId;
    });
    await panel.getByRole('link', { name: 'Edit email' }).click();
    await page.getByRole('heading', { level: 1, name: 'Hello there' }).waitFor();
  });
});
