import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { newId } from '../../platform/ids.ts';
import { person } from '../support/accounts.ts';
import type { ApiProject } from '../support/api.ts';
import { describeStackApp } from '../support/app.ts';
import { noticed, type VisitOptions } from '../support/browser.ts';
import { addStep, card, drag, fitView, focusOn, panel, press, publish, saved, typeStep } from '../support/canvas.ts';
import { eventually } from '../support/waiting.ts';
import { type Built, build, enable, makeTemplate } from '../support/workflow-building.ts';

describeStackApp('the canvas of a workflow', {}, (app) => {
  let project: ApiProject;

  before(async () => {
    await app.startWorker();
    project = await app.project();
  });

  const open = (path: string, as: Partial<VisitOptions> = {}): Promise<Page> =>
    app.open(`/app/p/${project.id}${path}`, { cookie: project.cookie, ...as });
  const openCanvas = async (id: string, options: Partial<VisitOptions> = {}): Promise<Page> => {
    const page = await open(`/workflows/${id}`, options);
    // Numbers follow events after a while on a busy machine.
    page.setDefaultTimeout(60_000);
    await page.locator('.react-flow__node').first().waitFor();
    return page;
  };
  const draftOf = async (id: string) => (await project.server.get(`/workflows/${id}/draft`)).body;
  const track = async (event: string, ...emails: string[]) => {
    for (const email of emails) expect(await project.browser.post('/v1/track', { event, email })).to.have.status(200);
  };
  /** The number of a step as the canvas shows it. */
  const numberOf = (page: Page, step: string, name: string) => card(page, step).locator(`[data-number=${name}]`);
  /** A workflow that waits for the event `go`, with people who wait. */
  const waitingWorkflow = async (name: string, ...emails: string[]): Promise<Built> => {
    const steps = { Wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'go' } }, Exit: { type: 'EXIT' } };
    const built = await build(project, { steps, transitions: [['Wait', 'Exit', 'event']] }, { name, eventName: name });
    await enable(project, built.id);
    await track(name, ...emails);
    return built;
  };

  it('builds eight steps by mouse, publishes them, and shows the numbers of real events', async () => {
    const { smtp } = app;
    await makeTemplate(project, { name: 'Greeting', subject: 'Welcome' });
    await project.server.post('/segments', { name: 'Customers', type: 'STATIC' });
    const page = await open('/workflows');
    await page.getByRole('button', { name: 'New workflow' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('By mouse');
    await page.getByRole('dialog').getByLabel('Starts with the event').fill('mouse started');
    await page.getByRole('button', { name: 'Create workflow' }).click();
    const form = panel(page);

    await addStep(page, 'Add a step after Event mouse started', 'Send mail');
    await form.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'Greeting' }).click();
    await addStep(page, 'Add a step after Send mail', 'Delay');
    await form.getByLabel('Wait for', { exact: true }).fill('0.1');
    await form.getByLabel('Unit of Wait for').selectOption('seconds');
    await addStep(page, 'Add a step after Delay', 'Wait for event');
    await form.getByLabel('Event', { exact: true }).fill('bought');
    await form.getByLabel('Wait at most', { exact: true }).fill('2');
    await addStep(page, 'Add a step after Wait for event: time ran out', 'Exit');
    await form.getByLabel('Reason').fill('no order');
    await fitView(page);
    await addStep(page, 'Add a step after Wait for event: the event came', 'Update contact');
    await form.getByRole('button', { name: 'Add a row to Fields to set' }).click();
    await form.getByLabel('Fields to set: name 1').fill('stage');
    await form.getByLabel('Fields to set: value 1').fill('customer');
    await addStep(page, 'Add a step after Update contact', 'Add to segment');
    await form.getByRole('combobox', { name: 'Segment' }).click();
    await page.getByRole('option', { name: 'Customers' }).click();
    await addStep(page, 'Add a step after Add to segment', 'Exit');
    await fitView(page);
    await addStep(page, 'Insert a step between Send mail and Delay', 'Condition');
    await form.getByLabel('Field', { exact: true }).click();
    await page.getByRole('option', { name: 'Subscribed', exact: true }).click();
    await fitView(page);
    await drag(page, { step: 'Condition', exit: 'no' }, 'Exit 2');

    await noticed(page, 'The workflow is live.', () => publish(page));
    await fitView(page);
    const { id } = (await project.server.get('/workflows?search=mouse')).body.data[0];
    const { graph, changed } = await draftOf(id);
    expect(changed).to.equal(false);
    expect(graph.steps.map(({ type }: { type: string }) => type)).to.have.members([
      'SEND_EMAIL',
      'CONDITION',
      'DELAY',
      'WAIT_FOR_EVENT',
      'UPDATE_CONTACT',
      'ADD_TO_SEGMENT',
      'EXIT',
      'EXIT',
    ]);
    expect(graph.transitions).to.have.length(8);

    await track('mouse started', 'ann@guest.example', 'bob@guest.example');
    await numberOf(page, 'Wait for event', 'waiting').getByText('2 here').waitFor();
    await track('bought', 'ann@guest.example');
    await numberOf(page, 'Exit 2', 'entered').getByText('1 came').waitFor();
    await page.getByText('the event came · 50%').waitFor();
    expect(smtp.mailsTo('ann@guest.example')).to.have.length(1);
    await numberOf(page, 'Wait for event', 'waiting').getByText('1 here').click();
    await page.getByRole('link', { name: 'bob@guest.example' }).waitFor();
    expect(await page.getByRole('link', { name: 'ann@guest.example' }).count()).to.equal(0);
    await page.goBack();
    await numberOf(page, 'Exit 2', 'entered').getByText('1 came').click();
    await page.getByRole('link', { name: 'ann@guest.example' }).waitFor();
    expect(await page.getByRole('link', { name: 'bob@guest.example' }).count()).to.equal(0);
  });

  it('builds eight steps by keyboard alone, publishes them, and runs them', async () => {
    const { id } = (await project.server.post('/workflows', { name: 'By keyboard', eventName: 'keys started' })).body;
    const page = await openCanvas(id);
    await page.evaluate(`document.querySelector('[role=toolbar] button').focus()`);
    await eventually(
      async () => {
        await press(page, 'Tab');
        return page.evaluate<boolean>(`document.activeElement.matches('.react-flow__node')`);
      },
      { what: 'the focus in the canvas' },
    );
    await typeStep(page, 'Delay');
    await press(page, 'Enter', 'Tab', "'0.1'", 'Tab', "'s'", 'Escape');
    await focusOn(page, 'Delay');
    await typeStep(page, 'Wait for event');
    await press(page, 'Enter', 'Tab', "'bought'", 'Escape');
    await focusOn(page, 'Wait for event');
    await typeStep(page, 'Update contact');
    await press(page, 'Enter', 'Tab', 'Tab', "'Y'", 'Escape');
    await focusOn(page, 'Update contact');
    await press(page, 'ArrowUp', 'ArrowUp', 'Control+c', 'ArrowDown', 'ArrowDown');
    await focusOn(page, 'Update contact');
    for (let copies = 1; copies <= 4; copies++) {
      await press(page, 'Control+v');
      await focusOn(page, 'Delay');
    }
    await typeStep(page, 'Exit');
    // One too many: undone, redone, and undone again.
    await press(page, 'ArrowUp', 'Control+v', 'Control+z');
    await focusOn(page, 'Event keys started');
    await press(page, 'Control+Shift+Z', 'Control+z', 'ArrowDown', 'ArrowDown');
    await focusOn(page, 'Wait for event');
    await typeStep(page, 'Exit', 'Exit 2');
    await press(page, 'Delete');
    await focusOn(page, 'Wait for event');
    await saved(page);
    expect((await draftOf(id)).graph.steps).to.have.length(8);
    await press(page, 'c');
    await page.getByText('Connecting Wait for event (time ran out)').waitFor();
    for (const _ of Array(6)) await press(page, 'ArrowDown');
    await focusOn(page, 'Exit');
    await press(page, 'Enter');
    await saved(page);
    const { graph, faults } = await draftOf(id);
    expect(faults).to.deep.equal([]);
    expect(graph.transitions).to.have.length(8);

    await page.getByRole('button', { name: 'Publish', exact: true }).press('Enter');
    await noticed(page, 'The workflow is live.', () =>
      page.getByRole('dialog').getByRole('button', { name: 'Publish now' }).press('Enter'),
    );
    await fitView(page);
    await track('keys started', 'cyd@guest.example');
    await numberOf(page, 'Wait for event', 'waiting').getByText('1 here').waitFor();
    await track('bought', 'cyd@guest.example');
    await numberOf(page, 'Exit', 'entered').getByText('1 came').waitFor();
  });

  it('moves those who wait when a live workflow is edited and published; a failing case stops it', async () => {
    const emails = ['dan@guest.example', 'eve@guest.example', 'fay@guest.example'];
    const { id, steps } = await waitingWorkflow('live', ...emails);
    const page = await openCanvas(id, { expected: /422/ });
    await numberOf(page, 'Wait', 'waiting').getByText('3 here').waitFor();
    await addStep(page, 'Insert a step between Wait and Exit', 'Update contact');
    await panel(page).getByLabel('Subscribed').selectOption('Yes');
    const dialog = await publish(page, false);
    await dialog.getByText('3 people in the workflow now').waitFor();
    await dialog.getByText('Move to the new version where possible: 3 people').waitFor();
    await noticed(page, 'Moved to it: 3; finish on their version: 0', () =>
      dialog.getByRole('button', { name: 'Publish now' }).click(),
    );
    await fitView(page);
    await track('go', ...emails);
    await numberOf(page, 'Update contact', 'entered').getByText('3 came').waitFor();
    await numberOf(page, 'Exit', 'entered').getByText('3 came').waitFor();

    const expected = [{ stepId: steps.Wait, branch: 'event' }, { stepId: steps.Exit }];
    const events = [{ at: 60, name: 'go' }];
    const wanted = { name: 'goes straight', contact: { email: 'x@guest.example' }, events, expect: expected };
    expect(await project.server.post(`/workflows/${id}/cases`, wanted)).to.have.status(201);
    await card(page, 'Exit').click();
    await panel(page).getByLabel('Name of the step').fill('The end');
    await publish(page);
    await page.getByRole('dialog').getByText('Not published: failed cases: 1').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('tab', { name: 'Cases' }).click();
    await page.getByRole('button', { name: 'Run against the draft' }).click();
    await page.getByText('Taken: Wait (the event came) → Update contact → The end').waitFor();
    await page.getByRole('button', { name: 'Delete the case goes straight' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No cases yet').waitFor();
    await page.getByRole('tab', { name: 'Canvas' }).click();
    await publish(page);
    await eventually(async () => !(await draftOf(id)).changed, { what: 'the second publication' });

    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByRole('button', { name: 'Restore version' }).last().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
    await card(page, 'Exit').waitFor();
    expect((await draftOf(id)).graph.steps).to.have.length(2);
  });

  it('tells a second editor, shows the other draft, and applies the changes to it', async () => {
    const { id } = await waitingWorkflow('shared');
    const second = await person(app, { project: project.id, role: 'MEMBER' });
    const mine = await openCanvas(id, { expected: /409/ });
    const theirs = await openCanvas(id, { cookie: second.cookie });
    // This tab does not hear of the other one before it saves.
    await mine.route('**/workflows/*/draft', (route) =>
      route.request().method() === 'GET' ? undefined : route.continue(),
    );
    await card(theirs, 'Wait').click();
    await panel(theirs).getByLabel('Name of the step').fill('Theirs');
    await saved(theirs);
    await card(mine, 'Exit').click();
    await panel(mine).getByLabel('Name of the step').fill('Mine');
    await mine.getByText('Another person changed this draft').waitFor();
    await mine.getByText(`${second.email} saved it`).waitFor();
    await mine.getByRole('button', { name: 'See theirs' }).click();
    await card(mine, 'Theirs').waitFor();
    await card(mine, 'Exit').waitFor();
    await mine.getByRole('button', { name: 'Apply my changes to theirs' }).click();
    await saved(mine);
    const { graph } = await draftOf(id);
    expect(graph.steps.map(({ name }: { name: string }) => name)).to.have.members(['Theirs', 'Mine']);
    await card(theirs, 'Mine').waitFor();
  });

  it('keeps an unsaved draft over a reload, and saves it when the server answers', async () => {
    const { id } = await waitingWorkflow('reloaded');
    const page = await openCanvas(id, { expected: /ERR_FAILED/ });
    await page.route('**/workflows/*/draft', (route) =>
      route.request().method() === 'PUT' ? route.abort() : route.continue(),
    );
    await card(page, 'Exit').click();
    await panel(page).getByLabel('Name of the step').fill('Kept');
    await page.locator('[data-save=unreachable]').waitFor();
    await page.reload();
    await card(page, 'Kept').waitFor();
    expect((await draftOf(id)).changed).to.equal(false);
    await page.unroute('**/workflows/*/draft');
    await saved(page);
    const names = (await draftOf(id)).graph.steps.map(({ name }: { name: string }) => name);
    expect(names).to.have.members(['Wait', 'Kept']);
  });

  it('draws 200 steps, only those in view, and one of them anew while its name is typed', async () => {
    const { id } = (await project.server.post('/workflows', { name: 'Large', eventName: 'large' })).body;
    const ids = Array.from({ length: 200 }, () => newId());
    const config = { eventName: 'go' };
    // Each step has two exits: a tree.
    const steps = ids.map((step, n) => ({ id: step, type: 'WAIT_FOR_EVENT', name: `Step ${n}`, config }));
    const transitions = ids.slice(1).map((toStepId, n) => ({
      fromStepId: ids[Math.floor(n / 2)],
      toStepId,
      branch: n % 2 === 0 ? 'event' : 'timeout',
    }));
    const graph = { steps, transitions };
    expect(await project.server.put(`/workflows/${id}/draft`, { expectedRevision: 0, graph })).to.have.status(200);

    const page = await openCanvas(id);
    await page.locator('.react-flow__node').first().focus();
    await press(page, 'ArrowDown');
    await focusOn(page, 'Step 0');
    for (let down = 0; down < 7; down++) await press(page, 'ArrowDown');
    await page.locator('.react-flow__node:focus').waitFor();
    expect(await page.locator('.react-flow__node').count()).to.be.lessThan(100);
    const name = panel(page).getByLabel('Name of the step');
    await page.evaluate(WATCH);
    await name.fill('Renamed');
    await card(page, 'Renamed').waitFor();
    expect(await page.evaluate('drawnAnew.size')).to.equal(1);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Redo' }).click();
    await press(page, 'Escape');
    await panel(page)
      .getByRole('button', { name: /^Add a step after Renamed/ })
      .first()
      .click();
    await panel(page).getByRole('button', { name: 'Exit', exact: true }).click();
    await saved(page);
    expect((await draftOf(id)).graph.steps).to.have.length(201);
  });

  it('installs a recipe with one click, and its cases pass', async () => {
    const page = await open('/workflows');
    await page.getByRole('button', { name: 'Recipes' }).click();
    await page.getByRole('dialog').getByRole('listitem').nth(4).waitFor();
    await page.getByRole('button', { name: 'Install Win-back' }).click();
    await page.getByRole('heading', { level: 1, name: /Win-back/i }).waitFor();
    await page.getByRole('tab', { name: 'Cases' }).click();
    await page.getByRole('button', { name: 'Run against the draft' }).click();
    await page.getByText(/Passed: [1-9]\d*, failed: 0/).waitFor();
  });

  it('lets a VIEWER look at a workflow, and change nothing', async () => {
    const { id } = await waitingWorkflow('looked at');
    const { cookie } = await person(app, { project: project.id, role: 'VIEWER' });
    const page = await openCanvas(id, { cookie, width: 375 });
    await card(page, 'Wait').click();
    await panel(page).getByLabel('Event', { exact: true }).waitFor();
    expect(await panel(page).getByLabel('Event', { exact: true }).isDisabled()).to.equal(true);
    for (const change of ['Add step', 'Publish', 'Delete step', 'Undo', 'Disable', 'Insert a step'])
      expect(await page.getByRole('button', { name: change }).count(), change).to.equal(0);
    await card(page, 'Wait').press('Delete');
    await card(page, 'Wait').waitFor();
  });
});

/** Collects the steps whose drawing changes. */
const WATCH = `(() => {
  self.drawnAnew = new Set();
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      const node = (target.nodeType === 1 ? target : target.parentElement)?.closest('.react-flow__node');
      if (node) drawnAnew.add(node.dataset.id);
    }
  }).observe(document.querySelector('.react-flow__nodes'), { subtree: true, childList: true, characterData: true });
})()`;
