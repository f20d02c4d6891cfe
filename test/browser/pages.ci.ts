// Every page at two widths, light and dark: axe finds nothing, nothing scrolls sideways, one h1 and one main, and the
// keyboard reaches everything. Not part of `npm test`, but of `npm test -- --all`, which CI runs.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { fillSample } from '../../dev/stack/sample.ts';
import { systemMails } from '../support/accounts.ts';
import { type ApiProject, client } from '../support/api.ts';
import { describeStackApp } from '../support/app.ts';
import { once } from '../support/cleanup.ts';
import { testLinks } from '../support/links.ts';
import { addProcess } from '../support/rows/processes.ts';
import { eventually } from '../support/waiting.ts';
import { complete, DESKTOP, faultsAtBothWidths, lookFaults, PHONE, settled } from './page-checks.ts';
import { PagePool } from './page-pool.ts';
import { addressesOf, emptyAddressOf, PAGES } from './page-table.ts';

/** A page waits about as long as it computes, so that these keep two cores busy. */
const PAGES_AT_ONCE = 4;
/** The browser logs the status of a page. */
const EXPECTED = /status of 400 .*\/reset-password\//;
/** Nothing listens there, so that an endpoint fails. */
const CLOSED_PORT = '127.0.0.1:9';

describeStackApp('every page', { WEBHOOK_ALLOWED_HOSTS: CLOSED_PORT }, (app) => {
  let shop: ApiProject;
  let empty: ApiProject;
  let pool: PagePool;
  const checks: (() => Promise<void>)[] = [];
  const started = new Set<Promise<void>>();

  before(async () => {
    await app.startWorker();
    shop = await app.project();
    empty = await app.project();
    pool = new PagePool({ url: app.url, expected: EXPECTED, atOnce: PAGES_AT_ONCE });
    await fillSample(app.url, shop, shop.senderDomain);
    await shop.server.post('/domains', { domain: 'pending.example' });
    const endpoint = await shop.server.post('/webhook-endpoints', { url: `http://${CLOSED_PORT}/`, types: ['*'] });
    await shop.server.post(`/webhook-endpoints/${endpoint.body.id}/test`, {});
    const document = { version: 1, content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Hello' }] }] };
    await shop.server.post('/saved-blocks', { name: 'Header', kind: 'HEADER', document });
    const news = { name: 'Product news', description: 'What is new', translations: { de: { name: 'Neues' } } };
    const topic = await shop.server.post('/topics', { ...news, consentText: 'Yes, send me news.' });
    await shop.server.post('/topics', { name: 'Weekly report', kind: 'NOTIFICATION' });
    const offers = await shop.server.post('/topics', { name: 'Offers' });
    const from = `news@${shop.senderDomain}`;
    await shop.owner.patch(`/projects/${shop.id}/pages`, { from, color: '#0b7285', imprint: 'Acme Ltd., Dublin' });
    const fields = [
      { key: 'firstName', label: 'First name', required: true },
      { key: 'plan', label: 'Plan', type: 'SELECT', options: ['free', 'pro'] },
      { key: 'news', label: 'Paper news', type: 'BOOLEAN' },
    ];
    const form = { fields, topicIds: [topic.body.id, offers.body.id], consentText: 'Yes, send me email.' };
    await shop.server.post('/forms', { name: 'Newsletter', ...form, translations: { de: { name: 'Rundbrief' } } });
    await shop.server.post('/forms', { name: 'Paused', status: 'PAUSED' });
    const submitted = {
      form: 'newsletter',
      data: { firstName: 'Ann' },
      pageUrl: 'https://shop.example/a-long/address/of-a-page',
    };
    for (const name of ['ann', 'bob'])
      await shop.server.post('/v1/subscribe', { ...submitted, email: `${name}@visitors.example` });
    await app.db('forms').where({ projectId: shop.id, key: 'newsletter' }).update({ attackedSince: new Date() });
    const old = await shop.server.post('/topics', { name: 'Old' });
    await shop.server.patch(`/topics/${old.body.id}`, { archived: true });
    const [ada] = (await shop.server.get('/contacts?search=ada.abel')).body.data;
    const consent = { source: 'Order form', text: 'Yes' };
    await shop.server.patch(`/contacts/${ada.id}/topics`, { topics: { [topic.body.id]: 'SUBSCRIBED' }, consent });
    const contacts: { id: string }[] = (await shop.server.get('/contacts?limit=5')).body.data;
    await shop.server.post('/contacts/bulk-subscribe', { contactIds: contacts.map(({ id }) => id) });
    await app.db('users').update({ operator: true });
    // Long names without a place to break must not make the operator's page scroll sideways.
    const now = new Date();
    await addProcess(app.db, {
      id: randomUUID(),
      kind: 'worker',
      host: 'host'.repeat(15),
      pid: 4_194_303,
      version: '10.20.30',
      startedAt: now,
      seenAt: now,
    });
    const sent = async () => (await shop.server.get('/campaigns?status=SENT')).body.total === 1;
    await eventually(sent);
  });

  after(async () => {
    await pool?.close();
    // With --grep, checks that were started ahead have no test.
    await Promise.all(started);
  });

  const faultsAt = (address: string, cookie: string, keyboard: boolean): Promise<string[]> =>
    pool.use({ cookie, width: PHONE }, async ({ page, complaints }) => {
      await page.goto(app.url + address, { timeout: 60_000 });
      const faults = await faultsAtBothWidths(page, { keyboard });
      return [...faults.map((fault) => `${address} ${fault}`), ...complaints];
    });

  /** The keyboard on the first view of a page. */
  async function check(addresses: string[], cookie: string): Promise<void> {
    const visits = addresses.map((address, n) => faultsAt(address, cookie, n === 0));
    const faults = (await Promise.all(visits)).flat();
    // Mocha cuts long differences; an error's text is shown whole.
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }

  /** Adds a test of pages. Its check starts while those of the tests before it run. */
  function itChecks(title: string, start: () => Promise<void>): void {
    const n = checks.push(once(start)) - 1;
    it(title, async () => {
      for (const ahead of checks.slice(n, n + PAGES_AT_ONCE)) started.add(ahead().catch(() => {}));
      await checks[n]?.();
    });
  }

  it('is in the table of pages', async () => {
    const routes = await pool.use({ cookie: '', width: DESKTOP }, async ({ page }) => {
      await page.goto(`${app.url}/app/sign-in`);
      await settled(page);
      return page.evaluate<string[]>('Object.keys(self.__TSR_ROUTER__.routesByPath)');
    });
    expect(Object.keys(PAGES)).to.have.members(routes);
  });

  for (const [route, { signedOut }] of Object.entries(PAGES)) {
    itChecks(`${route} is accessible`, async () => {
      const read = async (path: string) => {
        const { body } = await shop.owner.get(path);
        return body.data ?? body;
      };
      await check(await addressesOf(route, shop.id, read), signedOut ? '' : shop.cookie);
    });
    if (emptyAddressOf(route, ''))
      itChecks(`${route} is accessible in an empty project`, () =>
        check([emptyAddressOf(route, empty.id) ?? ''], empty.cookie),
      );
  }

  /** Pages that the API itself serves, to people without a session. */
  const hosted: Record<string, () => Promise<string>> = {
    'of an address verification': async () => {
      await signUp('new@people.example');
      return linkTo('new@people.example', '/verify-email/');
    },
    'of a password reset': async () => {
      const email = 'forgetful@people.example';
      await signUp(email);
      await client(app.url).post('/auth/request-password-reset', { email });
      return linkTo(email, '/reset-password/');
    },
    'of an invitation': async () => {
      const email = 'invited@people.example';
      await shop.owner.post(`/projects/${shop.id}/members`, { email, role: 'MEMBER' });
      return linkTo(email, '/invitations/');
    },
    'of a link that is no longer valid': async () => '/reset-password/unknown',
    'of a subscription': async () => {
      // The confirmation emails of forms belong to no contact.
      const emails: { id: string; contactId: string | null }[] = (await shop.server.get('/emails')).body.data;
      const [token] = emails.flatMap(({ id, contactId }) => (contactId === null ? [] : [{ emailId: id, contactId }]));
      if (!token) throw new Error('No email has a contact.');
      return new URL(testLinks.contactLinks(token).manageUrl).pathname;
    },
  };
  const signUp = (email: string) => client(app.url).post('/auth/signup', { email, password: 'correct horse' });
  const linkTo = (email: string, path: string): Promise<string> =>
    eventually(
      async () =>
        (await systemMails(app.db, email))
          .map(({ link }) => new URL(link?.url ?? app.url).pathname)
          .find((linked) => linked.startsWith(path)),
      { what: `a mail to ${email} with a link to ${path}` },
    );
  for (const [name, address] of Object.entries(hosted))
    itChecks(`the page ${name} is accessible`, async () => check([await address()], ''));

  it('of a segment is accessible while the people who match are counted', async () => {
    const segments: { id: string; type: string }[] = (await shop.server.get('/segments')).body;
    const segment = segments.find(({ type }) => type === 'DYNAMIC');
    const faults = await pool.use({ cookie: shop.cookie, width: PHONE }, async ({ page }) => {
      const preview = '**/segments/preview';
      // Never answered.
      await page.route(preview, () => {});
      await page.goto(`${app.url}/app/p/${shop.id}/segments/${segment?.id}?tab=conditions`);
      await complete(page);
      await page.locator('.mantine-Loader-root').first().waitFor();
      const found = await lookFaults(page);
      await page.unroute(preview);
      return found;
    });
    expect(faults).to.deep.equal([]);
  });

  it('shows on the home page what needs attention', async () => {
    const failing = async () => (await shop.server.get('/webhook-endpoints')).body[0].failingSince !== null;
    await eventually(failing);
    await pool.use({ cookie: shop.cookie, width: DESKTOP }, async ({ page }) => {
      await page.goto(`${app.url}/app/p/${shop.id}`);
      await page.getByRole('link', { name: `The webhook endpoint at ${CLOSED_PORT} is failing` }).waitFor();
      await page.getByRole('link', { name: 'pending.example is not verified yet' }).waitFor();
    });
  });

  it('is reached from the command palette without a mouse', () =>
    pool.use({ cookie: shop.cookie, width: DESKTOP }, async ({ page, complaints }) => {
      await page.goto(`${app.url}/app/p/${shop.id}/contacts`);
      await settled(page);
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).to.equal('Skip to content');
      await page.keyboard.press('Control+K');
      // At once: the palette keeps what is typed while it loads.
      await page.keyboard.type('Templates');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor();
      expect(complaints).to.deep.equal([]);
    }));
});
