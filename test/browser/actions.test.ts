// Single actions that people take on the pages, in an API without a worker.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type Person, person } from '../support/accounts.ts';
import type { ApiProject } from '../support/api.ts';
import { describeApp } from '../support/app.ts';
import { axeFindings, noticed, type VisitOptions } from '../support/browser.ts';
import { eventually } from '../support/waiting.ts';

/** The code that shows messages is loaded a while after the page, with all that it needs. */
const HAS_MESSAGES = `(() => {
  const loaded = performance.getEntriesByType('resource').map(({ name }) => name);
  const wanted = [...document.querySelectorAll('link[rel=modulepreload], link[rel=stylesheet]')].map(({ href }) => href);
  return wanted.some((href) => href.includes('notices-impl')) && wanted.every((href) => loaded.includes(href));
})()`;

describeApp('single actions in the web application', {}, (app) => {
  let project: ApiProject;

  before(async () => {
    project = await app.project();
  });

  const open = (path: string, as: Partial<VisitOptions> = {}): Promise<Page> =>
    app.open(`/app${path}`, { cookie: project.cookie, ...as });

  it('marks one notification and then all of them as read, and turns types off', async () => {
    const from = `news@${project.senderDomain}`;
    for (const name of ['Spring', 'Summer', 'Autumn']) {
      const draft = { name, subject: 's', body: 'b', from, audienceType: 'ALL' };
      const { id } = (await project.server.post('/campaigns', draft)).body.data;
      await app.db('campaigns').where({ id }).update({ status: 'SENDING' });
      await app.db('campaigns').where({ id }).update({ status: 'SENT' });
    }
    const unread = async () => (await project.owner.get('/notifications')).body.unread;
    const page = await open(`/p/${project.id}/notifications`);
    await page.getByRole('link', { name: 'The campaign Summer has finished' }).click();
    await page.getByRole('heading', { level: 1, name: 'Summer' }).waitFor();
    await eventually(async () => (await unread()) === 2);
    await page.getByRole('link', { name: 'Notifications, 2 unread' }).click();
    await noticed(page, '2 notifications are marked as read.', () =>
      page.getByRole('button', { name: 'Mark all as read' }).click(),
    );
    await page.getByRole('link', { name: 'Notifications', exact: true }).waitFor();
    expect(await unread()).to.equal(0);

    const settings = async (type: string) => (await project.owner.get('/users/@me/notification-settings')).body[type];
    await page.getByRole('switch', { name: 'A campaign has finished: Here' }).click();
    await eventually(async () => (await settings('campaign.finished')).app === false);
    await page.getByRole('switch', { name: 'A campaign has finished: By mail' }).click();
    await eventually(async () => (await settings('campaign.finished')).email === true);
    expect(await settings('campaign.finished')).to.deep.equal({ app: false, email: true });
    await page.reload();
    const here = page.getByRole('switch', { name: 'A campaign has finished: Here' });
    await here.waitFor();
    expect(await here.isChecked()).to.equal(false);
  });

  it('warns with the names of what uses a field, and deletes it', async () => {
    const { server } = project;
    await server.post('/contacts', { email: 'ann@guest.example', data: { plan: 'pro' } });
    const condition = {
      logic: 'AND',
      groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
    };
    expect(await server.post('/segments', { name: 'Paying', type: 'DYNAMIC', condition })).to.have.status(201);
    const workflow = (await server.post('/workflows', { name: 'Upgrade', eventName: 'signed up' })).body;
    const step = {
      name: 'paying',
      type: 'CONDITION',
      config: { field: 'data.plan', operator: 'equals', value: 'pro' },
    };
    expect(await server.post(`/workflows/${workflow.id}/steps`, step)).to.have.status(201);
    const page = await open(`/p/${project.id}/fields/data.plan`);
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It is used.').waitFor();
    await dialog.getByRole('link', { name: 'Paying' }).waitFor();
    expect(await dialog.getByRole('link', { name: 'Upgrade' }).getAttribute('href')).to.contain(workflow.id);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Events and fields' }).waitFor();
    const { body } = await server.get('/contacts?search=ann@guest');
    expect(body.data[0].data).to.not.have.property('plan');
  });

  it('cancels a job', async () => {
    const { id } = (await project.server.post('/contacts', { email: 'bob@guest.example' })).body;
    const { jobId } = (await project.server.post('/contacts/bulk-unsubscribe', { contactIds: [id] })).body;
    const page = await open(`/p/${project.id}/jobs`);
    await page.getByRole('button', { name: /^Cancel/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel task' }).click();
    await page.getByRole('cell', { name: 'Cancelled' }).waitFor();
    expect((await project.server.get(`/jobs/${jobId}`)).body.status).to.equal('CANCELLED');
  });

  it('changes a webhook endpoint', async () => {
    const endpoint = { url: 'https://shop.example/hook', types: ['email.*'], headers: { 'X-Token': 'secret' } };
    const { id } = (await project.server.post('/webhook-endpoints', endpoint)).body;
    const page = await open(`/p/${project.id}/webhooks/${id}`, { expected: /status of 4\d\d/ });
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill('ftp://shop.example/hook');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('URL').fill('https://shop.example/new');
    await dialog.getByLabel('Description').fill('The shop');
    await dialog.getByLabel(/per second/i).fill('7');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await project.server.get(`/webhook-endpoints/${id}`)).body).to.deep.include({
      url: 'https://shop.example/new',
      description: 'The shop',
      ratePerSecond: 7,
      types: ['email.*'],
      // What was not typed again is kept.
      headers: { 'X-Token': '•••' },
    });
  });

  it('returns to the page of the address after a sign-in, and after the end of the session', async () => {
    const reader = await person(app, { project: project.id, role: 'VIEWER' });
    const path = `/p/${project.id}/contacts?search=nobody`;
    const page = await open(path, { cookie: '', expected: /status of 40[13]/ });
    const signIn = async () => {
      await page.getByLabel('Email').fill(reader.email);
      await page.getByLabel('Password').fill(reader.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await signIn();
    await page.waitForURL(`**/app${path}`);
    await page.reload();
    await page.getByText('No contact matches').waitFor();

    await page.context().clearCookies();
    await page.getByRole('navigation').getByRole('link', { name: 'Segments' }).click();
    await page.getByRole('link', { name: 'Create account' }).click();
    await page.getByLabel('Email').fill('late@people.example');
    await page.getByLabel('Password').fill('correct horse');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.waitForURL(`**/app/p/${project.id}/segments`);

    await page.context().clearCookies();
    await page.goto(`${app.url}/app/sign-in?next=//other.example/p`);
    await signIn();
    await page.waitForURL(`**/app/p/${project.id}`);
  });

  it('says that the server cannot be reached while the browser is offline', async () => {
    const page = await open(`/p/${project.id}/project`, { expected: /ERR_INTERNET_DISCONNECTED/ });
    await page.getByLabel('Name').waitFor();
    await eventually(() => page.evaluate<boolean>(HAS_MESSAGES), { what: 'the code that shows messages' });
    await page.context().setOffline(true);
    await page.getByLabel('Name').fill('Offline');
    const save = () => page.getByRole('button', { name: 'Save' }).click();
    await save();
    await page.getByText('The server cannot be reached.').waitFor();
    await page.context().setOffline(false);
    await noticed(page, 'The settings are saved.', save);
  });

  it('sends one request for two clicks without a pause', async () => {
    const page = await open(`/p/${project.id}/project`);
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'PATCH' && sent.push(request.url()));
    await page.getByLabel('Name').fill('Clicked twice');
    await noticed(page, 'The settings are saved.', () =>
      page.evaluate(`for (const _ of [1, 2]) document.querySelector('main button[type=submit]').click();`),
    );
    expect(sent).to.have.length(1);
  });

  it('shows a MEMBER who may see webhooks and the audit log', async () => {
    const { cookie } = await person(app, { project: project.id, role: 'MEMBER' });
    const page = await open(`/p/${project.id}/webhooks`, { cookie });
    await page.getByText('Only admins and owners of this project can see its webhooks.').waitFor();
    await page.goto(`${app.url}/app/p/${project.id}/audit`);
    await page.getByText('Only admins and owners of this project can read the audit log.').waitFor();
  });

  it('names the entry of a list that the API refuses', async () => {
    const { id } = (await project.server.post('/segments', { name: 'Guests', type: 'STATIC' })).body;
    const page = await open(`/p/${project.id}/segments/${id}?tab=members`, { expected: /status of 422/ });
    await page.getByRole('button', { name: 'Add people' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Addresses').fill('ann@guest.example bob@guest.example cat');
    await dialog.getByRole('button', { name: 'Add people' }).click();
    expect(await dialog.getByRole('alert').textContent()).to.match(/^Entry 3 of emails \(“cat”\) must be [^"]+\.$/);
  });

  it('shows an operator without a project the console', async () => {
    const operator: Person = await person(app);
    await app.db('users').where({ id: operator.id }).update({ operator: true });
    const page = await open('/', { cookie: operator.cookie });
    await page.getByRole('heading', { level: 1, name: 'Operator console' }).waitFor();
    expect(new URL(page.url()).pathname).to.equal('/app/operator');
    await page.getByLabel('Search by name, ID or address of a member').fill(project.id);
    await page.waitForURL(`**/app/operator?search=${project.id}`);
    await page.getByText('1 of 1 shown').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.getByRole('link', { name: 'New project' }).click();
    await page.getByRole('heading', { level: 1, name: 'Create a project' }).waitFor();
    await page.getByLabel('Name').waitFor();
  });

  it('keeps the language with the account, also in another browser', async () => {
    const reader = await person(app, { project: project.id, role: 'VIEWER' });
    const page = await open(`/p/${project.id}/security`, { cookie: reader.cookie });
    await page.getByLabel('Language', { exact: true }).selectOption('Deutsch');
    await page.getByRole('heading', { name: 'Sitzungen' }).waitFor();
    expect((await reader.get('/users/@me')).body.language).to.equal('de');
    const other = await open(`/p/${project.id}`, { cookie: reader.cookie });
    await other.getByRole('navigation').getByRole('link', { name: 'Kontakte' }).waitFor();
    expect(await other.getAttribute('html', 'lang')).to.equal('de');
    await other.getByRole('button', { name: 'Darstellung und Sprache' }).click();
    await other.getByRole('menuitem', { name: 'English' }).click();
    await other.getByRole('navigation').getByRole('link', { name: 'Contacts' }).waitFor();
    expect((await reader.get('/users/@me')).body.language).to.equal('en');
  });

  it('adds a contact again without subscribing it, and says that its address is suppressed', async () => {
    const email = 'cat@guest.example';
    const { id } = (await project.server.post('/contacts', { email, subscribed: false })).body;
    const page = await open(`/p/${project.id}/contacts`);
    const add = async () => {
      await page.getByRole('button', { name: 'Add contact' }).click();
      await page.getByRole('dialog').getByLabel('Email').fill(email);
    };
    await add();
    await noticed(page, `${email} is a contact already. Nothing was changed.`, () =>
      page.getByRole('dialog').getByRole('button', { name: 'Add contact' }).click(),
    );
    const contact = async () => (await project.server.get(`/contacts/${id}`)).body;
    expect((await contact()).subscribed).to.equal(false);

    await project.server.post('/suppressions', { email });
    await project.server.post('/suppressions', { email: `the-${email}`, reason: 'COMPLAINT' });
    await page.reload();
    await page.getByText('This address is suppressed: Added by hand').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.getByRole('link', { name: 'Show the suppression' }).click();
    await page.waitForURL((url) => url.searchParams.get('search') === email);
    await page.getByRole('cell', { name: email }).first().waitFor();
  });

  it('names the steps that keep a template from being deleted', async () => {
    const { server, id: projectId, senderDomain } = project;
    const mail = { subject: 's', body: 'b', type: 'TRANSACTIONAL', from: `a@${senderDomain}` };
    const { id: templateId } = (await server.post('/templates', { name: 'Hello', ...mail })).body;
    const workflow = (await server.post('/workflows', { name: 'Welcome', eventName: 'signed up' })).body;
    const step = { name: 'greet', type: 'SEND_EMAIL', config: { templateId } };
    expect(await server.post(`/workflows/${workflow.id}/steps`, step)).to.have.status(201);
    const page = await open(`/p/${projectId}/templates/${templateId}`);
    await page.getByText('Workflow Welcome, step greet').waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'The template Hello is in use' });
    await dialog.getByText('Workflow Welcome, step greet').waitFor();
    expect(await dialog.getByRole('button', { name: 'Delete' }).count()).to.equal(0);
  });

  it('has no complaint about a new template, and explains its type once', async () => {
    const { id, cookie, server } = await app.project();
    // The variable of the template is one that contacts have.
    await server.post('/contacts', { email: 'ann@guest.example', data: { firstName: 'Ann' } });
    const page = await open(`/p/${id}/templates/new`, { cookie });
    await page.getByRole('button', { name: 'HTML', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Plain');
    await dialog.getByLabel('Subject').fill('Hello');
    expect(await page.getByText('Goes to subscribed contacts only; an unsubscribe link is added.').count()).to.equal(1);
    await dialog.getByRole('button', { name: 'Create template' }).click();
    await page.frameLocator('iframe.mail-frame').getByText('Write your mail here.').waitFor();
    expect(await page.getByText('Worth a look').count()).to.equal(0);
  });

  it('says that a filter needs a whole address, and days in their order', async () => {
    const { id } = project;
    const page = await open(`/p/${id}/emails`);
    await page.getByLabel('Recipient').fill('ann');
    await page.getByLabel('Recipient').press('Tab');
    await page.getByText('A whole address is needed').waitFor();
    await page.getByLabel('Recipient').fill('ann@guest.example');
    await page.getByLabel('Recipient').press('Tab');
    await page.waitForURL(/email=ann/);
    const days = 'from=2026-02-02&to=2026-02-01';
    await page.goto(`${app.url}/app/p/${id}/emails?${days}`);
    await page.getByText('“From day” is after “To day”').waitFor();
    await page.goto(`${app.url}/app/p/${id}/analytics?${days}`);
    await page.getByText('“From” is after “To”').waitFor();
    expect(await page.getByLabel('From').inputValue()).to.equal('Feb 2, 2026');
    expect(await page.getByText('No mail in this period.').count()).to.equal(0);
  });

  it('keeps a number that is out of bounds, and says what is allowed', async () => {
    const { server, id } = project;
    const workflow = (await server.post('/workflows', { name: 'Later', eventName: 'signed up' })).body;
    const step = { name: 'a while', type: 'DELAY', config: { amount: 2, unit: 'days' } };
    expect(await server.post(`/workflows/${workflow.id}/steps`, step)).to.have.status(201);
    const page = await open(`/p/${id}/workflows/${workflow.id}`, { expected: /status of 4\d\d/ });
    await page.getByText('a while').first().click();
    const amount = page.getByLabel('Wait for', { exact: true });
    await amount.fill('-5');
    await amount.press('Tab');
    await page.getByText('Must be more than 0.').waitFor();
    expect(await amount.inputValue()).to.equal('-5');
  });

  it('asks before unsaved changes of a segment or of the data of a contact are left', async () => {
    const { server, id } = project;
    const contact = (await server.post('/contacts', { email: 'dan@guest.example', data: { plan: 'pro' } })).body;
    const page = await open(`/p/${id}/segments/new`);
    const leave = async () => {
      await page.getByRole('navigation').getByRole('link', { name: 'Templates' }).click();
      return page.getByRole('dialog').getByRole('button', { name: 'Leave' });
    };
    await page.getByLabel('Name').fill('Paying soon');
    await (await leave()).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Stay' }).click();
    expect(await page.getByLabel('Name').inputValue()).to.equal('Paying soon');
    await (await leave()).click();
    await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor();
    // Saved work is left without a question.
    const condition = { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'contains', value: 'dan' }] }] };
    const segment = (await server.post('/segments', { name: 'Dans', type: 'DYNAMIC', condition })).body;
    await page.goto(`${app.url}/app/p/${id}/segments/${segment.id}`);
    await page.getByLabel('Value', { exact: true }).fill('dan@');
    await noticed(page, 'The segment is saved.', () => page.getByRole('button', { name: 'Save' }).click());
    await leave();
    await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor();
    await page.goto(`${app.url}/app/p/${id}/contacts/${contact.id}`);
    await page.getByLabel('Value of plan').fill('free');
    await (await leave()).click();
    await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor();
  });
});
