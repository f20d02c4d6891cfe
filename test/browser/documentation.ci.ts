import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { docsSiteDir } from '../../dev/docs-site.ts';
import { compiledProgram } from '../../dev/program.ts';
import { toStderr } from '../../dev/report.ts';
import { describeApp } from '../support/app.ts';
import { eventually } from '../support/waiting.ts';
import { faultsAtBothWidths, layoutFaults, PHONE, settled } from './page-checks.ts';

const settings = async () => ({ DOCS_DIR: await docsSiteDir(await compiledProgram(), toStderr) });

describeApp('the documentation in a browser', settings, (app) => {
  it('finds a guide by a word of its text, with the keyboard', async () => {
    const page = await app.open('/docs');
    await search(page, 'what the records do');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/guides\//);
    await page.getByRole('heading', { level: 1 }).waitFor();
  });

  it('finds an operation by its name and a type by its link', async () => {
    const page = await app.open('/docs');
    await search(page, 'update a contact');
    await page.getByRole('option', { name: /Create a contact, or update/ }).click();
    await page.waitForURL(/\/docs\/api\/contacts#postContacts$/);
    await page.getByRole('link', { name: 'SavedContact' }).first().click();
    await page.waitForURL(/\/docs\/api\/contacts#SavedContact$/);
    await page.getByRole('heading', { name: 'SavedContact' }).waitFor();
  });

  it('calls the API from the reference, and shows its answer', async () => {
    const project = await app.project();
    const page = await app.open('/docs/api');
    await page.getByRole('link', { name: 'Create a contact, or update the one with this address' }).click();
    await page.waitForURL(/\/docs\/api\/contacts#postContacts$/);
    // The page answers clicks once its script has run.
    await eventually(
      async () => {
        await page.getByText('Python', { exact: true }).first().click();
        return page.getByText('requests.delete(').first().isVisible();
      },
      { what: 'an example in Python' },
    );
    const form = page.locator('details', { hasText: 'Send POST /contacts' }).first();
    await form.getByText('Try it').click();
    await form.getByLabel('Key (pk_… or sk_…)').fill(project.secretKey);
    await form.getByLabel('Body (JSON)').fill('{ "email": "tried@example.com" }');
    await form.getByRole('button', { name: 'Send POST /contacts' }).click();
    await form.getByText(/^20\d .*ms$/).waitFor();
    expect(await form.getByRole('region', { name: 'Answer' }).innerText()).to.contain('tried@example.com');
    const { body } = await project.server.get('/contacts?search=tried');
    expect(body.data).to.have.lengthOf(1);
  });

  // Axe takes far longer for the long pages of the reference.
  const SHORT = '/docs/api/suppressions';
  const LONG = '/docs/api/templates';

  for (const path of ['/docs', '/docs/guides/workflows', '/docs/api', SHORT])
    it(`${path} is accessible on a phone and widened, in light and dark`, async () => {
      const page = await app.open(path, { width: PHONE });
      const faults = await faultsAtBothWidths(page, { keyboard: path.startsWith('/docs/api') });
      if (faults.length > 0) throw new Error(faults.join('\n'));
    });

  it('has on the short page that was checked every kind of element of a long one, which has the same layout', async () => {
    const page = await app.open(SHORT);
    await settled(page);
    const checked = await page.evaluate<string[]>(KINDS);
    await page.goto(app.url + LONG);
    await settled(page);
    expect(checked).to.include.members(await page.evaluate<string[]>(KINDS));
    expect(await layoutFaults(page)).to.deep.equal([]);
    await page.setViewportSize({ width: PHONE, height: 860 });
    await settled(page);
    expect(await layoutFaults(page)).to.deep.equal([]);
  });
});

/** What an element looks like and is for. The class that names its page is left out. */
const KINDS = `[...new Set([...document.querySelectorAll('main *')].map((element) => {
  const classes = [...element.classList].filter((name) => !name.startsWith('_docs_')).sort().join('.');
  const attributes = ['role', 'type', 'style'].map((name) => element.getAttribute(name) ?? '').join('|');
  return element.tagName + '.' + classes + '|' + attributes;
}))]`;

/** Opens the search by its keys, which the site listens to once its script has run. */
async function search(page: Page, text: string): Promise<void> {
  const field = page.locator('#localsearch-input');
  await eventually(
    async () => {
      await page.keyboard.press('Control+k');
      return field.isVisible();
    },
    { what: 'the search' },
  );
  await field.fill(text);
}
