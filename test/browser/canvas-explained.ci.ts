import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { newId } from '../../platform/ids.ts';
import type { ApiProject } from '../support/api.ts';
import { describeStackApp } from '../support/app.ts';
import { noticed, type VisitOptions } from '../support/browser.ts';
import { addStep, card, fitView, panel, publish, saved } from '../support/canvas.ts';
import { eventually } from '../support/waiting.ts';
import { build, enable, makeTemplate } from '../support/workflow-building.ts';

/** Refuses connections: webhooks to it are tried again and again. */
const CLOSED_PORT = '127.0.0.1:9';

describeStackApp('a canvas that explains itself', { WEBHOOK_ALLOWED_HOSTS: CLOSED_PORT }, (app) => {
  let project: ApiProject;

  before(async () => {
    await app.startWorker();
    project = await app.project();
  });

  const open = async (path: string, as: Partial<VisitOptions> = {}): Promise<Page> => {
    const page = await app.open(`/app/p/${project.id}${path}`, { cookie: project.cookie, ...as });
    page.setDefaultTimeout(60_000);
    return page;
  };
  const openCanvas = async (id: string): Promise<Page> => {
    const page = await open(`/workflows/${id}`);
    await page.locator('.react-flow__node').first().waitFor();
    return page;
  };
  const draftOf = async (id: string) => (await project.server.get(`/workflows/${id}/draft`)).body;
  const track = async (event: string, ...emails: string[]) => {
    for (const email of emails) expect(await project.browser.post('/v1/track', { event, email })).to.have.status(200);
  };
  const created = async (name: string): Promise<string> =>
    (await project.server.post('/workflows', { name, eventName: name })).body.id;

  it('says on each step what it does, and how many opened and clicked', async () => {
    const templateId = await makeTemplate(project, { name: 'Greeting', subject: 'Welcome to us' });
    const built = await build(
      project,
      {
        steps: {
          Mail: { type: 'SEND_EMAIL', config: { templateId } },
          Pause: { type: 'DELAY', config: { amount: 3, unit: 'days' } },
          Ask: { type: 'CONDITION', config: { field: 'data.plan', operator: 'equals', value: 'pro' } },
          Await: {
            type: 'WAIT_FOR_EVENT',
            config: { eventName: 'order placed', timeout: { amount: 7, unit: 'days' } },
          },
          Parts: {
            type: 'SPLIT',
            config: {
              branches: [
                { name: 'short', weight: 3 },
                { name: 'long', weight: 1 },
              ],
            },
          },
        },
        transitions: [
          ['Mail', 'Pause'],
          ['Pause', 'Ask'],
          ['Ask', 'Await', 'yes'],
          ['Await', 'Parts', 'event'],
        ],
      },
      { name: 'Described', eventName: 'described' },
    );
    await enable(project, built.id);
    const suppressed = { email: 'bea@guest.example', reason: 'MANUAL' };
    expect(await project.server.post('/suppressions', suppressed)).to.have.status(201);
    await track('described', 'ann@guest.example', 'bea@guest.example');
    const page = await openCanvas(built.id);
    await card(page, 'Mail').getByText('Greeting').waitFor();
    await card(page, 'Mail').getByText('Welcome to us').waitFor();
    await card(page, 'Pause').getByText('3 days').waitFor();
    await card(page, 'Ask').getByText('plan is pro').waitFor();
    await card(page, 'Await').getByText('order placed within 7 days').waitFor();
    await card(page, 'Parts').getByText('short 75% · long 25%').waitFor();
    await card(page, 'Mail').getByText('1 sent · 0 opened · 0 clicked').waitFor();
    await card(page, 'Mail').click();
    const unsent = panel(page).locator('[data-number=unsent]');
    await unsent.getByText('1', { exact: true }).click();
    await page.getByRole('row').getByText('bea@guest.example').waitFor();
  });

  it('marks a step that keeps failing in red with the cause, on the canvas, in the list and on Home', async () => {
    const { id } = await build(
      project,
      { steps: { 'Call CRM': { type: 'WEBHOOK', config: { url: `http://${CLOSED_PORT}/` } } } },
      { name: 'Broken', eventName: 'broken' },
    );
    await enable(project, id);
    await track('broken', 'eva@guest.example', 'finn@guest.example');
    const page = await openCanvas(id);
    const step = card(page, 'Call CRM');
    await step.locator('.step-problem').getByText('2 retrying').waitFor();
    expect(await step.locator('.step-error').innerText()).to.match(/connect/i);
    await step.click();
    await panel(page).getByText('This step fails').waitFor();
    await panel(page).getByRole('link', { name: '2 people wait for the next attempt' }).click();
    await page.getByRole('link', { name: 'eva@guest.example' }).waitFor();
    const list = await open('/workflows');
    await list.getByRole('link', { name: '2 retrying' }).waitFor();
    const home = await open('');
    await home.getByRole('link', { name: /2 people wait at “Call CRM” in Broken, which keeps failing/ }).waitFor();
  });

  it('says whether the draft or the live version is shown, and where the people are whom the draft has no step for', async () => {
    const { id } = await build(
      project,
      {
        steps: { Wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'go' } }, End: { type: 'EXIT' } },
        transitions: [['Wait', 'End', 'event']],
      },
      { name: 'Two views', eventName: 'two views' },
    );
    await enable(project, id);
    await track('two views', 'gil@guest.example', 'hal@guest.example', 'ida@guest.example');
    const page = await openCanvas(id);
    await page
      .locator('[data-view=live]')
      .getByText(/^Live: version \d+$/)
      .waitFor();
    await card(page, 'Wait').getByText('3 here').waitFor();
    await card(page, 'Wait').click();
    await page.getByRole('button', { name: 'Delete the selected steps' }).click();
    await saved(page);
    await page.locator('[data-view=draft]').waitFor();
    await page.locator('[data-elsewhere="3"]').getByText('3 people are at steps that are not shown here').waitFor();
    await page.getByRole('button', { name: 'Show the live version' }).click();
    await page.locator('[data-view=live]').waitFor();
    await card(page, 'Wait').getByText('3 here').waitFor();
    expect(await page.getByRole('button', { name: 'Add step' }).isDisabled()).to.equal(true);
    expect(await page.locator('[data-elsewhere]').count()).to.equal(0);
    await page.locator('.view-switch').getByText('Draft', { exact: true }).click();
    await page.getByRole('link', { name: 'Wait: 3' }).click();
    await page.getByRole('link', { name: 'gil@guest.example' }).waitFor();
  });

  it('begins new steps with what most people want, and inserts one before the first', async () => {
    const id = await created('defaults');
    const page = await openCanvas(id);
    const form = panel(page);
    await addStep(page, 'Add a step after Event defaults', 'Split');
    expect(await form.getByLabel('Name 1').inputValue()).to.equal('A');
    expect(await form.getByLabel('Weight 2').inputValue()).to.equal('50');
    await fitView(page);
    await addStep(page, 'Insert a step between Event defaults and Split', 'Time window');
    expect(await form.getByRole('combobox', { name: 'From' }).inputValue()).to.equal('09:00');
    expect(await form.getByLabel('Mon', { exact: true }).isChecked()).to.equal(true);
    expect(await form.getByLabel('Sat', { exact: true }).isChecked()).to.equal(false);
    await form.getByRole('combobox', { name: 'To' }).fill('18');
    await form.getByRole('combobox', { name: 'Time zone' }).click();
    await page.keyboard.type('berl');
    await page.getByRole('option', { name: 'Europe/Berlin' }).click();
    await fitView(page);
    await addStep(page, 'Insert a step between Event defaults and Time window', 'Webhook');
    expect(await form.getByLabel('Method').inputValue()).to.equal('POST');
    await saved(page);
    const { graph } = await draftOf(id);
    const byType = new Map(graph.steps.map((step: { type: string; config: object }) => [step.type, step.config]));
    expect(byType.get('TIME_WINDOW')).to.deep.equal({
      days: ['MON', 'TUE', 'WED', 'THU', 'FRI'],
      from: '09:00',
      to: '18:00',
      timezone: 'Europe/Berlin',
    });
    expect(byType.get('WEBHOOK')).to.deep.equal({ method: 'POST' });
    expect(graph.transitions).to.have.length(2);
    expect(await page.locator('fieldset').count()).to.equal(0);
  });

  it('shows what a publication and a version change, with old and new values, and fills the screen', async () => {
    const id = await created('compared');
    const wait = newId();
    const graph = {
      steps: [{ id: wait, type: 'DELAY', name: 'Pause', config: { amount: 3, unit: 'days' } }],
      transitions: [],
    };
    const { revision } = await draftOf(id);
    const put = await project.server.put(`/workflows/${id}/draft`, { expectedRevision: revision, graph });
    expect(put).to.have.status(200);
    const first = await project.server.post(`/workflows/${id}/publish`, { expectedRevision: put.body.revision });
    expect(first).to.have.status(200);

    const page = await openCanvas(id);
    await page.getByRole('button', { name: 'Full screen' }).click();
    const box = await page.locator('.canvas-area').boundingBox();
    expect(box).to.deep.include({ x: 0, y: 0, width: 1280, height: 860 });
    await card(page, 'Pause').click();
    await panel(page).getByLabel('Wait for', { exact: true }).fill('5');
    await addStep(page, 'Add a step after Pause', 'Exit');
    await page.getByRole('button', { name: 'Leave full screen' }).click();
    const dialog = await publish(page, false);
    const changes = dialog.getByRole('region', { name: 'What changes' });
    await changes.getByText('1 step added').waitFor();
    await changes.getByText('1 step changed').waitFor();
    expect(await changes.locator('del').first().innerText()).to.equal('3');
    expect(await changes.locator('ins').first().innerText()).to.equal('5');
    await changes.getByText('Pause: the end → Exit').waitFor();
    await noticed(page, 'is live', () => dialog.getByRole('button', { name: 'Publish now' }).click());
    await eventually(async () => !(await draftOf(id)).changed, { what: 'the publication' });
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page
      .getByRole('button', { name: /^Show version/ })
      .first()
      .click();
    const since = page.getByRole('region', { name: /^Changes since version/ });
    await since.getByText('1 step added').waitFor();
    expect(await since.locator('ins').first().innerText()).to.equal('5');
  });

  it('starts when a person enters a segment, and asks before it turns tracking on', async () => {
    const segment = (await project.server.post('/segments', { name: 'Champions', type: 'STATIC' })).body;
    const id = await created('by segment');
    const page = await openCanvas(id);
    await page.locator('.react-flow__node').first().click();
    const form = panel(page);
    await form.getByLabel('What starts it').selectOption('Entering a segment');
    await form.getByRole('combobox', { name: 'Segment' }).click();
    await page.getByRole('option', { name: 'Champions' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Track who enters Champions?').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect((await project.server.get(`/segments/${segment.id}`)).body.trackMembership).to.equal(false);
    await form.getByRole('combobox', { name: 'Segment' }).click();
    await page.getByRole('option', { name: 'Champions' }).click();
    await dialog.getByRole('button', { name: 'Track membership' }).click();
    await card(page, `Enters segment ${segment.slug}`).waitFor();
    expect((await project.server.get(`/segments/${segment.id}`)).body.trackMembership).to.equal(true);
    await addStep(page, `Add a step after Enters segment ${segment.slug}`, 'Wait for event');
    await form.getByLabel('Event', { exact: true }).fill('thanked');
    await saved(page);
    await publish(page);
    await eventually(async () => !(await draftOf(id)).changed, { what: 'the publication' });
    const isEnabled = async () => (await project.server.get(`/workflows/${id}`)).body.enabled;
    await eventually(isEnabled, { what: 'the enabled workflow' });
    const members = { emails: ['kim@guest.example'], createMissing: true };
    expect(await project.server.post(`/segments/${segment.id}/members`, members)).to.have.status(200);
    await card(page, 'Wait for event').getByText('1 here').waitFor();
  });
});
