import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { person } from '../support/accounts.ts';
import { describeStackApp } from '../support/app.ts';
import { noticed } from '../support/browser.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import { setSessions } from '../support/rows/accounts.ts';
import { storedProject } from '../support/rows/projects.ts';
import { enableTwoFactor } from '../support/two-factor.ts';
import { eventually } from '../support/waiting.ts';

const run = promisify(execFile);
const SLOW = { timeout: 60_000 };
const MANY = 10_000;
/** With the fields that every contact has. */
const ALL_FIELDS = MANY + 4;
const PRINTED_AT_ONCE = 1_000;

interface Watched {
  /** The most rows that were in the page at once. */
  mostRows: number;
  /** How often other work of the page had its turn while rows were copied. */
  turns: number;
}
const WATCH = `
  self.watched = { mostRows: 0, turns: 0 };
  new MutationObserver(() => { watched.mostRows = Math.max(watched.mostRows, document.querySelectorAll('tbody tr').length) })
    .observe(document.body, { childList: true, subtree: true });
  const turn = () => {
    if (document.querySelector('[aria-label="Copy the table"][data-loading]')) watched.turns++;
    setTimeout(turn);
  };
  turn();`;

let receiver: HttpReceiver;
const settings = async () => {
  receiver = await startHttpReceiver();
  return { WEBHOOK_ALLOWED_HOSTS: receiver.host };
};

