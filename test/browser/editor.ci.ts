// Drafts, conflicts, conversion and the look of the visual editor on the pages of templates.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { gallery } from '../../platform/mail-document/gallery/index.ts';
import type { ApiProject } from '../support/api.ts';
import { describeApp } from '../support/app.ts';
import { noticed, type VisitOptions } from '../support/browser.ts';
import { canvas, press, saved } from '../support/editor.ts';
import { eventually } from '../support/waiting.ts';
import { keyboardFaults, lookFaults, settled } from './page-checks.ts';

const text = (value: string) => ({ type: 'text', text: value });
const paragraph = (value: string) => ({ type: 'paragraph', content: [text(value)] });
const documentOf = (...content: object[]) => ({ version: 1, lang: 'en', content });

describeApp('the visual editor of templates', {}, (app) => {
  let project: ApiProject;

  before(async () => {
    project = await app.project();
  });

  const open = (path: string, as: Partial<VisitOptions> = {}): Promise<Page> =>
    app.open(`/app/p/${project.id}${path}`, { cookie: project.cookie, ...as });
  const create = async (content: object, name = 'Letter'): Promise<string> => {
    const template = { name, subject: 'Hello', type: 'TRANSACTIONAL', ...content };
    const answer = await project.server.post('/templates', template);
    expect(answer).to.have.status(201);
    return answer.body.id;
  };
  const edit = async (id: string, as: Partial<VisitOptions> = {}): Promise<Page> => {
    const page = await open(`/templates/${id}`, as);
    await canvas(page).waitFor();
    return page;
  };
  const draftOf = async (id: string) => (await project.server.get(`/templates/${id}/draft`)).body;
  const templateOf = async (id: string) => (await project.server.get(`/templates/${id}`)).body;
  const textOf = (content: unknown): string => JSON.stringify(content);
  /** Types at the end of the first paragraph. */
  const append = async (page: Page, words: string) => {
    await canvas(page).locator('p').first().click();
    await press(page, 'End', `'${words}'`);
  };

  it('starts from a design of the gallery in the brand of the project', async () => {
    const page = await open('/templates/new');
    const frame = page.frameLocator('iframe').first();
    await frame.locator('h1').first().waitFor();
    await page.getByRole('button', { name: 'Welcome', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('First steps');
    await dialog.getByRole('button', { name: 'Create template' }).click();
    await canvas(page).getByText('Complete your profile.').waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const { editor, subject, body } = await templateOf(id);
    expect([editor, subject]).to.deep.equal(['VISUAL', 'Welcome aboard']);
    expect(body).to.contain('Get started');
  });

  it('shows the whole menu of blocks after a slash at the end of an email', async () => {
    const lines = Array.from({ length: 12 }, (_, line) => paragraph(`Line ${line + 1}.`));
    const page = await edit(await create({ document: documentOf(...lines) }));
    await canvas(page).getByText('Line 12.').click();
    await press(page, 'End', "' /'");
    // A part that is cut off cannot be clicked.
    await page.getByRole('option', { name: 'Insert variable' }).click({ trial: true });
    await page.getByRole('option', { name: 'Button' }).click();
    await canvas(page).getByText('Read more').waitFor();
  });

  it('starts with HTML, which stays a first-class editor', async () => {
    const page = await open('/templates/new');
    await page.getByRole('button', { name: 'HTML', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('By hand');
    await dialog.getByLabel('Subject').fill('Hand-made');
    await dialog.getByRole('button', { name: 'Create template' }).click();
    const code = page.getByRole('textbox', { name: 'Body (HTML)' });
    await code.click();
    await press(page, 'Control+a', "'<p>Mine</p>'");
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await eventually(async () => (await draftOf(id)).body.includes('Mine'));
    await saved(page);
    await page.frameLocator('iframe.mail-frame').getByText('Mine').waitFor();
  });

  it('saves to the draft, which a reload shows, and keeps the template until it is published', async () => {
    const id = await create({ document: documentOf(paragraph('Live text')) });
    const page = await edit(id);
    await append(page, ' and draft');
    await page.getByText('Not published').waitFor();
    await eventually(async () => textOf((await draftOf(id)).document).includes('Live text and draft'));
    expect((await templateOf(id)).body).not.to.contain('and draft');
    await page.reload();
    await canvas(page).getByText('Live text and draft').waitFor();

    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Discard draft' }).click();
    await noticed(page, 'The draft is discarded.', () =>
      page.getByRole('dialog').getByRole('button', { name: 'Discard draft' }).click(),
    );
    await canvas(page).getByText('Live text', { exact: true }).waitFor();
    expect((await draftOf(id)).changed).to.equal(false);
  });

  it('keeps what was written while the server cannot be reached, and saves it then', async () => {
    const id = await create({ document: documentOf(paragraph('Before')) });
    const page = await edit(id, { expected: /ERR_INTERNET_DISCONNECTED|Failed to load resource/ });
    await page.context().setOffline(true);
    await append(page, ' the storm');
    await page.locator('[data-save=unreachable]').waitFor();
    await page.getByText('Offline: your text is kept in this browser').waitFor();
    await page.context().setOffline(false);
    await eventually(async () => textOf((await draftOf(id)).document).includes('Before the storm'));
    await saved(page);
  });

  it('shows what an earlier visit could not save', async () => {
    const id = await create({ document: documentOf(paragraph('Before')) });
    const visit = await app.visit(`/app/p/${project.id}/templates/${id}`, {
      cookie: project.cookie,
      expected: /Failed to load resource/,
    });
    const { page, context } = visit;
    await canvas(page).waitFor();
    await context.route(`**/templates/${id}/draft`, (route) =>
      route.request().method() === 'PUT' ? route.abort() : route.continue(),
    );
    await append(page, ' the storm');
    await page.locator('[data-save=unreachable]').waitFor();
    await page.close();
    await context.unroute(`**/templates/${id}/draft`);
    const again = await context.newPage();
    await again.goto(`${app.url}/app/p/${project.id}/templates/${id}`);
    await canvas(again).getByText('Before the storm').waitFor();
    await eventually(async () => textOf((await draftOf(id)).document).includes('Before the storm'));
  });

  it('compares both versions after a stale revision, and keeps the chosen one', async () => {
    const id = await create({ document: documentOf(paragraph('Start')) });
    const conflict = async (mine: string, theirs: string): Promise<Page> => {
      const page = await edit(id, { expected: /status of 409/ });
      const { revision: expectedRevision } = await draftOf(id);
      const document = documentOf(paragraph(theirs));
      expect(await project.owner.put(`/templates/${id}/draft`, { document, expectedRevision })).to.have.status(200);
      await append(page, mine);
      const dialog = page.getByRole('dialog', { name: 'Two versions of this email' });
      await dialog.getByRole('region', { name: 'Your version' }).frameLocator('iframe').getByText(mine).waitFor();
      await dialog
        .getByRole('region', { name: 'The saved version' })
        .frameLocator('iframe')
        .getByText(theirs)
        .waitFor();
      return page;
    };
    const first = await conflict(' of mine', 'Start of theirs');
    // Nothing is lost before the choice.
    await first.getByRole('button', { name: 'Decide later' }).click();
    await first.locator('[data-save=conflict]').waitFor();
    await first.reload();
    await first.getByRole('button', { name: 'Keep my version' }).click();
    await eventually(async () => textOf((await draftOf(id)).document).includes('Start of mine'));
    await saved(first);

    const second = await conflict(' again', 'Other words');
    await second.getByRole('button', { name: 'Use the saved version' }).click();
    await canvas(second).getByText('Other words').waitFor();
    await saved(second);
    expect(textOf((await draftOf(id)).document)).to.contain('Other words');
  });

  it('is no conflict when only the settings were changed', async () => {
    const id = await create({ document: documentOf(paragraph('Start')) });
    const page = await edit(id, { expected: /status of 409/ });
    expect(await project.server.patch(`/templates/${id}`, { description: 'New' })).to.have.status(200);
    await append(page, ' and on');
    await eventually(async () => textOf((await draftOf(id)).document).includes('Start and on'));
    await saved(page);
    expect(await page.getByRole('dialog').count()).to.equal(0);
  });

  it('says in a second tab that the template is open in another one, until that is closed', async () => {
    const id = await create({ document: documentOf(paragraph('Once')) });
    const first = await edit(id);
    const second = await first.context().newPage();
    await second.goto(first.url());
    await second.getByText('Open in another tab').waitFor();
    expect(await first.getByText('Open in another tab').count()).to.equal(0);
    await first.close();
    await second.getByText('Open in another tab').waitFor({ state: 'detached' });
  });

  it('says that the API has replaced the blocks by HTML, and brings them back', async () => {
    const id = await create({ document: documentOf(paragraph('In blocks')) });
    const { document: original } = await templateOf(id);
    expect(await project.server.patch(`/templates/${id}`, { body: '<p>In code</p>' })).to.have.status(200);
    const page = await open(`/templates/${id}`);
    await page.getByText('This template was changed through the API').waitFor();
    await page.getByRole('alert').getByRole('button', { name: 'Restore version 1' }).click();
    await noticed(page, 'Version 1 is restored.', () =>
      page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click(),
    );
    await canvas(page).getByText('In blocks').waitFor();
    expect((await templateOf(id)).document).to.deep.equal(original);
  });

  it('reports what a conversion loses, converts, and leads back through the versions', async () => {
    const body =
      '<style>p { color: red }</style><h1>News</h1><p style="margin:0">Hi {{firstName ?? "there"}}, <b>read</b> ' +
      '<a href="https://example.com/on">on</a></p><img src="https://example.com/a.png" alt="A"><form><input></form>';
    const id = await create({ body });
    const page = await open(`/templates/${id}`, { expected: /foreign request: https:\/\/example\.com|ERR_/ });
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Convert to visual' }).click();
    const losses = page.getByRole('dialog').getByRole('region', { name: 'What is lost' });
    for (const loss of ['1 style sheet', 'The styles of 1 element', '2 form fields'])
      await losses.getByText(loss).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Convert', exact: true }).click();
    await canvas(page).getByText('News').waitFor();
    await eventually(async () => (await draftOf(id)).document !== null);
    const { document } = await draftOf(id);
    expect(document.content.map(({ type }: { type: string }) => type)).to.deep.equal(['heading', 'paragraph', 'image']);
    const [, { content }] = document.content;
    expect(content[1]).to.deep.include({
      type: 'variable',
      attrs: { name: 'firstName', fallback: 'there', format: null },
    });
    expect(content.at(-1).marks).to.deep.equal([{ type: 'link', attrs: { href: 'https://example.com/on' } }]);

    // Back to HTML is the code of the email that the API renders.
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Convert to HTML' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Convert to HTML' }).click();
    await eventually(async () => (await draftOf(id)).document === null);
    expect((await draftOf(id)).body).to.contain('role="presentation"');
    await page.getByRole('button', { name: 'Restore version 1' }).click();
    await noticed(page, 'Version 1 is restored.', () =>
      page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click(),
    );
    expect((await templateOf(id)).body).to.equal(body);
    expect((await draftOf(id)).changed).to.equal(false);
  });

  it('keeps template code and layout tables as one block of HTML unless the user insists', async () => {
    const body = '{% if plan == "pro" %}<p>For pros</p>{% endif %}<table><tr><td>Left</td><td>Right</td></tr></table>';
    const id = await create({ body });
    const page = await open(`/templates/${id}`);
    const convert = async (insist: boolean) => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Convert to visual' }).click();
      const dialog = page.getByRole('dialog');
      if (insist) await dialog.getByLabel('Convert to blocks anyway').check();
      await dialog.getByRole('button', { name: 'Convert', exact: true }).click();
      await canvas(page).waitFor();
      await eventually(async () => (await draftOf(id)).document !== null);
      return (await draftOf(id)).document.content;
    };
    const [kept, ...others] = await convert(false);
    expect([kept.type, others.length]).to.deep.equal(['html', 0]);
    expect(kept.attrs.html).to.contain('{% if plan == "pro" %}').and.contain('<td>Left</td>');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Discard draft' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard draft' }).click();
    await page.getByRole('textbox', { name: 'Body (HTML)' }).waitFor();
    const blocks = await convert(true);
    expect(blocks.map(({ type }: { type: string }) => type)).to.deep.equal(['paragraph', 'columns']);
  });

  it('leads from a warning and from a refused address to the block', async () => {
    const image = { type: 'image', attrs: { src: `${app.url}/uploads/none.png`, alt: '' } };
    const id = await create({ document: documentOf(paragraph('Look'), image) });
    const page = await edit(id, { expected: /status of 404/ });
    await page.getByText('Preview', { exact: true }).click();
    const warnings = page.getByRole('region', { name: 'Worth a look' });
    await warnings.getByText('Warning').first().waitFor();
    await warnings
      .getByRole('listitem')
      .filter({ hasText: 'alternative text' })
      .getByRole('button', { name: 'Show' })
      .click();
    await page.locator('.block-image.ProseMirror-selectednode').waitFor();
  });

  it('names the errors that keep a draft from being published', async () => {
    const id = await create({ body: '<p>Fine</p>' });
    const page = await open(`/templates/${id}`);
    await page.getByRole('textbox', { name: 'Body (HTML)' }).click();
    await press(page, 'Control+a', "'<p>{% if x</p>'");
    await page.getByRole('button', { name: 'Publish' }).click();
    const dialog = page.getByRole('dialog', { name: 'This draft cannot be published yet' });
    await dialog.getByText(/Body, line 1, column/).waitFor();
    expect((await templateOf(id)).body).to.equal('<p>Fine</p>');
  });

  for (const width of [375, 600, 1280])
    it(`fits into ${width} pixels, with axe and by keyboard, in light and dark`, async () => {
      const id = await create({ document: gallery.find(({ id }) => id === 'newsletter')?.documents.de });
      const page = await open(`/templates/${id}`, { width, locale: 'de-DE' });
      await page.getByRole('textbox', { name: 'Inhalt der E-Mail' }).waitFor();
      await settled(page);
      expect(await lookFaults(page)).to.deep.equal([]);
      expect(await keyboardFaults(page)).to.deep.equal([]);
      if (width > 600) return;
      await page.getByRole('button', { name: 'Einstellungen des Blocks' }).click();
      await page.getByRole('dialog').waitFor();
      expect(await lookFaults(page)).to.deep.equal([]);
    });
});
