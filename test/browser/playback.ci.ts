import { expect } from 'chai';
import type { Locator, Page, Request } from 'playwright-core';
import type { ApiProject } from '../support/api.ts';
import { describeApp } from '../support/app.ts';
import { type CreatedWorkflow, ExecutionDriver } from '../support/executions.ts';
import { eventually } from '../support/waiting.ts';
import { type Built, build, enable, makeTemplate } from '../support/workflow-building.ts';

interface SimulatedStep {
  visit: number;
  name: string;
  branch: string | null;
  reason: string | null;
  enteredAt: string;
  leftAt: string | null;
}

describeApp('the player of workflows', {}, (app) => {
  let project: ApiProject;
  let workflow: Built;

  const open = (path: string): Promise<Page> =>
    app.open(`/app/p/${project.id}/workflows/${path}`, { cookie: project.cookie });

  before(async () => {
    project = await app.project();
    const templateId = await makeTemplate(project, {
      subject: 'Hello {{ plan }}',
      body: '<p>Your plan: {{ plan }}</p>',
    });
    workflow = await build(project, {
      steps: {
        hello: { type: 'SEND_EMAIL', config: { templateId } },
        wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought', timeout: { amount: 5, unit: 'days' } } },
        ask: { type: 'CONDITION', config: { field: 'data.plan', operator: 'equals', value: 'pro' } },
        hours: { type: 'TIME_WINDOW', config: { days: ['MON', 'TUE'], from: '09:00', to: '17:00' } },
        tell: { type: 'WEBHOOK', config: { url: 'https://shop.example/hook', body: { total: '{{ event.total }}' } } },
        late: { type: 'EXIT', config: { reason: 'late' } },
        other: { type: 'EXIT', config: { reason: 'other plan' } },
        done: { type: 'EXIT', config: { reason: 'told' } },
      },
      transitions: [
        ['hello', 'wait'],
        ['wait', 'ask', 'event'],
        ['wait', 'late', 'timeout'],
        ['ask', 'hours', 'yes'],
        ['ask', 'other', 'no'],
        ['hours', 'tell'],
        ['tell', 'done'],
      ],
    });
    await enable(project, workflow.id);
  });

  const now = (page: Page): Locator => page.getByRole('region', { name: 'This step' });
  const clock = (page: Page): Promise<string | null> => page.locator('.player-clock time').getAttribute('datetime');
  const scrubber = (page: Page): Locator => page.getByRole('slider', { name: 'Position' });

  /** Invents a person who buys two days after the start, and plays. Returns what the page asked the API. */
  const playSomebody = async (page: Page): Promise<{ requests: Request[]; body: object }> => {
    await page.getByLabel('Address').fill('ann@example.com');
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.getByRole('button', { name: 'Add field' }).click();
    await page.getByLabel('Fields: name 1').fill('plan');
    await page.getByLabel('Fields: value 1').fill('pro');
    await page.getByLabel('Starts at').fill('2026-11-12T18:30');
    await page.getByRole('button', { name: 'Add event' }).click();
    const event = page.getByRole('group', { name: 'Event 1' });
    await event.getByLabel(/^Event/).fill('bought');
    await event.getByRole('button', { name: 'Add value' }).click();
    await event.getByLabel('Data of bought: name 1').fill('total');
    await event.getByLabel('Data of bought: value 1').fill('12');
    // A day and an hour after the start, by keyboard on the line.
    const marker = page.getByRole('slider', { name: 'Time of event 1, bought' });
    await marker.press('ArrowRight');
    expect(await event.getByRole('textbox', { name: 'After the start' }).inputValue()).to.equal('25');
    const requests: Request[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/simulate')) requests.push(request);
    });
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await now(page).waitFor();
    return { requests, body: requests[0]?.postDataJSON() as object };
  };

  it('shows each step that POST /workflows/:id/simulate answers, with what goes out', async () => {
    const page = await open(`${workflow.id}/play`);
    const { requests, body } = await playSomebody(page);
    const simulated = await project.server.post(`/workflows/${workflow.id}/simulate`, body);
    expect(simulated).to.have.status(200);
    const path: SimulatedStep[] = simulated.body.path;
    expect(path.map(({ name }) => name)).to.deep.equal(['hello', 'wait', 'ask', 'hours', 'tell', 'done']);

    await scrubber(page).press('Home');
    for (const [index, { visit: number, name, branch, reason, enteredAt }] of path.entries()) {
      await now(page)
        .getByRole('heading', { name: `${number}. ${name}`, exact: true })
        .waitFor();
      expect(await clock(page), name).to.equal(enteredAt);
      expect(await page.locator('.step-card[data-tone=current] .step-name').innerText()).to.equal(name);
      expect(await page.locator('.visit-list li').count()).to.equal(index + 1);
      if (branch) await now(page).getByText('Took the branch').waitFor();
      if (reason) await now(page).getByText(reason).waitFor();
      if (name === 'ask') await now(page).getByRole('list', { name: 'Filters' }).getByText('decided').waitFor();
      if (name === 'tell') await page.getByText('POST https://shop.example/hook').waitFor();
      await scrubber(page).press('ArrowRight');
    }
    await page.getByText('Left the workflow: told').waitFor();
    await page.getByRole('button', { name: '1. Hello pro' }).click();
    const frame = page.locator('iframe.mail-frame');
    await frame.contentFrame().getByText('Your plan: pro').waitFor();
    expect(await frame.getAttribute('sandbox')).to.equal('');
    expect(requests).to.have.length(1);
  });

  it('goes back and forth with the scrubber, the keys and the list, and plays on from there', async () => {
    const page = await open(`${workflow.id}/play`);
    await playSomebody(page);
    await page.getByRole('button', { name: 'Stop the clock' }).click();
    await scrubber(page).fill('15');
    await now(page).getByRole('heading', { name: '2. wait' }).waitFor();
    // In the middle of the wait of 25 hours.
    expect(await clock(page)).to.equal('2026-11-13T07:00:00.000Z');
    await page.getByText('12 hr 30 min after the start').waitFor();
    await page.getByText('not yet').waitFor();
    await scrubber(page).fill('60');
    await page.getByText('Left the workflow: told').waitFor();
    await scrubber(page).fill('0');
    await now(page).getByRole('heading', { name: '1. hello' }).waitFor();
    expect(await page.getByText('Left the workflow: told').count()).to.equal(0);
    await page.getByRole('button', { name: 'Next step' }).click();
    await scrubber(page).press('End');
    await page.getByRole('button', { name: /^3\. ask/ }).click();
    await now(page).getByRole('heading', { name: '3. ask' }).waitFor();
    await page.getByText('4 ×').click();
    // The tests ask for no motion; this time the clock runs.
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await scrubber(page).press('Space');
    await page.getByText('Left the workflow: told').waitFor();
  });

  it('saves what was played as a case, which runs', async () => {
    const page = await open(`${workflow.id}/play`);
    await playSomebody(page);
    await page.getByRole('button', { name: 'Save as a case' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the case').fill('buys in time');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The case “buys in time” is saved, and it passes.').waitFor();
    const [saved] = (await project.server.get(`/workflows/${workflow.id}/cases`)).body.data;
    expect(saved.expect.map(({ stepId }: { stepId: string }) => stepId)).to.deep.equal(
      ['hello', 'wait', 'ask', 'hours', 'tell', 'done'].map((name) => workflow.steps[name]),
    );
    const run = await project.server.post(`/workflows/${workflow.id}/cases/run`, {});
    expect(run.body).to.include({ passed: 1, failed: 0 });
  });

  it('plays the draft or the published version, and a stored contact', async () => {
    const { graph, revision } = (await project.server.get(`/workflows/${workflow.id}/draft`)).body;
    for (const step of graph.steps) if (step.name === 'hello') step.name = 'greeting';
    const draft = await project.server.put(`/workflows/${workflow.id}/draft`, { graph, expectedRevision: revision });
    expect(draft).to.have.status(200);
    const contact = await project.server.post('/contacts', { email: 'bea@example.com', data: { plan: 'free' } });
    const page = await open(`${workflow.id}/play?contactId=${contact.body.id}`);
    // The clock runs meanwhile; going to the start stops it.
    const beginsWith = (name: string) =>
      eventually(
        async () => {
          await scrubber(page).press('Home');
          return now(page)
            .getByRole('heading', { name: `1. ${name}` })
            .isVisible();
        },
        { what: `the step ${name}` },
      );
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.getByText('Hello free').first().waitFor();
    await beginsWith('greeting');
    await page.getByLabel('Version').selectOption('Published');
    await page.getByRole('button', { name: 'Play again' }).click();
    await beginsWith('hello');
    expect(await project.server.delete(`/workflows/${workflow.id}/draft`)).to.have.status(204);
  });

  it('plays the recorded steps of an execution', async () => {
    const driver = new ExecutionDriver(app.db, project);
    const email = 'cem@example.com';
    await driver.contact(email, { plan: 'free' });
    const id = await driver.start(workflow as CreatedWorkflow, email);
    await driver.advance(id);
    await driver.track(email, 'bought', { total: 3 });
    await driver.advance(id);
    const { steps } = (await project.server.get(`/workflows/${workflow.id}/executions/${id}`)).body;
    expect(steps).to.have.length(4);
    const page = await open(`${workflow.id}/executions/${id}`);
    await page.getByText('Player', { exact: true }).click();
    await page.waitForURL(/tab=play/);
    for (const [index, step] of steps.entries()) {
      await now(page)
        .getByRole('heading', { name: `${index + 1}. ${step.name}`, exact: true })
        .waitFor();
      expect(await clock(page)).to.equal(step.startedAt);
      expect(await page.locator('.step-card[data-tone=current] .step-name').innerText()).to.equal(step.name);
      if (step.output?.reason) await now(page).getByText(step.output.reason).waitFor();
      await scrubber(page).press('ArrowRight');
    }
    await page.getByText('Left the workflow: other plan').waitFor();
    await page.locator('iframe.mail-frame').contentFrame().getByText('Your plan: free').waitFor();
  });
});
