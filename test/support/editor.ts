// What the tests of the visual editor do with it.
import type { Locator, Page } from 'playwright-core';

/** The text of the email; it is there when the editor is ready. */
export const canvas = (page: Page): Locator => page.getByRole('textbox', { name: 'Content of the email' });

export const saved = (page: Page): Promise<void> => page.locator('[data-save=saved]').waitFor();

/** Presses keys one after the other. A text in quotes is typed. */
export async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys)
    if (key.startsWith("'")) await page.keyboard.type(key.slice(1, -1));
    else await page.keyboard.press(key);
}

const FOCUSED = `(() => {
  const element = document.activeElement;
  const label = element?.getAttribute('aria-label') ?? (element?.labels?.[0]?.textContent || element?.textContent);
  return (label ?? '').replace(/\\s*\\*$/, '').trim();
})()`;

/** Presses Tab until a control of that name has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < 150; step++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<string>(FOCUSED);
    if (focused === name) return;
    passed.push(focused.slice(0, 30));
  }
  throw new Error(`Tab does not reach ${name}: ${passed.join(', ')}`);
}

/** Chooses a block after a slash. */
export async function insertBlock(page: Page, name: string): Promise<void> {
  await page.keyboard.type(`/${name}`);
  await page.getByRole('listbox', { name: 'Add block' }).getByRole('option', { name }).first().waitFor();
  await page.keyboard.press('Enter');
  await drawn(page);
}

/** Waits until the browser has drawn twice: the editor sets its focus and reads the selection between two pictures. */
export const drawn = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))');
