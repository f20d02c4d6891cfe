// What must be true of every page: layout, axe, and the keyboard.
import type { Page } from 'playwright-core';
import { axeColorFindings, axeFindings } from '../support/browser.ts';

export const PHONE = 375;
export const DESKTOP = 1280;

/** Checks a page that was loaded on a phone, and widens it there: loading it again would cost as much as a check. */
export async function faultsAtBothWidths(page: Page, { keyboard }: { keyboard: boolean }): Promise<string[]> {
  await settled(page);
  const narrow = await lookFaults(page);
  await page.setViewportSize({ width: DESKTOP, height: 860 });
  await settled(page);
  const wide = [...(await lookFaults(page)), ...(keyboard ? await keyboardFaults(page) : [])];
  return [...narrow.map((fault) => `at ${PHONE} px: ${fault}`), ...wide.map((fault) => `at ${DESKTOP} px: ${fault}`)];
}

/** Waits until the page has its heading and nothing is loading any more. */
export async function settled(page: Page): Promise<void> {
  // A busy machine takes many seconds to render a preview.
  page.setDefaultTimeout(60_000);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.waitForLoadState('networkidle');
  await complete(page);
}

/** A transition would show a color between two. A policy may forbid style elements, but not these. */
const STOP_TRANSITIONS = `{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('*, ::before, ::after { transition: none !important }');
  document.adoptedStyleSheets.push(sheet);
}`;

/** Waits until the page itself is loaded; requests may still be under way. */
export async function complete(page: Page): Promise<void> {
  await page.evaluate(STOP_TRANSITIONS);
  await page.locator('.placeholder-line').first().waitFor({ state: 'detached' });
}

/** Everything in light; in dark what colours can change. */
export async function lookFaults(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const find = colorScheme === 'light' ? axeFindings : axeColorFindings;
    const found = [...(await layoutFaults(page)), ...(await find(page))];
    faults.push(...found.map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}

export async function layoutFaults(page: Page): Promise<string[]> {
  const [excess, mains, headings] = await page.evaluate<[number, number, number]>(
    `[document.documentElement.scrollWidth - innerWidth, document.querySelectorAll('main').length, document.querySelectorAll('h1').length]`,
  );
  return [
    ...(excess > 0 ? [`scrolls sideways by ${excess} px: ${await page.evaluate<string>(WIDEST)}`] : []),
    ...(mains === 1 ? [] : [`has ${mains} main elements`]),
    ...(headings === 1 ? [] : [`has ${headings} h1 elements`]),
  ];
}

/** Names the innermost elements that reach furthest beyond the edge. */
const WIDEST = `(() => {
  const right = (element) => element.getBoundingClientRect().right;
  const beyond = [...document.querySelectorAll('body *')].filter((element) => right(element) > innerWidth);
  const innermost = beyond.filter((element) => !beyond.some((other) => element !== other && element.contains(other)));
  const furthest = innermost.sort((a, b) => right(b) - right(a)).slice(0, 3);
  return furthest.map((element) => element.tagName + ' ' + element.textContent.slice(0, 60)).join(', ');
})()`;

// Scripts are texts, because the tests are compiled without the types of a browser.
const COLLECT = `(() => {
  // Tab starts at the top, also where a field has the focus from the start.
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
  const look = (element) => {
    const parts = [element, element.parentElement, element.closest('[data-variant], .editor-box, .chip-field, label')].filter(Boolean);
    return parts.map((part) => {
      const style = getComputedStyle(part);
      return [style.outline, style.boxShadow, style.borderColor, style.backgroundColor, style.transform].join();
    }).join();
  };
  const nameOf = (element) => {
    const label = element.getAttribute('aria-label') ?? (element.labels?.[0]?.textContent || element.textContent);
    return element.tagName.toLowerCase() + ' "' + (label ?? '').trim().slice(0, 60) + '"';
  };
  const isRadio = (element) => element.type === 'radio' && !element.checked;
  const stops = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [contenteditable=true], [tabindex]')]
    .filter((element) => element.tabIndex >= 0 && !element.disabled && element.checkVisibility({ visibilityProperty: true }))
    .filter((element) => !isRadio(element));
  self.keyboard = { look, nameOf, stops, looks: new Map(stops.map((stop) => [stop, look(stop)])), reached: new Set() };
  const clickable = [...document.querySelectorAll('main *')].filter((element) =>
    getComputedStyle(element).cursor === 'pointer' &&
    !element.closest('a[href], button, input, select, textarea, summary, label, [tabindex], [role=tab], [role=option]'));
  return { count: stops.length, mouseOnly: clickable.slice(0, 5).map(nameOf) };
})()`;

const STEP = `(() => {
  const { look, nameOf, looks, reached } = self.keyboard;
  const element = document.activeElement;
  if (!element || element === document.body) return { left: true };
  if (element.tagName === 'IFRAME') return {};
  // A field for a date has several places, one after the other.
  const again = reached.has(element) && element !== self.keyboard.last;
  self.keyboard.last = element;
  reached.add(element);
  return { again, hidden: looks.has(element) && looks.get(element) === look(element) ? nameOf(element) : undefined };
})()`;

const MISSED = `self.keyboard.stops.filter((stop) => stop.isConnected && !self.keyboard.reached.has(stop)).map(self.keyboard.nameOf)`;

/** Walks through the page with the Tab key: it reaches every control, shows where it is, and gets out again. */
export async function keyboardFaults(page: Page): Promise<string[]> {
  const { count, mouseOnly } = await page.evaluate<{ count: number; mouseOnly: string[] }>(COLLECT);
  const faults = mouseOnly.map((name) => `${name} can be clicked, but not reached with the keyboard`);
  const hidden = new Set<string>();
  let left = false;
  // Some controls open lists and the like when they get the focus, so a few more steps are allowed.
  for (let n = 0; n < count + 30 && !left; n++) {
    await page.keyboard.press('Tab');
    const step = await page.evaluate<{ left?: boolean; again?: boolean; hidden?: string }>(STEP);
    if (step.hidden) hidden.add(step.hidden);
    left = step.left === true || step.again === true;
  }
  if (!left) faults.push(`the focus does not leave the page after ${count + 30} steps`);
  faults.push(...[...hidden].map((name) => `${name} does not show that it has the focus`));
  const missed = await page.evaluate<string[]>(MISSED);
  faults.push(...missed.slice(0, 5).map((name) => `the keyboard does not reach ${name}`));
  return faults;
}
