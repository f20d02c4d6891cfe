import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { root } from '../../dev/root.ts';
import { renderMail } from '../../platform/templates/mail.ts';
import { sharedBrowser } from '../support/browser.ts';

const folder = join(root, 'test/unit/mail-document/golden');
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const long = 'Donaudampfschifffahrt and a good deal more text that has to wrap somewhere';
const data = {
  firstName: long,
  order: { number: '1', total: '12.5', items: [{ name: long, price: 1234.5 }] },
  items: [{ name: long }],
  picture: 'https://example.com/p.png',
};

/** What a recipient gets, in the language of the file. */
function mailOf(file: string): string {
  const html = readFileSync(join(folder, file), 'utf8');
  const variables: Record<string, unknown> = Object.assign(Object.create(null), data, { data });
  return renderMail({ subject: '', html }, '', variables).html;
}

/** Pixels that the content is wider than the window. */
const overflow = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');

/** Where the columns begin at the left, in their order. */
const columnStarts = (page: Page) =>
  page.evaluate<number[]>(
    "[...document.querySelectorAll('.ep-col')].map((column) => Math.round(column.getBoundingClientRect().left))",
  );

describe('emails of the editor in a browser', () => {
  for (const [width, colorScheme] of [
    [375, 'light'],
    [600, 'dark'],
    [1280, 'light'],
  ] as const)
    it(`need no sideways scrolling at ${width} pixels, ${colorScheme}`, async () => {
      const context = await (await sharedBrowser()).newContext({ viewport: { width, height: 800 }, colorScheme });
      try {
        await context.route('**/*', (route) => route.fulfill({ contentType: 'image/png', body: PIXEL }));
        const page = await context.newPage();
        const wide: string[] = [];
        for (const file of readdirSync(folder)) {
          await page.setContent(mailOf(file));
          if ((await overflow(page)) > 0) wide.push(file);
        }
        expect(wide).to.deep.equal([]);
        await page.setContent(mailOf('block-columns.html'));
        const [left = 0, right = 0, first = 0, second = 0, third = 0] = await columnStarts(page);
        if (width < 480) expect([right, second, third]).to.deep.equal([left, first, first]);
        else expect([left < right, first < second, second < third]).to.deep.equal([true, true, true]);
        const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
        expect(background).to.equal(colorScheme === 'dark' ? 'rgb(15, 17, 22)' : 'rgb(244, 245, 249)');
      } finally {
        await context.close();
      }
    });
});
