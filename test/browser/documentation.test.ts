import { expect } from 'chai';
import { docsSiteDir } from '../../dev/docs-site.ts';
import { toStderr } from '../../dev/report.ts';
import { type ApiProject, createProjectWithClients, startTestApi, type TestApi } from '../support/api.ts';
import { type Visit, visit, webAppEnv } from '../support/browser.ts';
import { keyboardFaults, lookFaults, settled } from './page-checks.ts';

describe('the documentation in a browser', () => {
  let api: TestApi;
  let project: ApiProject;
  const visits: Visit[] = [];

  const open = async (path: string, width = 1280): Promise<Visit> => {
    const opened = await visit({ url: api.url, width });
    visits.push(opened);
    await opened.page.goto(api.url + path);
    return opened;
  };

  before(async () => {
    api = await startTestApi({ env: { DOCS_DIR: await docsSiteDir(toStderr), ...(await webAppEnv()) } });
    project = await createProjectWithClients(api.db, api.url);
  });
  afterEach(async () => {
    await Promise.all(visits.splice(0).map((opened) => opened.close()));
  });
  after(() => api?.stop());

  it('finds a guide by a word of its text, with the keyboard', async () => {
    const { page, complaints } = await open('/docs');
    // The site listens to keys once its script has run.
    await page.waitForLoadState('networkidle');
    await page.keyboard.press('Control+k');
    await page.locator('#localsearch-input').fill('unsubscribe headers');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/guides\//);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it('calls the API from the reference, and shows its answer', async () => {
    const { page, complaints } = await open('/docs/api');
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
    expect(complaints).to.deep.equal([]);
  });

  for (const path of ['/docs', '/docs/guides/workflows', '/docs/api', '/docs/api/templates'])
    it(`${path} is accessible at both widths, in light and dark`, async () => {
      const faults: string[] = [];
      for (const width of [375, 1280]) {
        const { page, complaints } = await open(path, width);
        if (path.startsWith('/docs/api')) await page.getByRole('heading', { level: 1 }).waitFor();
        else await settled(page);
        const found = [...(await lookFaults(page)), ...complaints];
        if (width === 1280 && path.startsWith('/docs/api')) found.push(...(await keyboardFaults(page)));
        faults.push(...found.map((fault) => `${width} px: ${fault}`));
      }
      if (faults.length > 0) throw new Error(faults.join('\n'));
    });
});
