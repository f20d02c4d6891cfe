// Images of emails: uploaded, chosen from the library, shown in previews; and what the checks say about them.
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiProject } from '../support/api.ts';
import { describeApp } from '../support/app.ts';
import type { VisitOptions } from '../support/browser.ts';
import { canvas, saved } from '../support/editor.ts';
import { eventually } from '../support/waiting.ts';

const paragraph = (text: string) => ({ type: 'paragraph', content: [{ type: 'text', text }] });
const documentOf = (...content: object[]) => ({ version: 1, content });
/** One red pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==',
  'base64',
);
const file = { name: 'red.png', mimeType: 'image/png', buffer: PNG };

describeApp('images in the visual editor', {}, (app) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await app.project();
  });

  const open = (path: string, as: Partial<VisitOptions> = {}): Promise<Page> =>
    app.open(`/app/p/${project.id}${path}`, { cookie: project.cookie, ...as });
  const createTemplate = async (...content: object[]): Promise<string> => {
    const template = { name: 'Letter', subject: 's', type: 'TRANSACTIONAL', document: documentOf(...content) };
    const answer = await project.server.post('/templates', template);
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body.id;
  };
  const draftOf = async (id: string) => (await project.server.get(`/templates/${id}/draft`)).body.document;
  const chooseFile = async (page: Page, button: Locator) => {
    const chooser = page.waitForEvent('filechooser');
    await button.click();
    await (await chooser).setFiles(file);
  };
  const isShown = (image: Locator) =>
    eventually(() => image.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth > 0), {
      what: 'an image that is loaded',
    });

  it('uploads a logo, which the preview of the brand shows', async () => {
    const page = await open('/brand');
    await chooseFile(page, page.getByRole('button', { name: 'Upload image' }));
    await isShown(page.getByRole('img', { name: 'Logo' }).first());
    await isShown(page.frameLocator('iframe').locator('img[src*="/uploads/"]').first());
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(async () => /\/uploads\//.test((await project.owner.get('/brand-kit')).body.logoUrl));
  });

  it('uploads an image, asks what it shows, and offers it again from the library', async () => {
    const id = await createTemplate(paragraph('Look'));
    const page = await open(`/templates/${id}`);
    const insertImage = async () => {
      await canvas(page).getByText('Look').click();
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await page.keyboard.type('/Image');
      await page.getByRole('listbox', { name: 'Add block' }).getByRole('option', { name: 'Image' }).first().waitFor();
      await page.keyboard.press('Enter');
    };
    await insertImage();
    const dialog = page.getByRole('dialog');
    await chooseFile(page, dialog.getByRole('button', { name: 'Upload image' }));
    await dialog.getByLabel('Alternative text').fill('A red dot');
    await dialog.getByRole('button', { name: 'Insert' }).click();
    await isShown(canvas(page).locator('img').first());

    await insertImage();
    await dialog.getByRole('group', { name: 'Uploaded images' }).getByRole('button').first().click();
    await dialog.getByLabel('Alternative text').fill('Another one');
    await dialog.getByRole('button', { name: 'Insert' }).click();
    await eventually(async () => {
      const images = (await draftOf(id)).content.filter(({ type }: { type: string }) => type === 'image');
      const texts = images.map(({ attrs }: { attrs: { alt: string } }) => attrs.alt);
      return texts.length === 2 && texts.includes('A red dot') && texts.includes('Another one');
    });
    await saved(page);
    await page.getByText('Preview', { exact: true }).click();
    await isShown(page.frameLocator('iframe').locator('img[alt="A red dot"]'));
  });

  it('says what is wrong with an email in the language of the user', async () => {
    const image = { type: 'image', attrs: { src: 'http://images.example/a.png' } };
    const id = await createTemplate(paragraph('{{plan}}'), image);
    const expected = /foreign request|ERR_|Mixed Content|Content Security Policy|violates/;
    const page = await open(`/templates/${id}`, { locale: 'de-DE', expected });
    await page.getByRole('textbox', { name: 'Inhalt der E-Mail' }).waitFor();
    await page.getByText('Vorschau', { exact: true }).click();
    const warnings = page.getByRole('region', { name: 'Sehen Sie sich an' });
    await warnings.getByText('Ein Bild hat keinen Alternativtext.').waitFor();
    await warnings.getByText('Kein Kontakt hat das Feld „plan“.').waitFor();
  });

  it('shows an email to a reader with a dark colour scheme', async () => {
    const id = await createTemplate(paragraph('In the evening'));
    const page = await open(`/templates/${id}`);
    await canvas(page).waitFor();
    await page.getByText('Preview', { exact: true }).click();
    // The visit chooses a colour scheme for every frame otherwise.
    await page.emulateMedia({ colorScheme: null });
    const background = () =>
      page
        .frameLocator('iframe')
        .locator('.ep-surface')
        .first()
        .evaluate((element) => element.ownerDocument.defaultView?.getComputedStyle(element).backgroundColor);
    const light = await background();
    await page.getByRole('radiogroup', { name: 'Color scheme of the reader' }).getByText('Dark').click();
    await eventually(async () => (await background()) !== light, { what: 'the dark colours' });
  });
});
