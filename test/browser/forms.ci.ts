import { expect } from 'chai';
import { type Browser, chromium, type Page } from 'playwright-core';
import { CHROMIUM_ARGS, findChromium } from '../../dev/chromium.ts';
import { languages } from '../../platform/languages.ts';
import { MailLinks } from '../../services/emails/links.ts';
import { confirmationTexts } from '../../web/confirmation-texts.ts';
import { formTexts } from '../../web/form-texts.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { axeColorFindings, axeFindings, visit } from '../support/browser.ts';
import { decideSubmissions } from '../support/forms.ts';
import { storedSubmissions } from '../support/rows/forms.ts';

const KEY = 'a key of sixteen or more';
const PHONE = 375;
/** Longer than a submission that is too fast for a person. */
const PATIENCE_MS = 2_500;

const env = { SECRET_KEY: KEY, FORM_SUBMISSIONS_PER_IP_PER_HOUR: '0' };

describeApi('forms in a browser', { env }, (api) => {
  let browser: Browser;
  let project: ApiProject;
  let formId: string;

  // The API calls itself app.test, where the browser finds it: links, cookies and origins are as in production.
  before(async () => {
    const hosts = `--host-resolver-rules=MAP app.test ${new URL(api.url).host}`;
    // A page of another site may call an address of this machine.
    const local = '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests';
    browser = await chromium.launch({ executablePath: findChromium(), args: [...CHROMIUM_ARGS, hosts, local] });
  });
  after(() => browser?.close());
  beforeEach(async () => {
    project = await api.project();
    const topicIds: string[] = [];
    for (const name of ['Product news', 'Offers'])
      topicIds.push((await project.server.post('/topics', { name })).body.id);
    const form = {
      name: 'Newsletter',
      from: `news@${project.senderDomain}`,
      topicIds,
      consentText: 'I agree to get email.',
      consentRequired: true,
      fields: [
        { key: 'plan', label: 'Plan', type: 'SELECT', options: ['free', 'pro'] },
        { key: 'city', label: 'City' },
      ],
    };
    const created = await project.server.post('/forms', form);
    expect(created, JSON.stringify(created.body)).to.have.status(201);
    formId = created.body.id;
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
  });

  const open = async (javaScriptEnabled = true): Promise<Page> => {
    const viewport = { width: PHONE, height: 800 };
    const context = await browser.newContext({ javaScriptEnabled, locale: 'en-US', viewport });
    context.setDefaultTimeout(60_000);
    return context.newPage();
  };
  /** An address gets few confirmations a day, over all projects. */
  const address = () => `ann-${project.id.slice(-8)}@example.com`;
  const page = () => `http://app.test/f/${formId}`;
  const fillIn = async (form: Page, email: string) => {
    await form.getByLabel('Email address').fill(email);
    await form.getByLabel('Plan').selectOption('pro');
    await form.getByLabel('I agree to get email.').check();
  };
  const submissions = () => storedSubmissions(api.db, project.id);
  const statuses = async () => (await submissions()).map(({ status }) => status);
  /** Submits as a server does, and returns the path of the link. */
  const confirmation = async (more: object = {}): Promise<string> => {
    if (Object.keys(more).length > 0) await project.server.patch(`/forms/${formId}`, more);
    const body = { form: formId, email: address(), consent: true };
    expect(await project.server.post('/v1/subscribe', body)).to.have.status(200);
    return pending();
  };
  const pending = async (): Promise<string> => {
    await decideSubmissions(api.db);
    const row = (await submissions()).at(-1);
    expect(row?.status).to.equal('PENDING');
    const links = new MailLinks({ baseUrl: '', secretKeys: [KEY] });
    return links.confirmationLinks({ submissionId: row.id, emailId: row.lastEmailId }).confirmUrl;
  };
  const wait = (form: Page, ms: number) => form.waitForTimeout(ms);

  it('are sent with one click by a person, whose browser then confirms without another', async () => {
    const form = await open();
    await form.goto(page());
    await fillIn(form, address().replace('ann', 'Ann'));
    await wait(form, PATIENCE_MS);
    await form.getByRole('button', { name: 'Subscribe' }).click();
    await form.getByText(formTexts.en.thanksText).waitFor();
    const [row] = await submissions();
    expect(row).to.include({ email: address(), pageUrl: page() });
    expect(row.data).to.deep.equal({ plan: 'pro' });
    expect(row.topicIds).to.have.length(2);
    // The cookie of the hosted page tells that it is the same person.
    await form.goto(`http://app.test${await pending()}`);
    await form.getByText(confirmationTexts.en.confirmed).waitFor();
    expect(await statuses()).to.deep.equal(['CONFIRMED']);
  });

  it('are sent without script after a wait, and confirmed with a button', async () => {
    const form = await open(false);
    await form.goto(page());
    await fillIn(form, address());
    await form.getByRole('button', { name: 'Subscribe' }).click();
    await form.getByText(formTexts.en.waitText).waitFor();
    expect(await submissions()).to.deep.equal([]);
    await wait(form, 5_500);
    await form.getByRole('button', { name: formTexts.en.send }).click();
    await form.getByText(formTexts.en.thanksText).waitFor();
    expect(await statuses()).to.deep.equal(['RECEIVED']);
    await form.goto(`http://app.test${await pending()}`);
    await form.getByRole('button', { name: confirmationTexts.en.confirm }).waitFor();
    expect(await statuses()).to.deep.equal(['PENDING']);
    await form.getByRole('button', { name: confirmationTexts.en.confirm }).click();
    await form.getByText(confirmationTexts.en.confirmed).waitFor();
    expect(await statuses()).to.deep.equal(['CONFIRMED']);
  });

  it('ask for one more button where the browser has filled in the hidden field', async () => {
    const form = await open();
    await form.goto(page());
    await fillIn(form, address());
    await form.evaluate(`document.querySelector('.extra input').value = 'filled in'`);
    await wait(form, PATIENCE_MS);
    await form.getByRole('button', { name: 'Subscribe' }).click();
    await form.getByText(formTexts.en.continueText).waitFor();
    expect(await submissions()).to.deep.equal([]);
    await form.getByRole('button', { name: formTexts.en.send }).click();
    await form.getByText(formTexts.en.thanksText).waitFor();
    expect(await statuses()).to.deep.equal(['RECEIVED']);
  });

  it('show the hidden field to nobody, by sight, keyboard or screen reader', async () => {
    const form = await open();
    await form.goto(page());
    const box = await form.locator('.extra input').boundingBox();
    expect(box === null || box.x + box.width <= 0).to.equal(true);
    expect(await form.locator('.extra input').getAttribute('tabindex')).to.equal('-1');
    expect(await form.getByRole('textbox', { name: 'Leave empty' }).count()).to.equal(0);
  });

  it('do not confirm for a browser that never moves, such as a scanner with scripts', async () => {
    const path = await confirmation();
    const scanner = await open();
    await scanner.goto(`http://app.test${path}`);
    await scanner.getByRole('button', { name: confirmationTexts.en.confirm }).waitFor();
    // Events that a script makes are none of a person.
    await scanner.evaluate(`for (const name of ['pointermove', 'pointerdown', 'keydown', 'touchstart', 'wheel'])
      dispatchEvent(new Event(name, { bubbles: true }))`);
    // Browsers report a pointer at rest, and where a script scrolls.
    await scanner.mouse.move(0, 0);
    await scanner.evaluate(`document.body.style.minHeight = '300vh'; scrollTo(0, 500)`);
    await wait(scanner, 3_000);
    expect(await statuses()).to.deep.equal(['PENDING']);
    expect((await project.server.get('/contacts')).body.data).to.deep.equal([]);
  });

  it('confirm for a person who moves, once', async () => {
    const path = await confirmation();
    const person = await open();
    await person.goto(`http://app.test${path}`);
    await person.mouse.move(100, 100);
    await person.getByText(confirmationTexts.en.confirmed).waitFor();
    expect(await statuses()).to.deep.equal(['CONFIRMED']);
    const consents = (await project.server.get('/consents?action=CONFIRMED')).body.data;
    expect(consents.filter(({ topicId }: { topicId: string | null }) => topicId !== null)).to.have.length(2);
  });

  it('with BUTTON confirm the topics that are checked, and nothing by a movement', async () => {
    const path = await confirmation({ confirm: 'BUTTON' });
    const person = await open();
    await person.goto(`http://app.test${path}`);
    await person.mouse.move(100, 100);
    await person.getByRole('checkbox', { name: 'Offers' }).uncheck();
    expect(await statuses()).to.deep.equal(['PENDING']);
    await person.getByRole('button', { name: confirmationTexts.en.confirm }).click();
    await person.getByText(confirmationTexts.en.confirmed).waitFor();
    const [contact] = (await project.server.get('/contacts')).body.data;
    const { data } = (await project.server.get(`/contacts/${contact.id}/topics`)).body;
    expect(data.map(({ key, state }: { key: string; state: string }) => [key, state])).to.deep.equal([
      ['product-news', 'SUBSCRIBED'],
      ['offers', 'UNSUBSCRIBED'],
    ]);
  });

  it('work inside a page of another site, which the visitor does not leave', async () => {
    const shop = await open();
    const { script } = (await project.server.get(`/forms/${formId}/embed`)).body;
    const body = `<!doctype html><html lang="en"><title>Shop</title><body><h1>Shop</h1>${script}</body></html>`;
    await shop.context().route('http://shop.test/**', (route) => route.fulfill({ contentType: 'text/html', body }));
    await shop.goto('http://shop.test/news');
    await fillIn(shop, address());
    await wait(shop, PATIENCE_MS);
    await shop.getByRole('button', { name: 'Subscribe' }).click();
    await shop.getByText(formTexts.en.thanksText).waitFor();
    expect(shop.url()).to.equal('http://shop.test/news');
    const [row] = await submissions();
    expect(row).to.include({ email: address(), pageUrl: 'http://shop.test/news' });
  });

  it('renew the token of a page that a cache has kept', async () => {
    const form = await open();
    await form.goto(page());
    await fillIn(form, address());
    await form.evaluate(`document.querySelector('[name=_token]').value = 'stale'`);
    await wait(form, PATIENCE_MS);
    await form.getByRole('button', { name: 'Subscribe' }).click();
    await form.getByText(formTexts.en.thanksText).waitFor();
    expect(await statuses()).to.deep.equal(['RECEIVED']);
  });

  for (const language of languages)
    it(`are accessible and fit on a phone in ${language}`, async () => {
      const path = await confirmation();
      const visited = await visit({ url: api.url, width: PHONE, locale: language });
      try {
        for (const at of [`/f/${formId}?lang=${language}`, path, path.replace('/confirm/', '/decline/')]) {
          await visited.page.goto(api.url + at);
          for (const colorScheme of ['light', 'dark'] as const) {
            await visited.page.emulateMedia({ colorScheme });
            const findings = await (colorScheme === 'light' ? axeFindings : axeColorFindings)(visited.page);
            expect(findings, `${at} ${colorScheme}`).to.deep.equal([]);
          }
          const excess = await visited.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
          expect(excess, at).to.be.at.most(0);
        }
        await visited.page.goto(`${api.url}/f/${formId}?lang=${language}`);
        await visited.page.getByRole('button', { name: formTexts[language].submit, exact: true }).waitFor();
      } finally {
        await visited.close();
      }
    });
});
