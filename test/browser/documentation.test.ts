import { expect } from 'chai';
import { docsSiteDir } from '../../dev/docs-site.ts';
import { toStderr } from '../../dev/report.ts';
import { describeApp } from '../support/app.ts';
import { keyboardFaults, lookFaults, settled } from './page-checks.ts';

const settings = async () => ({ DOCS_DIR: await docsSiteDir(toStderr) });

describeApp('the documentation in a browser', settings, (app) => {
  it('finds a guide by a word of its text, with the keyboard', async () => {
    const page = await app.open('/docs');
    // The site listens to keys once its script has run.
    await page.waitForLoadState('networkidle');
    await page.keyboard.press('Control+k');
    await page.locator('#localsearch-input').fill('unsubscribe headers');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/guides\//);
    await page.getByRole('heading', { level: 1 }).waitFor();
  });

  it('calls the API from the reference, and shows its answer', async () => {
    const project = await app.project();
    const page = await app.open('/docs/api');
    await page.getByLabel('Filter operations').fill('create or update a contact');
    await page.getByText(/^[1-9]\d? operations$/).waitFor();
    await page.locator('a[href="/docs/api/contacts#postContacts"]').click();
    await page.getByLabel('Key (pk_… or sk_…)').fill(project.secretKey);
    const operation = page.locator('#postContacts');
    await operation.getByRole('tab', { name: 'Python' }).click();
    expect(await operation.locator('.sample:visible').innerText()).to.contain('requests.post(');
    await operation.getByText('Try it').click();
    await operation.getByLabel('Body (JSON)').fill('{ "email": "tried@example.com" }');
    await operation.getByRole('button', { name: 'Send POST /contacts' }).click();
    await operation.getByText(/^20\d .*ms$/).waitFor();
    expect(await operation.getByRole('region', { name: 'Answer' }).innerText()).to.contain('tried@example.com');
    const { body } = await project.server.get('/contacts?search=tried');
    expect(body.data).to.have.lengthOf(1);
  });

  for (const path of ['/docs', '/docs/guides/workflows', '/docs/api', '/docs/api/templates'])
    it(`${path} is accessible at both widths, in light and dark`, async () => {
      const faults: string[] = [];
      for (const width of [375, 1280]) {
        const page = await app.open(path, { width });
        if (path.startsWith('/docs/api')) await page.getByRole('heading', { level: 1 }).waitFor();
        else await settled(page);
        const found = await lookFaults(page);
        if (width === 1280 && path.startsWith('/docs/api')) found.push(...(await keyboardFaults(page)));
        faults.push(...found.map((fault) => `${width} px: ${fault}`));
      }
      if (faults.length > 0) throw new Error(faults.join('\n'));
    });
});
