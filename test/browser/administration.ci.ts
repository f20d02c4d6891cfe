// Workflows, members, project, security, audit log and operator console, as people use them.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { totpCode } from '../../platform/crypto/totp.ts';
import { newId } from '../../platform/ids.ts';
import { createSession } from '../../services/sessions/sessions.ts';
import { type Person, person } from '../support/accounts.ts';
import type { ApiProject } from '../support/api.ts';
import { describeStackApp } from '../support/app.ts';
import { noticed, type VisitOptions } from '../support/browser.ts';
import { promoteToOperator, setSessions, storedAudit } from '../support/rows/accounts.ts';
import { parkOutboxMessage } from '../support/rows/outbox.ts';
import { setProject, storedProject } from '../support/rows/projects.ts';
import { type StripeStandIn, startStripe } from '../support/stripe.ts';
import { eventually } from '../support/waiting.ts';
import { type Built, build, enable } from '../support/workflow-building.ts';

const CAUSE = 'the contact has no date in data.trialEnd';
/** Buttons that a VIEWER must not see. */
const CHANGES = [
  /Retry/,
  'Enable',
  'Disable',
  'Duplicate',
  'Invite',
  'Remove',
  'Save',
  'Delete project',
  'Erase all data',
];

let stripe: StripeStandIn | undefined;
const settings = async () => {
  stripe = await startStripe();
  return {
    TEMPORAL_UI_URL: 'http://temporal.example',
    STRIPE_SECRET_KEY: 'sk_test_1',
    STRIPE_API_BASE: stripe.url,
  };
};

