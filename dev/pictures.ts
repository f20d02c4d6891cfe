// `npm run pictures`: takes the pictures of the documentation from the project "Sample shop" of a running `npm start`.
// Use a stack of its own, since it sends one campaign: `EVERPOST_HOME=/tmp/pictures npm start` in another terminal, then
// `EVERPOST_HOME=/tmp/pictures npm run pictures`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { gallery } from '../platform/mail-document/gallery/index.ts';
import { readSettings } from '../platform/settings.ts';
import { CHROMIUM_ARGS, findChromium } from './chromium.ts';
import { root } from './root.ts';
import type { StackInfo } from './stack/banner.ts';
import { SAMPLE_CAMPAIGN } from './stack/sample-content.ts';

const target = join(root, 'docs/img');
const MAX_BYTES = 120_000;
const MAILS_PER_MINUTE = 240;
/** The campaign is shown when about half of the recipients have their mail. */
const SHOWN_AT = 60;

interface Shop {
  projectId: string;
  url: string;
  cookie: string;
}

interface Named {
  id: string;
  name: string;
  type?: string;
  status: string;
}

async function call<T>({ url, cookie, projectId }: Shop, path: string, body?: object, method = 'POST'): Promise<T> {
  const headers = { cookie, origin: url, 'x-project-id': projectId, 'content-type': 'application/json' };
  const answer = await fetch(url + path, body ? { method, headers, body: JSON.stringify(body) } : { headers });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}

async function signIn({ apiUrl, user }: StackInfo): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${apiUrl}/auth/login`, { method: 'POST', headers, body: JSON.stringify(user) });
  if (!answer.ok) throw new Error(`the demo user cannot sign in: ${answer.status}`);
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** Sends the sample campaign once more, slowly, and returns when it is under way. */
async function startCampaign(shop: Shop, page: Page): Promise<string> {
  const { data: campaigns } = await call<{ data: Named[] }>(shop, '/campaigns?status=SENT');
  const sample = campaigns.find(({ name }) => name === SAMPLE_CAMPAIGN);
  const { id } = await call<Named>(shop, `/campaigns/${sample?.id}/duplicate`, {});
  await call(shop, `/campaigns/${id}`, { ratePerMinute: MAILS_PER_MINUTE }, 'PATCH');
  await call(shop, `/campaigns/${id}/send`, {});
  for (;;) {
    const { sentCount } = await call<{ sentCount: number }>(shop, `/campaigns/${id}`);
    if (sentCount >= SHOWN_AT) return id;
    await page.waitForTimeout(500);
  }
}

async function take(page: Page, name: string, address: string, last = 'h1'): Promise<void> {
  await page.goto(address);
  // The part of the page that appears last.
  await page.locator(last).first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.locator('.placeholder-line').first().waitFor({ state: 'detached' });
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 88 });
  const picture = Buffer.from(data, 'base64');
  if (picture.length > MAX_BYTES) throw new Error(`${name} has ${picture.length} bytes, more than ${MAX_BYTES}`);
  const file = join(target, `${name}.webp`);
  writeFileSync(file, picture);
  console.log(`${file}: ${picture.length} bytes`);
}

async function main(): Promise<void> {
  const home = resolve(root, readSettings(process.env).home);
  const stack = JSON.parse(readFileSync(join(home, 'stack.json'), 'utf8')) as StackInfo;
  const { projectId } = JSON.parse(readFileSync(join(home, 'sample.json'), 'utf8')) as { projectId: string };
  const shop = { projectId, url: stack.apiUrl, cookie: await signIn(stack) };
  const segments = await call<Named[]>(shop, '/segments');
  const { data: mails } = await call<{ data: Named[] }>(shop, '/emails?status=CLICKED&limit=1');
  mkdirSync(target, { recursive: true });
  const browser = await chromium.launch({ executablePath: findChromium(), args: CHROMIUM_ARGS });
  try {
    const options = { viewport: { width: 1200, height: 860 }, locale: 'en-US', reducedMotion: 'reduce' } as const;
    const context = await browser.newContext(options);
    const [name = '', value = ''] = shop.cookie.split('=');
    await context.addCookies([{ name, value, url: shop.url }]);
    const page = await context.newPage();
    const base = `${stack.appUrl}p/${projectId}`;
    await take(page, 'home', base, '.plot');
    await take(
      page,
      'segment',
      `${base}/segments/${segments.find(({ type }) => type === 'DYNAMIC')?.id}`,
      'main a[href*="/contacts/"]',
    );
    await take(page, 'mail', `${base}/emails/${mails[0]?.id}`);
    const newsletter = gallery.find(({ id }) => id === 'newsletter');
    const { id: templateId } = await call<Named>(shop, '/templates', {
      name: 'Newsletter',
      subject: newsletter?.subject.en,
      type: 'MARKETING',
      document: newsletter?.documents.en,
    });
    await take(page, 'editor', `${base}/templates/${templateId}`, '.email-content');
    await take(page, 'brand', `${base}/brand`, 'iframe');
    const campaign = await startCampaign(shop, page);
    await take(page, 'campaign', `${base}/campaigns/${campaign}`, 'main table a');
    await call(shop, `/campaigns/${campaign}/cancel`, {});
  } finally {
    await browser.close();
  }
}

await main();
