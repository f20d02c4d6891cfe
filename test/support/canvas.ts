// What the tests of the canvas do with it, by mouse and by keyboard.
import type { Locator, Page } from 'playwright-core';

const named = (page: Page, name: string): Locator => page.locator('.step-name', { hasText: new RegExp(`^${name}$`) });

/** The card of a step; the last one where several have the name. */
export const card = (page: Page, name: string): Locator =>
  page
    .locator('.react-flow__node')
    .filter({ has: named(page, name) })
    .last();

export const panel = (page: Page): Locator => page.getByRole('region', { name: 'Details' });

/** Clicks a button that adds a step, and chooses the type. */
export async function addStep(page: Page, button: string, type: string): Promise<void> {
  await page.locator('.workflow-graph').getByRole('button', { name: button, exact: true }).click();
  await panel(page).getByRole('button', { name: type, exact: true }).click();
  await panel(page).getByLabel('Name of the step').waitFor();
}

export const saved = (page: Page): Promise<void> => page.locator('[data-save=saved]').waitFor();

export const fitView = (page: Page): Promise<void> => page.locator('.react-flow__controls-fitview').click();

/** Drags from an exit of a step to another step. */
export async function drag(page: Page, from: { step: string; exit: string }, to: string): Promise<void> {
  const start = await centerOf(card(page, from.step).locator(`[data-handleid="${from.exit}"]`));
  const end = await centerOf(card(page, to).locator('.react-flow__handle-top'));
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move((start.x + end.x) / 2, (start.y + end.y) / 2, { steps: 4 });
  await page.mouse.move(end.x, end.y, { steps: 4 });
  await page.mouse.up();
}

async function centerOf(locator: Locator): Promise<{ x: number; y: number }> {
  const box = await locator.boundingBox();
  if (!box) throw new Error(`not drawn: ${locator}`);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Presses keys one after the other. A text in quotes is typed. */
export async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys)
    if (key.startsWith("'")) await page.keyboard.type(key.slice(1, -1));
    else await page.keyboard.press(key);
}

/** Waits until a step of that name has the focus. */
export const focusOn = (page: Page, name: string): Promise<void> =>
  page
    .locator('.react-flow__node:focus')
    .filter({ has: named(page, name) })
    .waitFor();

/** Adds a step by the keyboard after the one that has the focus. */
export async function typeStep(page: Page, type: string, name = type): Promise<void> {
  await press(page, 'a');
  await panel(page).getByLabel('Which step?').waitFor();
  await press(page, `'${type}'`, 'Enter');
  await focusOn(page, name);
}

/** Publishes the draft from the open canvas. */
export async function publish(page: Page, submit = true): Promise<Locator> {
  await saved(page);
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Publish now' }).waitFor();
  if (submit) await dialog.getByRole('button', { name: 'Publish now' }).click();
  return dialog;
}
