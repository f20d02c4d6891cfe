// What people do every day: contacts, imports, conditions, test emails, and the pages of emails that were not sent.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { newId } from '../../platform/ids.ts';
import type { ApiProject } from '../support/api.ts';
import { describeStackApp } from '../support/app.ts';
import { noticed } from '../support/browser.ts';
import { addContacts, startCampaign } from '../support/campaigns.ts';
import { setMails, storedMails } from '../support/rows/mails.ts';
import { eventually } from '../support/waiting.ts';
import { build, enable } from '../support/workflow-building.ts';

const SLOW = { timeout: 60_000 };

describeStackApp('everyday work in the web application', {}, (app) => {
  let project: ApiProject;

  before(() => app.startWorker());
  beforeEach(async () => {
    project = await app.project();
  });

  const open = (path: string): Promise<Page> => app.open(`/app/p/${project.id}${path}`, { cookie: project.cookie });
  const add = async (email: string, data: object = {}): Promise<string> =>
    (await project.server.post('/contacts', { email, data, subscribed: true })).body.id;
  const button = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true });
  const choose = async (page: Page, field: Locator, option: string): Promise<void> => {
    await field.click();
    await page.getByRole('option', { name: option, exact: true }).click();
  };

  it('finds contacts by name, and keeps filters and columns as a view for all members', async () => {
    await add('a1@people.example', { firstName: 'Ada', lastName: 'Lovelace', plan: 'pro' });
    await add('b2@people.example', { firstName: 'Bo', lastName: 'Ek', plan: 'free' });
    const page = await open('/contacts');
    const headers = page.getByRole('columnheader');
    await headers.getByText('lastName').waitFor();
    expect(
      (await headers.allInnerTexts())
        .map((text) => text.trim())
        .filter(Boolean)
        .slice(0, 3),
    ).to.deep.equal(['Email', 'firstName', 'lastName']);
    await page.getByLabel('Search by name or email address').fill('lovel');
    await page.getByText('1 of 1 shown').waitFor();
    await button(page, 'Columns').click();
    await page.getByRole('menuitem', { name: 'lastName' }).click();
    await page.keyboard.press('Escape');
    await headers.getByText('lastName').waitFor({ state: 'detached' });
    await button(page, 'Views').click();
    await page.getByRole('menuitem', { name: 'Save as view' }).click();
    await page.getByRole('dialog').getByLabel('Name of the view').fill('Ada');
    await noticed(page, 'The view Ada is saved.', () => button(page.getByRole('dialog'), 'Save').click());

    const other = await open('/contacts');
    await other.getByText('2 of 2 shown').waitFor();
    await button(other, 'Views').click();
    await other.getByRole('menuitem', { name: 'Ada', exact: true }).click();
    await other.getByText('1 of 1 shown').waitFor();
    await other.getByRole('columnheader').getByText('lastName').waitFor({ state: 'detached' });
  });

  it('adds selected contacts to a segment, sets a field, and exports them', async () => {
    for (const n of [1, 2, 3]) await add(`c${n}@people.example`, { plan: 'free' });
    const segment = (await project.server.post('/segments', { name: 'Guests', type: 'STATIC' })).body;
    const page = await open('/contacts');
    const select = async () => {
      for (const n of [1, 2]) await page.getByRole('checkbox', { name: `c${n}@people.example` }).check();
    };
    const dialog = page.getByRole('dialog');
    await select();
    await button(page, 'Add to segment').click();
    await choose(page, dialog.getByRole('combobox', { name: 'Segment' }), 'Guests');
    await button(dialog, 'Add to segment').click();
    await page.getByText('Adding contacts to the segment').waitFor();
    await eventually(async () => (await project.server.get(`/segments/${segment.id}`)).body.memberCount === 2);

    await select();
    await button(page, 'Set field').click();
    await dialog.getByLabel('Field').fill('visits');
    await dialog.getByLabel('Value').fill('7');
    await button(dialog, 'Set field').click();
    const visitors = async () => (await project.server.get('/contacts?data.visits=7')).body.data;
    await eventually(async () => (await visitors()).length === 2);
    expect((await visitors())[0].data).to.deep.equal({ plan: 'free', visits: 7 });

    await page.reload();
    await page.getByText('3 of 3 shown').waitFor();
    await select();
    const [file] = await Promise.all([page.waitForEvent('download'), button(page, 'Export').click()]);
    const lines = (await readFile(await file.path(), 'utf8')).trim().split(/\r?\n/);
    expect(lines).to.have.length(3);
    expect(lines[0]).to.contain('visits');
    expect(lines.slice(1).every((line) => /^"?c[12]@people\.example"?,/.test(line))).to.equal(true);
  });

  it('matches columns to fields, and reports values that do not fit before anything is imported', async () => {
    await add('old@people.example', { firstName: 'Old', visits: 3 });
    const page = await open('/contacts/import');
    const file = 'E-mail,First Name,VISITS\nann@people.example,Ann,5\nbob@people.example,Bob,many\n';
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(file) });
    const target = (column: string) => page.getByRole('combobox', { name: `What the column ${column} becomes` });
    await target('First Name').waitFor();
    expect(await target('First Name').inputValue()).to.equal('firstName');
    expect(await target('VISITS').inputValue()).to.equal('visits');
    const type = page.getByRole('combobox', { name: 'Type of the column VISITS' });
    expect(await type.inputValue()).to.equal('Number');
    await button(page, 'Check without importing').click();
    await page.getByText('This would happen').waitFor(SLOW);
    await page.getByRole('cell', { name: '"visits" must be a number' }).waitFor();
    expect((await project.server.get('/contacts')).body.total).to.equal(1);
    await button(page, 'Change columns').click();
    await choose(page, type, 'Text');
    await button(page, 'Check without importing').click();
    await button(page, 'Import 2 rows').click(SLOW);
    await page.getByText('The import is finished.').waitFor(SLOW);
    const [ann] = (await project.server.get('/contacts?search=ann@')).body.data;
    expect(ann.data).to.deep.equal({ firstName: 'Ann', visits: '5' });
  });

  it('offers conditions on dates, on the data of events and on the link of a campaign', async () => {
    await add('ann@people.example', { born: '1990-02-03T00:00:00Z', visits: 3 });
    const track = (email: string, total: number) =>
      project.browser.post('/v1/track', { event: 'order placed', email, data: { total } });
    await track('ann@people.example', 80);
    await track('bob@people.example', 20);
    const page = await open('/segments/new');
    await page.getByLabel('Name').fill('Large orders');
    const group = page.getByRole('group', { name: 'Group 1' });
    const field = group.getByRole('combobox', { name: 'Field' });
    const operator = group.getByRole('combobox', { name: 'Operator' });
    await choose(page, field, 'born');
    await operator.click();
    await page.getByRole('option', { name: 'has its anniversary in the next', exact: true }).waitFor();
    expect(await page.getByRole('option', { name: 'contains', exact: true }).count()).to.equal(0);
    await page.keyboard.press('Escape');
    await choose(page, field, 'visits');
    await operator.click();
    await page.getByRole('option', { name: 'is', exact: true }).waitFor();
    expect(await page.getByRole('option', { name: 'contains', exact: true }).count()).to.equal(0);
    await page.keyboard.press('Escape');

    await choose(page, field, 'order placed');
    await page.getByTestId('match-count').getByText('2', { exact: true }).waitFor();
    await button(group, 'Where …').click();
    await group.getByLabel('Property of the event').fill('total');
    await choose(page, group.getByRole('combobox', { name: 'Comparison' }), 'is greater than');
    await group.getByLabel('Value').fill('50');
    await page.getByTestId('match-count').getByText('1', { exact: true }).waitFor();
    await button(page, 'Create segment').click();
    await page.getByRole('heading', { level: 1, name: 'Large orders' }).waitFor();
    await page.getByText('Members: 1').waitFor();
    const [segment] = (await project.server.get('/segments')).body;
    expect(segment.condition.groups[0].filters[0]).to.deep.include({
      field: 'event.order placed',
      where: [{ key: 'total', operator: 'greaterThan', value: 50 }],
    });
  });

  it('asks which link of which campaign was clicked, also where the link has variables', async () => {
    const draft = {
      name: 'News',
      subject: 's',
      body: 'b',
      from: `news@${project.senderDomain}`,
      audienceType: 'ALL',
    };
    const { id: campaignId } = (await project.server.post('/campaigns', draft)).body.data;
    const link = 'https://shop.example/?c={{code}}';
    await app.db('campaignLinks').insert({ campaignId, linkId: newId(), link, clicks: 1, uniqueClicks: 1 });
    const page = await open('/segments/new');
    await page.getByLabel('Name').fill('Clicked the offer');
    const group = page.getByRole('group', { name: 'Group 1' });
    await choose(page, group.getByRole('combobox', { name: 'Field' }), 'Link was clicked');
    await button(group, 'Where …').click();
    await choose(page, group.getByRole('combobox', { name: 'Campaign', exact: true }), 'News');
    await button(group, 'Where …').click();
    await choose(page, group.getByRole('combobox', { name: 'Value' }).last(), link);
    await button(page, 'Create segment').click();
    await page.getByRole('heading', { level: 1, name: 'Clicked the offer' }).waitFor();
    const [segment] = (await project.server.get('/segments')).body;
    expect(segment.condition.groups[0].filters[0].where).to.deep.equal([
      { key: 'campaignId', operator: 'equals', value: campaignId },
      { key: 'link', operator: 'startsWith', value: 'https://shop.example/?c=' },
    ]);
  });

  it('counts a segment again where its count is old, with one number on all pages', async () => {
    await addContacts(app.db, project, 3);
    const condition = { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'contains', value: 'p' }] }] };
    const { id } = (await project.server.post('/segments', { name: 'All', type: 'DYNAMIC', condition })).body;
    await addContacts(app.db, project, 5, { prefix: 'people' });
    const age = () =>
      app
        .db('segments')
        .where({ id })
        .update({ countedAt: new Date(Date.now() - 700_000) });
    await age();
    const page = await open('/segments');
    await page.getByRole('row', { name: /All/ }).getByText('8', { exact: true }).waitFor();
    await age();
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await page.getByText('Members: 8').waitFor();
    await page.getByTestId('match-count').getByText('8', { exact: true }).waitFor();
    await page.goto(`${app.url}/app/p/${project.id}/campaigns/new?segmentId=${id}`);
    await page.getByText('The segment All has 8 members, subscribed or not.').waitFor();
  });

  it('sends a test to several addresses with the data of a contact', async () => {
    await add('guest@people.example', { firstName: 'Grace' });
    const { server, senderDomain } = project;
    const template = { name: 'Hello', subject: 'Dear {{firstName}}', body: '<p>Hi</p>', type: 'MARKETING' };
    const { id } = (await server.post('/templates', { ...template, from: `a@${senderDomain}` })).body;
    const page = await open(`/templates/${id}`);
    await button(page, 'Send a test').click();
    const dialog = page.getByRole('dialog');
    const addresses = dialog.getByLabel('Send it to');
    await addresses.fill('one@test.example,two@test.example,');
    await dialog.getByRole('combobox', { name: 'With the data of' }).fill('grace');
    await page.getByRole('option', { name: 'guest@people.example' }).click();
    await button(dialog, 'Send a test').click();
    await dialog.waitFor({ state: 'hidden' });
    for (const to of ['one@test.example', 'two@test.example']) {
      const [mail] = await app.smtp.received(1, { to });
      expect((await mail?.parsed())?.subject).to.equal('[TEST] Dear Grace');
    }
  });

  it('says why an email was not sent, and offers to send it again only where that can work', async () => {
    await addContacts(app.db, project, 3);
    for (const n of [0, 1])
      app.smtp.misbehave({ at: 'recipient', to: `p${n}@example.com`, do: { code: 554, text: 'closed today' } });
    const campaign = await startCampaign(app.db, project);
    const mailsOf = (where: object) => storedMails(app.db, { projectId: project.id, ...where });
    await eventually(async () => (await mailsOf({ status: 'FAILED' })).length === 2);
    const [first, second] = await mailsOf({ status: 'FAILED' });
    const page = await open(`/emails/${first.id}`);
    await page.getByText('The recipient’s mail server rejected the email:').waitFor();
    await page.getByText('closed today').first().waitFor();
    await button(page, 'Send again').waitFor();

    const { email } = (await project.server.get(`/contacts/${second.contactId}`)).body;
    expect(await project.server.post('/suppressions', { email, reason: 'MANUAL' })).to.have.status(201);
    await page.goto(`${app.url}/app/p/${project.id}/emails/${second.id}`);
    await page.getByText(`${email} is on the suppression list, so no email is sent to it.`).waitFor();
    expect(await button(page, 'Send again').count()).to.equal(0);
    await page.getByRole('link', { name: 'Show the suppression' }).click();
    await page.getByRole('cell', { name: email }).waitFor();

    await app.db('campaigns').where({ id: campaign.id }).update({ status: 'CANCELLED' });
    await page.goto(`${app.url}/app/p/${project.id}/emails/${first.id}`);
    await page.getByText('Its campaign was cancelled or deleted, so it cannot be sent again:').waitFor();
    expect(await button(page, 'Send again').count()).to.equal(0);

    await setMails(app.db, { id: first.id }, { status: 'SKIPPED', reason: 'unsubscribed' });
    await page.reload();
    await page.getByText('is not subscribed, and marketing email goes to subscribed contacts only.').waitFor();
  });

  it('names the topic that a contact joined in its timeline', async () => {
    const { id: topicId } = (await project.server.post('/topics', { name: 'Product news' })).body;
    const { id } = (await project.server.post('/contacts', { email: 'joins@people.example' })).body;
    const changes = { topics: { [topicId]: 'SUBSCRIBED' }, consent: { source: 'Order form', text: 'Yes' } };
    expect(await project.server.patch(`/contacts/${id}/topics`, changes)).to.have.status(200);
    const page = await open(`/contacts/${id}?tab=timeline`);
    await page.getByText('Joined a topic').waitFor();
    await page.getByRole('tabpanel').getByRole('link', { name: 'Product news' }).waitFor();
  });

  it('groups on Home the people who leave a step of a workflow', async () => {
    const { id } = await build(
      project,
      { steps: { wait: { type: 'DELAY', config: { amount: 1, unit: 'days' } } } },
      { name: 'Trial welcome' },
    );
    await enable(project, id);
    for (const name of ['ann', 'bob'])
      await project.browser.post('/v1/track', { event: 'signed up', email: `${name}@people.example` });
    const waiting = async () => (await project.server.get(`/executions?workflowId=${id}&status=WAITING`)).body.total;
    await eventually(async () => (await waiting()) === 2);
    const page = await open('');
    await page.getByRole('link', { name: '2 people continue in Trial welcome' }).click();
    await page.getByText('2 of 2 shown').waitFor();
  });
});