describeStackApp('administration in the web application', settings, (app) => {
  let project: ApiProject;

  before(async () => {
    await app.startWorker();
    project = await app.project();
  });
  after(() => stripe?.close());

  const open = (path: string, as: Omit<VisitOptions, 'url'>): Promise<Page> =>
    app.open(`/app/p/${project.id}${path}`, as);
  const member = (role: 'OWNER' | 'VIEWER'): Promise<Person> => person(app, { project: project.id, role });
  const goTo = async (page: Page, name: string): Promise<void> => {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  };

  it('retries all failed executions of one cause, and shows why a branch was taken', async () => {
    const { server, cookie } = project;
    const built = await trialWorkflow(project);
    const emails = ['ann@guest.example', 'bob@guest.example'];
    for (const email of emails) {
      await server.post('/contacts', { email, data: { plan: 'pro' } });
      expect(await server.post(`/workflows/${built.id}/executions`, { email })).to.have.status(201);
    }
    const total = async (status: string) => (await server.get(`/executions?status=${status}`)).body.total;
    await eventually(async () => (await total('FAILED')) === 2, { what: 'two failed executions' });

    const page = await open('/executions?status=FAILED', { cookie });
    const cause = page.getByRole('table', { name: 'Why journeys failed' }).getByRole('row', { name: CAUSE });
    await cause.getByText('2', { exact: true }).waitFor();
    for (const email of emails) await server.post('/contacts', { email, data: { trialEnd: '2020-01-01' } });
    await cause.getByRole('button', { name: 'Retry all' }).click();
    await noticed(page, '2 journeys continue from the failed step.', () =>
      page.getByRole('dialog').getByRole('button', { name: 'Retry all' }).click(),
    );
    await eventually(async () => (await total('EXITED')) === 2, { what: 'two ended executions' });

    await page.getByLabel('Status').selectOption('Exited');
    await page.waitForURL((url) => url.searchParams.get('status') === 'EXITED');
    await page.getByRole('link', { name: 'ann@guest.example' }).click();
    await page.getByText('Took the branch “yes”').waitFor();
    await page.getByText('because data.plan equals "pro" is true').waitFor();
    await page.getByText('attempt 2').waitFor();
    await page.getByRole('link', { name: 'Trial', exact: true }).click();
    await page.getByRole('region', { name: 'Steps of Trial' }).getByText(/^yes/).waitFor();
    await noticed(page, 'Trial is disabled', () => page.getByRole('button', { name: 'Disable' }).click());
    expect((await server.get(`/workflows/${built.id}`)).body.enabled).to.equal(false);
  });

  it('retries, skips and cancels a single execution', async () => {
    const { server, cookie } = project;
    const built = await trialWorkflow(project, 'Single');
    const start = async (email: string, data: object): Promise<string> => {
      await server.post('/contacts', { email, data: { plan: 'pro', ...data } });
      const started = await server.post(`/workflows/${built.id}/executions`, { email });
      expect(started).to.have.status(201);
      return started.body.id;
    };
    const status = async (id: string) => (await server.get(`/workflows/${built.id}/executions/${id}`)).body.status;
    const is = (id: string, wanted: string) =>
      eventually(async () => (await status(id)) === wanted, { what: `an execution that is ${wanted}` });
    const future = { trialEnd: new Date(Date.now() + 86_400_000).toISOString() };
    const failed = await start('cat@guest.example', {});
    const delayed = await start('dan@guest.example', future);
    await is(failed, 'FAILED');
    await is(delayed, 'WAITING');

    const page = await open(`/workflows/${built.id}/executions/${failed}`, { cookie });
    const act = async (name: string, said: string) => {
      await page.getByRole('button', { name }).click();
      await noticed(page, said, () => page.getByRole('dialog').getByRole('button', { name }).click());
    };
    await server.post('/contacts', { email: 'cat@guest.example', data: future });
    await act('Retry the failed step', 'The failed step is retried.');
    await is(failed, 'WAITING');
    await page.getByRole('button', { name: 'Skip the wait' }).waitFor();
    await act('Skip the wait', 'The wait has ended.');
    await is(failed, 'EXITED');
    await page.goto(`${app.url}/app/p/${project.id}/workflows/${built.id}/executions/${delayed}`);
    await act('Cancel journey', 'The journey is cancelled.');
    await is(delayed, 'CANCELLED');
    expect(await page.getByRole('button', { name: 'Skip the wait' }).count()).to.equal(0);
  });

  it('offers a VIEWER no changes', async () => {
    const { cookie } = await member('VIEWER');
    const page = await open('/executions', { cookie });
    await page.getByRole('navigation').getByRole('button', { name: 'Settings' }).click();
    for (const name of ['Journeys', 'Workflows', 'Members', 'Project settings']) {
      await goTo(page, name);
      await page.waitForLoadState('networkidle');
      for (const change of CHANGES)
        expect(await page.getByRole('button', { name: change }).count(), `${name}: ${change}`).to.equal(0);
    }
    const links = await page.getByRole('navigation').getByRole('link').allTextContents();
    expect(links.map((text) => text.trim()))
      .to.include('Security')
      .and.not.include.members(['Audit log', 'Billing']);
    expect(links.join()).to.not.include('Operator console');
  });

  it('turns on two-factor authentication, and manages members and the project', async () => {
    const owner = await member('OWNER');
    await setSessions(app.db, owner.id, { provenAt: new Date(Date.now() - 3_600_000) });
    await createSession(app.db, owner.id, { userAgent: 'curl/8.5.0' });
    const page = await open('/security', { cookie: owner.cookie, expected: /403 \(Forbidden\)/ });
    await noticed(page, 'The session has ended.', () =>
      page.getByRole('button', { name: 'End the session of curl' }).click(),
    );
    expect((await owner.get('/users/@me/sessions')).body).to.have.length(1);
    await page.getByRole('button', { name: 'Set up' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Your password').fill(owner.password);
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('img', { name: 'QR code' }).waitFor();
    const secret = (await dialog.getByText(/^[A-Z2-7]{16,}$/).textContent()) ?? '';
    await dialog.getByLabel('Code of the app').fill(totpCode(secret, Date.now()));
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    await dialog.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
    expect(await dialog.getByRole('listitem').count()).to.be.at.least(8);
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    expect(await dialog.getByRole('button', { name: 'Close' }).count()).to.equal(0);
    await dialog.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByRole('button', { name: 'Turn off' }).waitFor();
    await page.getByRole('rowheader', { name: 'Two-factor authentication turned on' }).waitFor();
    expect((await owner.get('/users/@me')).body.totpEnabled).to.equal(true);

    await goTo(page, 'Members');
    await noticed(page, 'Members need two-factor authentication from now on.', () =>
      page.getByRole('switch', { name: 'Require two-factor authentication' }).click(),
    );
    expect(await storedProject(app.db, project.id)).to.include({ requireTwoFactor: true });
    await page.getByRole('button', { name: 'Invite' }).click();
    await dialog.getByLabel('Email').fill('new@guest.example');
    await dialog.getByLabel('Role').selectOption('Viewer');
    await noticed(page, 'A mail with the invitation goes to new@guest.example.', () =>
      dialog.getByRole('button', { name: 'Invite' }).click(),
    );
    const role = page.getByLabel('Role of new@guest.example');
    await noticed(page, 'new@guest.example is now Admin.', () => role.selectOption('Admin'));
    const members = async () => (await owner.get(`/projects/${project.id}/members`)).body as { email: string }[];
    const invited = async () => (await members()).find(({ email }) => email === 'new@guest.example');
    expect(await invited()).to.include({ role: 'ADMIN', status: 'PENDING' });
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await noticed(page, 'The invitation of new@guest.example is withdrawn.', () =>
      dialog.getByRole('button', { name: 'Withdraw' }).click(),
    );
    expect(await invited()).to.equal(undefined);

    await goTo(page, 'Project settings');
    await page.getByLabel('Name').fill('Bakery');
    await page.getByLabel('Tracking of opens and clicks').selectOption('Off');
    await noticed(page, 'The settings are saved.', () => page.getByRole('button', { name: 'Save' }).click());
    expect((await owner.get(`/projects/${project.id}`)).body).to.include({ name: 'Bakery', tracking: 'DISABLED' });

    await goTo(page, 'Billing');
    await page.getByLabel('Campaigns').fill('5000');
    await page.getByRole('button', { name: 'Save' }).click();
    const usage = page.getByRole('table', { name: 'Usage of this period' });
    await usage.getByRole('row', { name: 'Campaigns 0 5,000 5,000' }).waitFor();
    const limits = (await owner.get(`/users/@me/projects/${project.id}/billing-limits`)).body;
    expect(limits).to.deep.equal({ transactional: null, campaigns: 5000, workflows: null });

    await goTo(page, 'Audit log');
    await page.getByLabel('Action').selectOption('Role changed');
    const entry = page.getByRole('table', { name: 'Audit log' }).getByRole('row').nth(1);
    await entry.getByText('Viewer → Admin').waitFor();
    await entry.getByText(owner.email).waitFor();
  });

  it('lets an operator retry a parked message, and disable and enable a project', async () => {
    const { id: otherId } = await app.project();
    await promoteToOperator(app.db, project.userId);
    await setProject(app.db, project.id, { requireTwoFactor: false });
    const message = { queue: 'control', projectId: otherId, workflowId: `campaign/${newId()}`, action: 'signal' };
    const parked = await parkOutboxMessage(app.db, { ...message, attempts: 10 });
    const page = await open('/operator', { cookie: project.cookie });
    await page
      .getByRole('table', { name: 'Queues' })
      .getByRole('row', { name: /^webhooks/ })
      .waitFor();
    const link = await page.getByRole('link', { name: message.workflowId }).getAttribute('href');
    expect(link).to.match(/^http:\/\/temporal\.example\/namespaces\/.+\/workflows\/campaign%2F/);
    await noticed(page, `Message ${parked} is retried.`, () =>
      page.getByRole('button', { name: `Retry message ${parked}` }).click(),
    );
    const acts = await storedAudit(app.db, { projectId: otherId, action: 'outbox.retried' });
    expect(acts).to.have.length(1);

    await page.getByLabel('Search by name, ID or address of a member').fill(otherId);
    await page.waitForURL(`**/operator?search=${otherId}`);
    const row = page.getByRole('table', { name: 'Projects' }).getByRole('row', { name: otherId });
    const isDisabled = async () => (await storedProject(app.db, otherId)).disabled;
    await row.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('spam');
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await row.getByRole('button', { name: 'Enable' }).click();
    expect(await isDisabled()).to.equal(true);
    await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click();
    await row.getByRole('button', { name: 'Disable' }).waitFor();
    expect(await isDisabled()).to.equal(false);
  });
});

/** Waits for a date of the contact that it does not have yet, behind a condition. */
async function trialWorkflow(project: ApiProject, name = 'Trial'): Promise<Built> {
  const built = await build(
    project,
    {
      steps: {
        paying: { type: 'CONDITION', config: { field: 'data.plan', operator: 'equals', value: 'pro' } },
        rest: { type: 'DELAY', config: { until: 'data.trialEnd' } },
        out: { type: 'EXIT', config: { reason: 'trial over' } },
      },
      transitions: [
        ['paying', 'rest', 'yes'],
        ['paying', 'out', 'no'],
        ['rest', 'out'],
      ],
    },
    { name },
  );
  await enable(project, built.id);
  return built;
}
