// Every page at two widths, light and dark: axe finds nothing, nothing scrolls sideways, one h1 and one main, and the
// keyboard reaches everything. Not part of `npm test`: `npm test -- test/browser/pages.matrix.ts`.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { fillSample } from '../../dev/stack/sample.ts';
import { type ApiProject, createProjectWithClients } from '../support/api.ts';
import { axeFindings, type Visit, visit, webAppEnv } from '../support/browser.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

const TABS = 12;

describe('every page', function () {
  this.timeout(120_000);
  let [temporal, stack, project, empty]: [OwnNamespace?, Stack?, ApiProject?, ApiProject?] = [];
  let paths: Record<string, string> = {};

  before(async function () {
    this.timeout(300_000);
    temporal = await ownNamespace();
    stack = await startStack(temporal, { ...(await webAppEnv()), RATE_LIMIT_PER_MINUTE: '0' });
    await stack.startWorker();
    const { database, api } = stack;
    project = await createProjectWithClients(database.db, api.url);
    empty = await createProjectWithClients(database.db, api.url);
    await fillSample(api.url, project, project.senderDomain);
    const { server } = project;
    await server.post('/domains', { domain: 'pending.example' });
    await eventually(async () => (await server.get('/campaigns?status=SENT')).body.total === 1, { timeoutMs: 120_000 });
    paths = await pathsOf(project, empty);
  });

  after(async () => {
    await stack?.end();
    await temporal?.close();
  });

  const open = async (width: number, colorScheme: 'light' | 'dark', cookie: string): Promise<Visit> =>
    visit({ url: stack?.api.url ?? '', cookie, width, colorScheme });

  for (const width of [375, 1280])
    for (const colorScheme of ['light', 'dark'] as const)
      it(`passes axe at ${width} px, ${colorScheme}`, async function () {
        this.timeout(300_000);
        const faults: string[] = [];
        for (const [path, cookie] of Object.entries(paths)) {
          const { page, complaints, close } = await open(width, colorScheme, cookie);
          await page.goto((stack?.api.url ?? '') + path);
          await page.getByRole('heading', { level: 1 }).waitFor();
          await page.waitForLoadState('networkidle');
          const found = [...complaints, ...(await layoutFaults(page)), ...(await axeFindings(page))];
          faults.push(...found.map((fault) => `${path}: ${fault}`));
          await close();
        }
        // Mocha cuts long differences; an error's text is shown whole.
        if (faults.length > 0) throw new Error(faults.join('\n'));
      });

  it('is reachable by keyboard, with a visible focus', async () => {
    const { page, close, complaints } = await open(1280, 'light', project?.cookie ?? '');
    await page.goto(`${stack?.api.url}/app/p/${project?.id}/contacts`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).to.equal('Skip to content');
    await page.keyboard.press('Enter');
    const reached = new Set<string>();
    for (let n = 0; n < TABS; n++) {
      await page.keyboard.press('Tab');
      reached.add(await focused(page));
      expect(await page.evaluate('document.activeElement.matches(":focus-visible")')).to.equal(true);
    }
    expect([...reached]).to.include.members(['Export CSV', 'Import', 'Add contact', 'Search by e-mail', 'Columns']);

    await page.keyboard.press('Control+K');
    await page.getByPlaceholder('Search or jump to').fill('Templates');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor();
    expect(complaints).to.deep.equal([]);
    await close();
  });
});

async function pathsOf(shop: ApiProject, bare: ApiProject): Promise<Record<string, string>> {
  const { server, id, cookie } = shop;
  const first = async (path: string): Promise<string> => {
    const { body } = await server.get(path);
    return (body.data ?? body)[0].id;
  };
  const lists = [
    '',
    '/activity',
    '/analytics',
    '/notifications',
    '/contacts',
    '/contacts/import',
    '/segments',
    '/segments/new',
    '/templates',
    '/templates/new',
  ];
  const more = ['/campaigns', '/campaigns/new', '/emails', '/domains'];
  const contact = await first('/contacts?search=ada.abel');
  const campaign = await first('/campaigns?status=SENT');
  const draft = await first('/campaigns?status=DRAFT');
  const details = [
    ...['timeline', 'mails', 'segments', 'executions'].map((tab) => `/contacts/${contact}?tab=${tab}`),
    ...['conditions', 'members', 'usage'].map((tab) => `/segments/${'SEGMENT'}?tab=${tab}`),
    `/templates/${await first('/templates')}`,
    ...['recipients', 'domains', 'links', 'content'].map((tab) => `/campaigns/${campaign}?tab=${tab}`),
    ...[0, 1, 2, 3].map((step) => `/campaigns/${draft}/edit?step=${step}`),
    `/emails/${await first('/emails')}`,
  ];
  const segments = (await server.get('/segments')).body as { id: string; type: string }[];
  const dynamic = segments.find(({ type }) => type === 'DYNAMIC')?.id ?? '';
  const own = [...lists, ...more, ...details].map((path) => `/app/p/${id}${path.replace('SEGMENT', dynamic)}`);
  const empties = [...lists, ...more].map((path) => `/app/p/${bare.id}${path}`);
  return Object.fromEntries([
    ...['/app/sign-in', '/app/sign-up', '/app/forgot-password'].map((path) => [path, '']),
    ...['/app/new-project', ...own].map((path) => [path, cookie]),
    ...empties.map((path) => [path, bare.cookie]),
  ]);
}

async function layoutFaults(page: Page): Promise<string[]> {
  const [width, mains, headings] = await page.evaluate<[number, number, number]>(
    `[document.documentElement.scrollWidth - innerWidth, document.querySelectorAll('main').length, document.querySelectorAll('h1').length]`,
  );
  return [
    ...(width > 0 ? [`scrolls sideways by ${width} px`] : []),
    ...(mains === 1 ? [] : [`has ${mains} main elements`]),
    ...(headings === 1 ? [] : [`has ${headings} h1 elements`]),
  ];
}

const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(
    `document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()`,
  );
