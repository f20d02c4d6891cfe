// The path that most emails take through the visual editor; the others are in editor.ci.ts.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { ApiProject } from '../support/api.ts';
import { describeApp } from '../support/app.ts';
import { axeFindings, noticed } from '../support/browser.ts';
import { canvas, drawn, insertBlock, press, saved, tabTo } from '../support/editor.ts';
import { eventually } from '../support/waiting.ts';

describeApp('the visual editor', {}, (app) => {
  let project: ApiProject;

  before(async () => {
    project = await app.project();
  });

  const open = (path: string): Promise<Page> => app.open(`/app/p/${project.id}${path}`, { cookie: project.cookie });

  it('writes and publishes a whole email with the keyboard only', async () => {
    const page = await open('/templates/new');
    await page.getByRole('button', { name: 'Blank', exact: true }).waitFor();
    await tabTo(page, 'Blank');
    await press(page, 'Enter');
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    await press(page, "'Autumn letter'", 'Tab', "'News of autumn'");
    await tabTo(page, 'Create template');
    await press(page, 'Enter');
    await canvas(page).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1);

    await tabTo(page, 'Preheader');
    await press(page, "'For {{firstName}}'");
    await tabTo(page, 'Content of the email');
    await insertBlock(page, 'Heading');
    await press(page, "'Hello {{firstName}}'", 'Enter');
    await press(page, "'The leaves are '", 'Control+b', "'red'", 'Control+b', "'.'", 'Enter');
    await insertBlock(page, 'Button');
    await press(page, 'End');
    await drawn(page);
    await press(page, "' of it'");
    const draft = async () => (await project.server.get(`/templates/${id}/draft`)).body;
    await eventually(async () => JSON.stringify((await draft()).document).includes('Read more of it'));
    await saved(page);
    expect(await axeFindings(page)).to.deep.equal([]);

    await tabTo(page, 'Publish');
    await press(page, 'Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Publish now' }).waitFor();
    await noticed(page, 'The template is published.', async () => {
      await tabTo(page, 'Publish now');
      await press(page, 'Enter');
    });
    const { document, body, subject, editor } = (await project.server.get(`/templates/${id}`)).body;
    expect([subject, editor]).to.deep.equal(['News of autumn', 'VISUAL']);
    expect(document.content[0]).to.deep.include({ type: 'heading' });
    expect(document.content[0].content[1]).to.deep.include({ type: 'variable' });
    expect(document.preheader[1].attrs.name).to.equal('firstName');
    expect(body).to.contain('{{ firstName }}').and.contain('<strong').and.contain('Read more of it');
    expect((await draft()).changed).to.equal(false);
  });
});
