import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { ApiProject } from '../support/api.ts';
import { describeApp } from '../support/app.ts';
import type { VisitOptions } from '../support/browser.ts';
import { makeTemplate } from '../support/workflow-building.ts';

describeApp('everyday work without friction', {}, (app) => {
  let project: ApiProject;

  before(async () => {
    project = await app.project();
    const { server } = project;
    await makeTemplate(project, { name: 'Spring sale' });
    await server.post('/workflows', { name: 'Spring welcome', eventName: 'signed up' });
    await server.post('/contacts', { email: 'springer@guest.example', data: { firstName: 'Ina', lastName: 'Sommer' } });
  });

  const open = (path: string, as: Partial<VisitOptions> = {}): Promise<Page> =>
    app.open(`/app/p/${project.id}${path}`, { cookie: project.cookie, ...as });

  it('keeps every letter typed after Ctrl+K, and opens the first result on Enter', async () => {
    const page = await open('/members');
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
    await page.keyboard.press('Control+K');
    await page.keyboard.type('springer@');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'springer@guest.example' }).waitFor();
    await page.keyboard.press('Control+K');
    await page.keyboard.type('Segm');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Segments' }).waitFor();
  });

  it('finds contacts, templates, workflows and pages', async () => {
    const page = await open('/members');
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
    await page.keyboard.press('Control+K');
    await page.getByRole('combobox', { name: 'Search or jump to' }).fill('spring');
    const list = page.getByRole('listbox', { name: 'Search' });
    await list.getByRole('group', { name: 'Contacts' }).getByText('springer@guest.example').waitFor();
    await list.getByRole('group', { name: 'Contacts' }).getByText('Ina Sommer').waitFor();
    await list.getByRole('group', { name: 'Templates' }).getByText('Spring sale').waitFor();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Spring welcome' }).waitFor();
  });

  it('offers presets for keys, and no right that a thing does not have', async () => {
    const page = await open('/developers?add=true');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Analytics').waitFor();
    expect(await dialog.getByLabel('Analytics').locator('option').allInnerTexts()).to.deep.equal(['Nothing', 'Read']);
    await dialog.getByLabel('Name').fill('The shop');
    await dialog.getByRole('button', { name: 'Sending only' }).click();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Your new key').waitFor();
    const [key] = (await project.owner.get(`/projects/${project.id}/keys`)).body;
    expect(key.scopes).to.deep.equal(['send:write']);
  });

  it('says how a user becomes an operator', async () => {
    const page = await open('/operator');
    await page.getByText(/npx everpost user make-operator \S+@\S+/).waitFor();
  });

  it('names the setting and the command when a webhook leads to a local address', async () => {
    const page = await open('/webhooks?add=true', { expected: /status of 400/ });
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill('http://127.0.0.1:4000/hook');
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    const alert = dialog.getByRole('alert');
    await alert.getByText('WEBHOOK_ALLOWED_HOSTS').waitFor();
    await alert.getByText('npx everpost webhooks listen').waitFor();
  });

  it('shows a page where a browser opens an address that fails', async () => {
    const page = await open('/members', { expected: /status of (400|401|404)/ });
    await page.goto(`${app.url}/contacts/${project.id}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.locator('main').innerText()).to.include('Request ID');
    await page.goto(`${app.url}/no/such/page`);
    await page.getByRole('heading', { level: 1, name: 'There is nothing here' }).waitFor();
    await page.getByRole('link', { name: 'Go to the start page' }).click();
    await page.getByRole('main').first().waitFor();
  });

  it('has at most five groups of pages, which fit a window of 900 px', async () => {
    const page = await open('/project');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('navigation').getByRole('link', { name: 'Domains' }).waitFor();
    const nav = '.nav-content';
    expect(await page.locator(`${nav} .nav-title`).count()).to.be.at.most(4);
    const [content, box] = await page.evaluate<[number, number]>(
      `(({ scrollHeight, clientHeight }) => [scrollHeight, clientHeight])(document.querySelector('${nav}'))`,
    );
    expect(content).to.be.at.most(box);
  });

  it('picks a day from a calendar by mouse, by keyboard and by typing', async () => {
    const page = await open('/emails');
    const from = page.getByRole('textbox', { name: 'From' });
    await from.fill('2026-03-10');
    await page.waitForURL(/from=2026-03-10/);
    await page.getByRole('button', { name: 'Open the calendar' }).first().click();
    const calendar = page.getByRole('table', { name: 'March 2026' });
    await calendar.getByRole('button', { name: 'Thursday, March 12, 2026' }).click();
    await page.waitForURL(/from=2026-03-12/);
    expect(await from.inputValue()).to.equal('Mar 12, 2026');
    await page.getByRole('button', { name: 'Open the calendar' }).first().press('Enter');
    await calendar.getByRole('button', { name: 'Thursday, March 12, 2026' }).press('PageDown');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.waitForURL(/from=2026-04-13/);
    expect(await page.locator('input[type=date], input[type=time], input[type=datetime-local]').count()).to.equal(0);
  });

  it('shows contacts on a phone as compact cards, with the actions beside the selection', async () => {
    const many = await app.project();
    for (let n = 0; n < 20; n++)
      await many.server.post('/contacts', {
        email: `reader${n}@guest.example`,
        data: { firstName: 'Ina', city: 'Oslo' },
      });
    const page = await app.open(`/app/p/${many.id}/contacts`, { cookie: many.cookie });
    await page.setViewportSize({ width: 375, height: 800 });
    const rows = page.getByRole('row').filter({ hasText: 'reader' });
    await rows.nth(19).waitFor();
    const heights = await Promise.all((await rows.all()).map(async (row) => (await row.boundingBox())?.height ?? 0));
    expect(Math.max(...heights)).to.be.at.most(130);
    await rows.nth(19).getByRole('checkbox').check();
    const bar = await page.locator('.bulk-bar').boundingBox();
    expect(bar?.y).to.be.within(0, 700);
  });

  it('scrolls tabs that do not fit instead of wrapping them', async () => {
    const page = await open('/developers');
    await page.getByRole('tab').nth(3).waitFor();
    await page.setViewportSize({ width: 375, height: 800 });
    const tops = await Promise.all(
      (await page.getByRole('tab').all()).map(async (tab) => (await tab.boundingBox())?.y ?? 0),
    );
    expect(new Set(tops).size).to.equal(1);
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(375);
  });

  it('explains the words of the product', async () => {
    const page = await open('/executions');
    await page.getByRole('button', { name: 'What does “Journeys” mean?' }).focus();
    await page.getByRole('tooltip').getByText('The API calls it an execution').waitFor();
  });
});