describeStackApp('the pages for developers', settings, (app) => {
  before(() => app.startWorker());
  after(() => receiver?.stop());

  it('adds a webhook endpoint, tests, replays, rotates, disables and recovers it', async () => {
    const { id, cookie, server } = await app.project();
    receiver.answer({ status: 200, body: 'thank you' });
    const page = await app.open(`/app/p/${id}/webhooks?add=true`, { cookie });
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(`${receiver.url}/hook`);
    await dialog.getByRole('combobox', { name: 'Types' }).fill('event.*');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    const secret = await shownSecret(page);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    const [endpoint] = (await server.get('/webhook-endpoints')).body;
    expect(endpoint).to.deep.include({ url: `${receiver.url}/hook`, types: ['email.*', 'event.*'], enabled: true });

    await page.getByRole('button', { name: 'Send a test' }).click();
    const [first] = await receiver.received(1);
    new Webhook(secret).verify(first?.body ?? '', first?.headers as Record<string, string>);
    await page.getByRole('link', { name: 'webhook.test' }).click();
    await page.getByText('Delivered', { exact: true }).first().waitFor(SLOW);
    await page.getByText('thank you').waitFor(SLOW);
    await page.getByText('"This is a test."').waitFor();
    await page.getByRole('button', { name: 'Send again' }).click();
    const [, second] = await receiver.received(2);
    expect(second?.headers['webhook-id']).to.equal(first?.headers['webhook-id']);
    expect((await server.get(`/webhook-endpoints/${endpoint.id}/deliveries`)).body.total).to.equal(2);

    await page.goto(`${app.url}/app/p/${id}/webhooks/${endpoint.id}`);
    const act = async (name: string) => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await act('Rotate secret');
    await dialog.getByRole('button', { name: 'Rotate secret' }).click();
    expect(await shownSecret(page)).not.to.equal(secret);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await act('Disable');
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Disabled', { exact: true }).waitFor();
    expect((await server.get(`/webhook-endpoints/${endpoint.id}`)).body.enabled).to.equal(false);

    const tracked = await server.post('/events/track', { email: 'ann@guest.example', event: 'signup' });
    expect(tracked).to.have.status(200);
    const missed = `/webhook-endpoints/${endpoint.id}/deliveries?type=event.signup`;
    await eventually(async () => (await server.get(missed)).body.total === 1);
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByText('Enabled', { exact: true }).waitFor();
    await act('Recover');
    await dialog.getByRole('button', { name: 'Recover' }).click();
    const [, , recovered] = await receiver.received(3);
    expect(recovered?.json()).to.deep.include({ type: 'event.signup' });
    await act('Delete');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No endpoints yet').waitFor();
    expect((await server.get('/webhook-endpoints')).body).to.deep.equal([]);
  });

  it('asks for a new confirmation where the API needs one', async () => {
    const { id, server } = await app.project();
    const owner = await person(app, { project: id, role: 'OWNER' });
    const { recoveryCodes } = await enableTwoFactor(owner);
    await owner.patch(`/users/@me/projects/${id}`, { requireTwoFactor: true });
    const endpoint = (await server.post('/webhook-endpoints', { url: 'https://hooks.example/', types: ['*'] })).body;
    const page = await app.open(`/app/p/${id}/members`, { cookie: owner.cookie, expected: /403 \(Forbidden\)/ });
    const asked = page.getByRole('dialog', { name: 'Confirm that it is you' });
    const proving = async (act: () => Promise<void>) => {
      await setSessions(app.db, owner.id, { provenAt: new Date(Date.now() - 3_600_000) });
      await act();
      await asked.getByLabel('Code of your authenticator app').fill(recoveryCodes.pop() ?? '');
      await asked.getByRole('button', { name: 'Confirm' }).click();
      await asked.waitFor({ state: 'hidden' });
    };

    await proving(() => page.getByRole('switch', { name: 'Require two-factor authentication' }).click());
    await eventually(async () => !(await storedProject(app.db, id)).requireTwoFactor, { what: 'the change' });
    await page.getByRole('button', { name: 'Invite' }).click();
    const invitation = page.getByRole('dialog', { name: 'Invite' });
    await invitation.getByLabel('Email').fill('new@guest.example');
    await invitation.getByLabel('Role').selectOption('Admin');
    await noticed(page, 'A mail with the invitation goes to new@guest.example.', () =>
      proving(() => invitation.getByRole('button', { name: 'Invite' }).click()),
    );

    await page.goto(`${app.url}/app/p/${id}/developers?add=true`);
    const creation = page.getByRole('dialog', { name: 'Create a key' });
    await creation.getByLabel('Name').fill('Everything');
    await creation.getByLabel('Everything that the secret key may do').check();
    await proving(() => creation.getByRole('button', { name: 'Create key' }).click());
    expect(await shownSecret(page)).to.match(/^sk_/);

    await page.goto(`${app.url}/app/p/${id}/webhooks/${endpoint.id}`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Rotate secret' }).click();
    const rotation = page.getByRole('dialog', { name: 'Rotate the secret?' });
    await proving(() => rotation.getByRole('button', { name: 'Rotate secret' }).click());
    expect(await shownSecret(page)).to.match(/^whsec_/);
  });

  it('creates a key, shows examples that work with it, limits the public key and revokes', async () => {
    const { id, cookie, server } = await app.project();
    const page = await app.open(`/app/p/${id}/developers?add=true`, { cookie, expected: /status of 422/ });
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Shop');
    await dialog.getByRole('combobox', { name: 'Contacts' }).selectOption('Read');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const key = await shownSecret(page);
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    await page.getByRole('button', { name: 'I have stored it' }).click();

    await page.getByRole('tab', { name: 'Examples' }).click();
    const example = async (path: string) => (await page.locator(`[data-example="${path}"]`).textContent()) ?? '';
    expect(await example('/contacts?limit=10')).to.include(key);
    const { stdout } = await run('bash', ['-c', `${await example('/contacts?limit=10')} --silent`]);
    expect(JSON.parse(stdout)).to.deep.include({ total: 0 });
    await page.getByText('TypeScript').click();
    const typescript = await example('/v1/track');
    await run(process.execPath, ['--input-type=module', '--eval', typescript]);
    expect((await server.get('/contacts')).body.total).to.equal(1);

    await page.getByRole('tab', { name: 'Public key' }).click();
    await page.getByLabel('Allowed origins').fill('https://shop.example/path');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/must be an origin/).waitFor();
    await page.getByLabel('Allowed origins').fill('https://shop.example');
    await page.getByLabel('Allowed event names').fill('signup\norder');
    await noticed(page, 'The policy is saved.', () => page.getByRole('button', { name: 'Save' }).click());
    expect(await storedProject(app.db, id)).to.deep.include({
      publicKeyOrigins: ['https://shop.example'],
      publicKeyEvents: ['signup', 'order'],
    });

    await server.get('/contacts/none');
    await eventually(async () => (await app.db('failedRequests').where({ projectId: id, method: 'GET' })).length > 0);
    await page.getByRole('tab', { name: 'Request log' }).click();
    await page.getByText('GET /contacts/:id').waitFor();
    await page.getByText('Successful', { exact: true }).click();
    await page.getByText('No successful request is logged').waitFor();
    await page.getByRole('switch', { name: 'Log successful requests' }).click();
    await eventually(async () => (await storedProject(app.db, id)).logRequests);
    await eventually(async () => {
      expect(await server.get('/segments')).to.have.status(200);
      return (await app.db('failedRequests').where({ projectId: id, status: 200 })).length > 0;
    });
    await page.reload();
    await page.getByText('GET /segments').first().waitFor();

    await page.getByRole('tab', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Revoke Shop' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('No keys yet').waitFor();
    expect(await fetch(`${app.url}/contacts`, { headers: { authorization: `Bearer ${key}` } })).to.include({
      status: 401,
    });
  });

  it('imports, finds, adds and removes suppressions, and follows the job', async () => {
    const { id, cookie, server } = await app.project();
    const page = await app.open(`/app/p/${id}/suppressions`, { cookie });
    await page.getByText('No suppressed addresses').waitFor();
    await page.getByRole('button', { name: 'Import' }).click();
    const lines = Array.from({ length: 299 }, (_, n) => `person${n}@old.example`);
    await page.locator('input[type=file]').setInputFiles({
      name: 'list.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(['email', ...lines, 'no address'].join('\n')),
    });
    await page.getByRole('heading', { level: 1, name: 'Import of suppressions' }).waitFor();
    await page.getByText('Completed', { exact: true }).waitFor(SLOW);
    await page.locator('[data-count=created]').getByText('299').waitFor();
    await page.getByRole('cell', { name: '301' }).waitFor();
    await page.getByRole('link', { name: 'Background tasks', exact: true }).first().click();
    await page.getByRole('link', { name: 'Import of suppressions' }).waitFor();

    await page.keyboard.press('Control+K');
    await page.getByPlaceholder('Search or jump to').fill('Suppress an');
    await page.getByText('Suppress an address').click();
    const dialog = page.getByRole('dialog', { name: 'Suppress an address' });
    await dialog.getByLabel('Address').fill('ann@guest.example');
    await dialog.getByLabel('Note').fill('asked by phone');
    await dialog.getByRole('button', { name: 'Add address' }).click();
    await page.getByRole('rowheader', { name: 'ann@guest.example' }).waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await eventually(async () => {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      return page.getByText('300 of 300 shown').isVisible();
    });

    await page.getByLabel('Search by address').fill('ANN@');
    await page.getByText('1 of 1 shown').waitFor();
    expect(new URL(page.url()).searchParams.get('search')).to.equal('ANN@');
    await page.getByRole('button', { name: 'Remove ann@guest.example' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No suppressed address matches').waitFor();
    expect((await server.get('/suppressions')).body.total).to.equal(299);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).to.equal('suppressions.csv');
  });

  it('warns with the names of what uses an event, and deletes it', async () => {
    const { id, cookie, server } = await app.project();
    const event = { email: 'ann@guest.example', event: 'signup', data: { plan: 'pro' } };
    expect(await server.post('/events/track', event)).to.have.status(200);
    const filters = [{ field: 'event.signup', operator: 'triggered' }];
    const condition = { logic: 'AND', groups: [{ filters }] };
    expect(await server.post('/segments', { name: 'Signed up', type: 'DYNAMIC', condition })).to.have.status(201);
    const page = await app.open(`/app/p/${id}/events?kind=own`, { cookie });
    await page.getByRole('link', { name: 'signup' }).click();
    await page.getByRole('link', { name: 'Signed up' }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It is used.').waitFor();
    await dialog.getByRole('link', { name: 'Signed up' }).waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Events and fields' }).waitFor();
    const { names } = (await server.get('/events/names')).body as { names: { name: string }[] };
    expect(names.map(({ name }) => name)).not.to.include('signup');

    await page.goto(`${app.url}/app/p/${id}/fields/data.plan`);
    await page.getByRole('link', { name: 'pro', exact: true }).click();
    await page.getByRole('link', { name: 'ann@guest.example' }).waitFor();
  });

  it('scrolls through 10,000 rows with few of them in the page, copies and prints all of them', async () => {
    const { id, cookie } = await app.project();
    await app.db.raw(
      `insert into contact_fields (project_id, key, type, contacts)
       select ?, 'field' || to_char(n, 'FM00000'), 'string', 1 from generate_series(1, ${MANY}) n`,
      [id],
    );
    const { page, context } = await app.visit(`/app/p/${id}/events?tab=fields`, { cookie });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('link', { name: 'data.field00001' }).waitFor();
    const rows = (): Promise<number> => page.evaluate<number>(`document.querySelectorAll('tbody tr').length`);
    expect(await rows()).to.be.lessThan(150);
    for (let n = 1; n <= 5; n++) {
      await page.evaluate(`scrollTo(0, document.body.scrollHeight * ${n / 5})`);
      // A row of the list, not the space for others, is in the middle of the window.
      await eventually(() =>
        page.evaluate<boolean>(`!!document.elementFromPoint(700, 400)?.closest('tr[data-index]')`),
      );
      expect(await rows()).to.be.lessThan(150);
    }
    await page.getByRole('link', { name: `data.field${MANY}` }).waitFor();
    const note = page.getByText('The first 1,000 of 10,004 rows.');
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
    expect(await rows()).to.equal(PRINTED_AT_ONCE);
    expect(await note.count()).to.equal(1);
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    await eventually(async () => (await rows()) < 150, { what: 'few rows after printing' });
    expect(await note.count()).to.equal(0);
    await page.evaluate(WATCH);
    await noticed(page, '10,004 rows copied', () => page.getByRole('button', { name: 'Copy the table' }).click(SLOW));
    const copied = await page.evaluate<Watched>('watched');
    expect(copied.mostRows).to.be.lessThan(150);
    // The page answered between any two sets of a hundred rows.
    expect(copied.turns).to.be.greaterThan(50);
    const lines = (await page.evaluate<string>('navigator.clipboard.readText()')).split('\n');
    expect(lines).to.have.length(ALL_FIELDS + 1);
    expect(lines[0]).to.equal('Field\tType\tCoverage');
    expect(lines.filter((line) => /^data\.field\d{5}\t/.test(line))).to.have.length(MANY);
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(`self.print = () => { self.onPaper = document.querySelector('.data-table').innerText }`);
    await page.evaluate(`document.querySelector('[aria-label="Print the table"]').click()`);
    const onPaper = await eventually(async () => (await page.evaluate<string | undefined>('self.onPaper')) ?? false);
    expect(onPaper.split('\n').filter((line) => line.startsWith('data.field'))).to.have.length(MANY);
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    await page.emulateMedia({ media: 'screen' });
    // The list measures its rows again.
    await eventually(async () => (await rows()) < 150, { what: 'few rows after printing' });
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation').isVisible()).to.equal(false);
  });

  it('speaks German where the browser does, and the language that the user chooses', async () => {
    const { id } = await app.project();
    const { cookie } = await person(app, { project: id, role: 'VIEWER' });
    const page = await app.open(`/app/p/${id}/suppressions`, { cookie, locale: 'de-AT' });
    await page.getByRole('heading', { level: 1, name: 'Sperrliste' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).to.equal('de');
    // What a VIEWER may not do is not offered.
    for (const name of ['Adresse sperren', 'Importieren', 'CSV exportieren', 'Webhooks'])
      expect(await page.getByText(name, { exact: true }).count(), name).to.equal(0);
    await page.getByRole('button', { name: 'Darstellung und Sprache' }).click();
    await page.getByRole('menuitem', { name: 'English' }).click();
    await page.getByRole('heading', { level: 1, name: 'Suppressions' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Suppressions' }).waitFor();
  });
});

/** The secret in the dialog that shows it once. */
async function shownSecret(page: Page): Promise<string> {
  await page.getByText(/It is shown only now/).waitFor();
  return page
    .getByRole('dialog')
    .getByText(/^(?:whsec|sk)_/)
    .innerText();
}
