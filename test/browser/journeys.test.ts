import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { person } from '../support/accounts.ts';
import { client } from '../support/api.ts';
import { describeStackApp } from '../support/app.ts';
import { addContacts } from '../support/campaigns.ts';
import { type DnsStandIn, startDns } from '../support/dns.ts';
import { eventually } from '../support/waiting.ts';

const IMPORT_LIMIT = 262_144;
const SLOW = { timeout: 60_000 };
/** Buttons and links of pages that a VIEWER must not see. */
const CHANGES = {
  contacts: ['Add contact', 'Import', 'Export CSV'],
  contact: ['Export everything', 'Delete', 'Add field'],
  segments: ['New segment'],
  template: ['Send a test'],
  campaigns: ['New campaign'],
  domains: ['Add domain'],
};

let dns: DnsStandIn | undefined;
const settings = async () => {
  dns = await startDns();
  return { DNS_SERVERS: dns.address, IMPORT_MAX_BYTES: String(IMPORT_LIMIT) };
};

describeStackApp('the web application', settings, (app) => {
  before(() => app.startWorker());
  after(() => dns?.stop());

  /** Adds a member to a project, and returns the cookie of a session. */
  const member = async (projectId: string, role: 'VIEWER' | 'MEMBER'): Promise<string> =>
    (await person(app, { project: projectId, role })).cookie;

  it('leads from signing up to a finished campaign', async () => {
    const { smtp } = app;
    const page = await app.open('/');
    await page.waitForURL('**/app/sign-in**');
    await page.getByRole('link', { name: 'Create account' }).click();
    await page.getByLabel('Email').fill('founder@shop.example');
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Create account' }).click();

    await page.getByLabel('Project name').fill('Bakery');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('button', { name: 'Go to the project' }).click();
    await page.getByRole('heading', { level: 1, name: 'Bakery' }).waitFor();
    await page.getByText('0 of 4').waitFor();

    await page.getByRole('navigation').getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('link', { name: 'Domains', exact: true }).click();
    await page.getByRole('button', { name: 'Add domain' }).first().click();
    await page.getByRole('textbox', { name: 'Domain' }).fill('bakery.example');
    await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click();
    await page.getByText('Waiting for DNS').waitFor();
    for (const { type, name, value } of await recordsOf(page))
      if (type === 'TXT') dns?.set(name, 'TXT', [value.match(/.{1,255}/g) ?? []]);
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('Verified', { exact: true }).waitFor(SLOW);

    for (const email of ['ann@guest.example', 'bob@guest.example']) {
      await page.getByRole('link', { name: 'Contacts', exact: true }).first().click();
      await page.getByRole('button', { name: 'Add contact' }).click();
      await page.getByRole('dialog').getByLabel('Email').fill(email);
      await page.getByRole('dialog').getByRole('button', { name: 'Add contact' }).click();
      await page.getByRole('heading', { level: 1, name: email }).waitFor();
    }

    await page.getByRole('link', { name: 'Campaigns', exact: true }).click();
    await page.getByRole('link', { name: 'New campaign' }).first().click();
    await page.getByLabel('Campaign name').fill('Fresh bread');
    await page.getByTestId('match-count').getByText('2', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByLabel('From name').fill('The bakery');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'HTML', exact: true }).click();
    const subject = page.getByRole('dialog');
    await subject.getByLabel('Subject').fill('Bread for {{email}}');
    await subject.getByRole('button', { name: 'Next' }).click();
    await page.waitForURL('**/edit?step=2');
    await page.getByRole('button', { name: 'Start again' }).waitFor();
    await page.frameLocator('iframe').getByText('Write your mail here.').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByRole('dialog').getByText('Send to 2 people?').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Send now' }).click();

    await page.getByText('Sent', { exact: true }).first().waitFor();
    await outcome(page, 'sentCount', 2);
    await page.getByRole('cell', { name: 'Sent' }).nth(1).waitFor(SLOW);
    expect(smtp.mailsTo('ann@guest.example')).to.have.length(1);
    expect(smtp.mailsTo('bob@guest.example')).to.have.length(1);

    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.getByText('3 of 4').waitFor();
  });

  it('imports a file at the size limit, shows bad rows, and refuses a larger one', async () => {
    const { id, cookie, server } = await app.project();
    const page = await app.open(`/app/p/${id}/contacts/import`, { cookie });
    const line = (n: number) => `person${n}@import.example,${n % 7},"Name, ${n}"\n`;
    let text = 'E-mail address,visits,full name\nnot an address,1,x\n';
    let rows = 0;
    while (text.length + 60 < IMPORT_LIMIT) text += line(rows++);
    const upload = (name: string, content: string) =>
      page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });

    await upload('large.csv', `${text}${'x'.repeat(IMPORT_LIMIT)}`);
    await page.getByText('The file is larger than 256 kB.').waitFor();
    await upload('people.csv', text);
    await page.getByRole('combobox', { name: 'What the column full name becomes' }).waitFor();
    await page.getByRole('combobox', { name: 'What the column visits becomes' }).click();
    await page.getByRole('option', { name: 'Left out' }).click();
    await page.getByRole('button', { name: 'Check without importing' }).click();
    await page.getByText('This would happen').waitFor(SLOW);
    await page.getByRole('cell', { name: '2', exact: true }).waitFor();
    expect((await server.get('/contacts')).body.total).to.equal(0);
    await page.getByRole('button', { name: `Import ${rows.toLocaleString('en-US')} rows` }).click();
    await page.getByText('The import is finished.').waitFor(SLOW);
    await page.locator('[data-count=created]').getByText(rows.toLocaleString('en-US')).waitFor();
    await page.locator('[data-count=failed]').getByText('1', { exact: true }).waitFor();

    const [errors] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'All bad rows as CSV' }).click(),
    ]);
    expect(errors.suggestedFilename()).to.equal('errors.csv');
    const { body } = await server.get('/contacts?search=person17@');
    expect(body.data[0]).to.deep.include({ subscribed: true, data: { 'full name': 'Name, 17' } });
  });

  it('counts in the segment builder what POST /segments/preview counts', async () => {
    const { id, cookie, server } = await app.project();
    for (const [n, plan] of ['pro', 'free', 'pro', 'starter', 'free', 'pro'].entries())
      await server.post('/contacts', {
        email: `p${n}@segment.example`,
        subscribed: n !== 2,
        data: { plan, orders: n },
      });
    await server.post('/events/track', { email: 'p0@segment.example', event: 'ordered' });
    const page = await app.open(`/app/p/${id}/segments/new`, { cookie });
    await page.getByLabel('Name').fill('Good customers');
    const group = (n: number) => page.getByRole('group', { name: `Group ${n}` }).first();
    await choose(page, group(1).getByLabel('Field'), 'plan');
    await group(1).getByLabel('Value').fill('pro');
    await matchCount(page, 3);

    await group(1).getByRole('button', { name: 'Add condition' }).click();
    await choose(page, group(1).getByLabel('Field').nth(1), 'Subscribed');
    await matchCount(page, 2);
    await page.getByLabel('How groups combine').click();
    await page.getByRole('option', { name: 'any' }).click();
    await page.getByRole('button', { name: 'Add group' }).click();
    await choose(page, group(2).getByLabel('Field'), 'orders');
    await choose(page, group(2).getByLabel('Operator'), 'is at least');
    await group(2).getByLabel('Value').fill('4');
    await matchCount(page, 3);
    await group(2).getByRole('button', { name: 'Add nested groups' }).click();
    const nested = group(2).getByRole('group', { name: 'Group 1' });
    await choose(page, nested.getByLabel('Field'), 'ordered');
    await matchCount(page, 2);
    await choose(page, nested.getByLabel('Operator'), 'never happened');
    await matchCount(page, 3);

    await page.getByRole('button', { name: 'Create segment' }).click();
    await page.getByRole('heading', { level: 1, name: 'Good customers' }).waitFor();
    const [segment] = (await server.get('/segments')).body;
    const preview = await server.post('/segments/preview', { condition: segment.condition });
    expect(preview.body.count).to.equal(3);
    await page.getByRole('tab', { name: 'Members' }).click();
    await page.getByRole('rowheader').nth(2).waitFor();
    expect(await page.getByRole('rowheader').count()).to.equal(3);
  });

  it('keeps filters in the address, and sorts and pages by cursor', async () => {
    const own = await app.project();
    const { id, cookie, server } = own;
    await addContacts(app.db, own, 130);
    await server.post('/contacts', { email: 'needle@list.example', subscribed: false, data: { plan: 'pro' } });
    const page = await app.open(`/app/p/${id}/contacts`, { cookie });
    await page.getByText('50 of 131 shown').waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText('100 of 131 shown').waitFor();
    await page.getByLabel('Search by name or email address').fill('needle');
    await page.waitForURL('**/contacts?query=needle');
    await page.getByText('1 of 1 shown').waitFor();
    await page.reload();
    await page.getByText('1 of 1 shown').waitFor();
    expect(await page.getByLabel('Search by name or email address').inputValue()).to.equal('needle');
    await page.getByLabel('Subscription').selectOption('Subscribed');
    await page.getByText('No contact matches').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('50 of 131 shown').waitFor();
  });

  it('unsubscribes all contacts that match the filters, with progress', async () => {
    const own = await app.project();
    const { id, cookie, server } = own;
    await addContacts(app.db, own, 60);
    const page = await app.open(`/app/p/${id}/contacts`, { cookie });
    await page.getByLabel('Select all on this page').check();
    await page.getByRole('button', { name: 'Select all 60 that match' }).click();
    await page.getByRole('button', { name: 'Unsubscribe', exact: true }).click();
    await page.getByRole('dialog').getByText('Unsubscribe 60 contacts?').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Unsubscribe' }).click();
    await page.getByText('60 contacts done.').waitFor(SLOW);
    expect((await server.get('/contacts?subscribed=true')).body.total).to.equal(0);
  });

  it('shows a project to its members only', async () => {
    const own = await app.project();
    const other = await app.project();
    await own.server.post('/contacts', { email: 'mine@own.example' });
    const page = await app.open(`/app/p/${own.id}/contacts`, { cookie: own.cookie });
    await page.getByRole('link', { name: 'mine@own.example' }).waitFor();
    await page.goto(`${app.url}/app/p/${other.id}/contacts`);
    await page.getByRole('heading', { level: 1, name: 'There is nothing here' }).waitFor();
  });

  it('offers a VIEWER nothing that changes the project, and a MEMBER all of it', async () => {
    const own = await app.project();
    const contact = (await own.server.post('/contacts', { email: 'read@roles.example' })).body;
    const mail = { subject: 's', body: 'b', from: `x@${own.senderDomain}` };
    const template = (await own.server.post('/templates', { name: 'T', type: 'MARKETING', ...mail })).body;
    const all = Object.values(CHANGES).flat();
    const offered = async (role: 'VIEWER' | 'MEMBER'): Promise<string[]> => {
      const { page, close } = await app.visit(`/app/p/${own.id}/contacts`, { cookie: await member(own.id, role) });
      const found: string[] = [];
      const paths = { contact: `contacts/${contact.id}`, template: `templates/${template.id}` };
      for (const [name, changes] of Object.entries(CHANGES)) {
        await page.goto(`${app.url}/app/p/${own.id}/${{ [name]: name, ...paths }[name]}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle');
        const texts = page.locator('main').locator('button, a');
        // A page may still be drawn while it loads nothing.
        if (role === 'MEMBER')
          for (const change of changes)
            await texts
              .filter({ hasText: new RegExp(`^${change}$`) })
              .first()
              .waitFor();
        found.push(...(await texts.allInnerTexts()));
      }
      await close();
      return found.map((text) => text.trim()).filter((text) => all.includes(text));
    };
    expect([...new Set(await offered('MEMBER'))]).to.have.members(all);
    expect(await offered('VIEWER')).to.deep.equal([]);
    const refused = await client(app.url, {
      cookie: await member(own.id, 'VIEWER'),
      'x-project-id': own.id,
    }).post('/contacts', { email: 'new@roles.example' });
    expect(refused.status).to.equal(403);
  });

  it('shows hostile content in every field as text', async () => {
    const { id, cookie, server, senderDomain } = await app.project();
    const hostile = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>{{7*7}}';
    const contact = (
      await server.post('/contacts', { email: 'h@hostile.example', data: { note: hostile, [hostile.slice(0, 60)]: 1 } })
    ).body;
    await server.post('/events/track', { email: 'h@hostile.example', event: 'saw <b>it</b>', data: { text: hostile } });
    const condition = {
      logic: 'AND',
      groups: [{ filters: [{ field: 'data.note', operator: 'equals', value: hostile }] }],
    };
    const segment = (await server.post('/segments', { name: hostile.slice(0, 90), description: hostile, condition }))
      .body;
    const mail = {
      subject: hostile.replaceAll('{{7*7}}', ''),
      body: `<h1>Mail</h1>${hostile}`,
      from: `x@${senderDomain}`,
    };
    const template = (await server.post('/templates', { name: hostile, type: 'TRANSACTIONAL', ...mail })).body;
    const campaign = (await server.post('/campaigns', { name: hostile, audienceType: 'ALL', ...mail })).body.data;
    const sent = await server.post('/v1/send', { to: 'h@hostile.example', ...mail });
    const emailId = sent.body.data.emails[0].email;
    const page = await app.open(`/app/p/${id}`, { cookie });
    for (const path of [
      'contacts',
      `contacts/${contact.id}`,
      'segments',
      `segments/${segment.id}`,
      'templates',
      `templates/${template.id}`,
      'campaigns',
      `campaigns/${campaign.id}`,
      `campaigns/${campaign.id}/edit?step=2`,
      'emails',
      `emails/${emailId}`,
    ]) {
      await page.goto(`${app.url}/app/p/${id}/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      expect(await page.evaluate('window.hacked'), path).to.equal(undefined);
      expect(await page.locator('main img[src="x"], main script').count(), path).to.equal(0);
    }
    await eventually(async () => (await server.get(`/emails/${emailId}`)).body.status === 'SENT');
  });
});

async function choose(page: Page, field: ReturnType<Page['getByLabel']>, option: string): Promise<void> {
  await field.click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

/** The records that the page shows, as the API has them. */
async function recordsOf(page: Page): Promise<{ type: string; name: string; value: string }[]> {
  const { origin, pathname } = new URL(page.url());
  const projectId = pathname.split('/')[3] ?? '';
  const answer = await page.request.get(`${origin}/domains/project/${projectId}`, {
    headers: { 'X-Project-Id': projectId },
  });
  const [domain] = (await answer.json()) as { records: { type: string; name: string; value: string }[] }[];
  return domain?.records ?? [];
}

const matchCount = (page: Page, count: number): Promise<void> =>
  page.getByTestId('match-count').getByText(String(count), { exact: true }).waitFor();

const outcome = (page: Page, field: string, count: number): Promise<void> =>
  page.locator(`[data-outcome=${field}]`).getByText(String(count), { exact: true }).waitFor(SLOW);
