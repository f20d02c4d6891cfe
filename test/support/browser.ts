// Chromium for the tests of the web application. Whatever the browser complains about fails the test.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type ConsoleMessage,
  chromium,
  type Page,
  type Request,
} from 'playwright-core';
import { CHROMIUM_ARGS, findChromium } from '../../dev/chromium.ts';
import { toStderr } from '../../dev/report.ts';
import { webAppDir } from '../../dev/web-app.ts';
import { atEndOfRun } from './cleanup.ts';
import { eventually } from './waiting.ts';

/** The settings that let an API serve the built application. */
export const webAppEnv = async (): Promise<Record<string, string>> => ({ WEB_APP_DIR: await webAppDir(toStderr) });

let browser: Promise<Browser> | undefined;

/** One browser for all tests; each test has its own context, with its own cookies. */
export function sharedBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: findChromium(), args: CHROMIUM_ARGS }).then((launched) => {
    atEndOfRun(() => launched.close());
    return launched;
  });
  return browser;
}

export interface Visit {
  page: Page;
  context: BrowserContext;
  /** What the browser complained about: errors in the console, violations of the policy, requests to other hosts. */
  complaints: string[];
  close(): Promise<void>;
  /** Saves what the page looks like, and returns the path. */
  picture(): Promise<string>;
}

export interface VisitOptions {
  url: string;
  /** `name=value` of a session. */
  cookie?: string;
  width?: number;
  colorScheme?: 'light' | 'dark';
  /** Of the browser; English by default. */
  locale?: string;
  /** Answers that the test provokes; the browser logs them as errors. */
  expected?: RegExp;
}

export async function visit(options: VisitOptions): Promise<Visit> {
  const { url, cookie, width = 1280, colorScheme = 'light', locale = 'en-US', expected } = options;
  const context = await (await sharedBrowser()).newContext({
    viewport: { width, height: 860 },
    colorScheme,
    reducedMotion: 'reduce',
    locale,
  });
  context.setDefaultTimeout(60_000);
  const [name = '', value = ''] = cookie?.split('=') ?? [];
  if (cookie) await context.addCookies([{ name, value, url }]);
  const page = await context.newPage();
  const complaints: string[] = [];
  const complain = (text: string) => {
    if (!expected?.test(text)) complaints.push(text);
  };
  page.on('console', (message: ConsoleMessage) => {
    if (message.type() === 'error') complain(`${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => complain(`uncaught: ${error.message}`));
  page.on('dialog', (dialog) => {
    complain(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const { origin } = new URL(url);
  page.on('request', (request: Request) => {
    const target = new URL(request.url());
    if (target.protocol.startsWith('http') && target.origin !== origin) complain(`foreign request: ${request.url()}`);
  });
  const picture = async () => {
    const path = join(tmpdir(), `everpost-${randomUUID()}.png`);
    await page.screenshot({ path, fullPage: true });
    return `${path} (${page.url()})`;
  };
  return { page, context, complaints, close: () => context.close(), picture };
}

const WATCH_NOTICES = `
  if (!self.notices)
    new MutationObserver((changes) => {
      const added = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter(({ nodeType }) => nodeType === 1);
      for (const element of added)
        for (const notice of [element, ...element.querySelectorAll('*')])
          if (notice.matches('.mantine-Notification-root')) self.notices.push(notice.textContent);
    }).observe(document, { childList: true, subtree: true });
  self.notices = [];`;

/**
 * Waits for a message that an act causes. Messages vanish after four seconds, which a busy machine may take to look for one,
 * so the page keeps their texts.
 */
export async function noticed(page: Page, text: string, act: () => Promise<unknown>): Promise<void> {
  await page.evaluate(WATCH_NOTICES);
  await act();
  const isThere = `self.notices.some((notice) => notice.includes(${JSON.stringify(text)}))`;
  await eventually(() => page.evaluate<boolean>(isThere), { what: `the message "${text}"` });
}

const require = createRequire(import.meta.url);
let axeSource: string | undefined;

interface AxeResults {
  violations: { id: string; help: string; nodes: { target: unknown[]; failureSummary?: string }[] }[];
}

/** No rule that runs reads the style sheets, which axe would fetch and parse each time. */
const preload = { assets: ['media'] };
// The tests are compiled without the types of a browser, so its scripts are texts. Mail in frames is not ours.
const axeRun = (runOnly: object): string =>
  `axe.run({ exclude: [['iframe']] }, ${JSON.stringify({ runOnly, preload, resultTypes: ['violations'] })})`;
const AA = axeRun(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']);
const COLORS = axeRun({ type: 'rule', values: ['color-contrast', 'link-in-text-block'] });

/** Returns the findings of axe against WCAG 2.2 AA, each with the elements that it is about. */
export const axeFindings = (page: Page): Promise<string[]> => findings(page, AA);

/** Returns only what depends on colours. */
export const axeColorFindings = (page: Page): Promise<string[]> => findings(page, COLORS);

async function findings(page: Page, script: string): Promise<string[]> {
  axeSource ??= readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  if (!(await page.evaluate<boolean>(`'axe' in self`))) await page.evaluate(axeSource);
  const { violations } = await page.evaluate<AxeResults>(script);
  return violations.map(({ id, help, nodes }) => {
    const places = nodes
      .slice(0, 4)
      .map(
        ({ target, failureSummary = '' }) =>
          `${target.join(' ')} (${failureSummary.replace(/\s+/g, ' ').slice(0, 180)})`,
      );
    return `${id}: ${help}: ${places.join('; ')}`;
  });
}
