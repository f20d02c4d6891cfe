// Every page at two widths, light and dark: axe finds nothing, nothing scrolls sideways, one h1 and one main, and the
// keyboard reaches everything. Not part of `npm test`, but of `npm test -- --all`, which CI runs.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { fillSample } from '../../dev/stack/sample.ts';
import { systemMails } from '../support/accounts.ts';
import { type ApiProject, createProjectWithClients } from '../support/api.ts';
import { type Visit, visit, webAppEnv } from '../support/browser.ts';
import { testLinks } from '../support/links.ts';
import { addProcess } from '../support/rows/processes.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';
import { complete, keyboardFaults, lookFaults, settled } from './page-checks.ts';
import { addressesOf, emptyAddressOf, PAGES } from './page-table.ts';

const WIDTHS = [375, 1280];
/** The browser logs the status of a page. */
const EXPECTED = /status of 400 .*\/reset-password\//;
/** Nothing listens there, so that an endpoint fails. */
const CLOSED_PORT = '127.0.0.1:9';
const INVITED = 'invited@people.example';

interface World {
  stack: Stack;
  shop: ApiProject;
  empty: ApiProject;
}

describe('every page', () => {
  let [temporal, world]: [OwnNamespace?, World?] = [];
  const browsers = new Map<string, Promise<Visit>>();

  before(async () => {
    temporal = await ownNamespace();
    const stack = await startStack(temporal, {
      ...(await webAppEnv()),
      RATE_LIMIT_PER_MINUTE: '0',
      WEBHOOK_ALLOWED_HOSTS: CLOSED_PORT,
    });
    await stack.startWorker();
    const { database, api } = stack;
    const [shop, empty] = [
      await createProjectWithClients(database.db, api.url),
      await createProjectWithClients(database.db, api.url),
    ];
    world = { stack, shop, empty };
    await fillSample(api.url, shop, shop.senderDomain);
    await shop.server.post('/domains', { domain: 'pending.example' });
    const endpoint = await shop.server.post('/webhook-endpoints', { url: `http://${CLOSED_PORT}/`, types: ['*'] });
    await shop.server.post(`/webhook-endpoints/${endpoint.body.id}/test`, {});
    const contacts: { id: string }[] = (await shop.server.get('/contacts?limit=5')).body.data;
    await shop.server.post('/contacts/bulk-subscribe', { contactIds: contacts.map(({ id }) => id) });
    await database.db('users').update({ operator: true });
    // Long names without a place to break must not make the operator's page scroll sideways.
    const now = new Date();
    await addProcess(database.db, {
      ...{ id: randomUUID(), kind: 'worker', host: 'host'.repeat(15), pid: 4_194_303, version: '10.20.30' },
      ...{ startedAt: now, seenAt: now },
    });
    const sent = async () => (await shop.server.get('/campaigns?status=SENT')).body.total === 1;
    await eventually(sent);
  });

  after(async () => {
    await Promise.all([...browsers.values()].map(async (opened) => (await opened).close()));
    await world?.stack.end();
    await temporal?.close();
  });

  const theWorld = (): World => {
    if (!world) throw new Error('the stack did not start');
    return world;
  };

  /** One page per width and session, so that the files of the application are loaded once. */
  const browserOf = (width: number, cookie: string): Promise<Visit> => {
    const key = `${width} ${cookie}`;
    const opened = browsers.get(key) ?? visit({ url: theWorld().stack.api.url, width, cookie, expected: EXPECTED });
    browsers.set(key, opened);
    return opened;
  };

  async function faultsAt(address: string, cookie: string, width: number, keyboard: boolean): Promise<string[]> {
    const { page, complaints } = await browserOf(width, cookie);
    complaints.length = 0;
    await page.goto(theWorld().stack.api.url + address, { timeout: 60_000 });
    await settled(page);
    const faults = [...(await lookFaults(page)), ...(keyboard ? await keyboardFaults(page) : []), ...complaints];
    return faults.map((fault) => `${address} at ${width} px: ${fault}`);
  }

  /** Both widths side by side; the keyboard on the first view of a page, where everything is visible. */
  async function check(addresses: string[], cookie: string): Promise<void> {
    const faults: string[] = [];
    for (const [n, address] of addresses.entries()) {
      const found = await Promise.all(
        WIDTHS.map((width) => faultsAt(address, cookie, width, n === 0 && width === 1280)),
      );
      faults.push(...found.flat());
    }
    // Mocha cuts long differences; an error's text is shown whole.
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }

  it('is in the table of pages', async () => {
    const { page } = await browserOf(1280, '');
    await page.goto(`${theWorld().stack.api.url}/app/sign-in`);
    await settled(page);
    const routes = await page.evaluate<string[]>('Object.keys(self.__TSR_ROUTER__.routesByPath)');
    expect(Object.keys(PAGES)).to.have.members(routes);
  });

  for (const [route, { signedOut }] of Object.entries(PAGES)) {
    it(`${route} is accessible`, async () => {
      const { shop } = theWorld();
      const read = async (path: string) => {
        const { body } = await shop.owner.get(path);
        return body.data ?? body;
      };
      await check(await addressesOf(route, shop.id, read), signedOut ? '' : shop.cookie);
    });
    if (emptyAddressOf(route, ''))
      it(`${route} is accessible in an empty project`, async () => {
        const { empty } = theWorld();
        await check([emptyAddressOf(route, empty.id) ?? ''], empty.cookie);
      });
  }

  /** Pages that the API itself serves, to people without a session. */
  const hosted: Record<string, () => Promise<string>> = {
    'of an address verification': async () => {
      const { stack } = theWorld();
      await stack.server.post('/auth/signup', { email: 'new@people.example', password: 'correct horse' });
      return linkTo('new@people.example');
    },
    'of a password reset': async () => {
      await theWorld().stack.server.post('/auth/request-password-reset', { email: 'new@people.example' });
      return linkTo('new@people.example');
    },
    'of an invitation': async () => {
      const { shop } = theWorld();
      await shop.owner.post(`/projects/${shop.id}/members`, { email: INVITED, role: 'MEMBER' });
      return linkTo(INVITED);
    },
    'of a link that is no longer valid': async () => '/reset-password/unknown',
    'of a subscription': async () => {
      const { shop } = theWorld();
      const { id: emailId, contactId } = (await shop.server.get('/emails')).body.data[0];
      const { manageUrl } = testLinks.contactLinks({ contactId, emailId });
      return new URL(manageUrl).pathname;
    },
  };
  const linkTo = async (email: string): Promise<string> => {
    const mails = await systemMails(theWorld().stack.database.db, email);
    const url = mails.findLast(({ link }) => link)?.link?.url;
    if (!url) throw new Error(`there is no mail with a link to ${email}`);
    return new URL(url).pathname;
  };
  for (const [name, address] of Object.entries(hosted))
    it(`the page ${name} is accessible`, async () => check([await address()], ''));

  it('of a segment is accessible while the people who match are counted', async () => {
    const { stack, shop } = theWorld();
    const segments: { id: string; type: string }[] = (await shop.server.get('/segments')).body;
    const segment = segments.find(({ type }) => type === 'DYNAMIC');
    const { page } = await browserOf(375, shop.cookie);
    const preview = '**/segments/preview';
    // Never answered.
    await page.route(preview, () => {});
    await page.goto(`${stack.api.url}/app/p/${shop.id}/segments/${segment?.id}?tab=conditions`);
    await complete(page);
    await page.locator('.mantine-Loader-root').first().waitFor();
    const faults = await lookFaults(page);
    await page.unroute(preview);
    expect(faults).to.deep.equal([]);
  });

  it('shows on the home page what needs attention', async () => {
    const { stack, shop } = theWorld();
    const failing = async () => (await shop.server.get('/webhook-endpoints')).body[0].failingSince !== null;
    await eventually(failing);
    const { page } = await browserOf(1280, shop.cookie);
    await page.goto(`${stack.api.url}/app/p/${shop.id}`);
    await page.getByRole('link', { name: `The webhook endpoint at ${CLOSED_PORT} is failing` }).waitFor();
    await page.getByRole('link', { name: 'pending.example is not verified yet' }).waitFor();
  });

  it('is reached from the command palette without a mouse', async () => {
    const { stack, shop } = theWorld();
    const { page, complaints } = await browserOf(1280, shop.cookie);
    complaints.length = 0;
    await page.goto(`${stack.api.url}/app/p/${shop.id}/contacts`);
    await settled(page);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('Skip to content');
    await page.keyboard.press('Control+K');
    await page.getByPlaceholder('Search or jump to').fill('Templates');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor();
    expect(complaints).to.deep.equal([]);
  });
});
