import { expect } from 'chai';
import { Email } from '../../../db/models/email.ts';
import { trackEvent } from '../../../services/events/track.ts';
import { createTemplate } from '../../../services/templates/save.ts';
import { type ExecutionState, readExecution } from '../../../services/workflows/execution-state.ts';
import { cancelExecution } from '../../../services/workflows/executions/cancel.ts';
import { StaleExecution, writeExecutionStep } from '../../../services/workflows/records.ts';
import { type CreatedWorkflow, draw, ExecutionDriver } from '../../support/executions.ts';
import { makeProject, openWorld, type TestProject, type World } from '../../support/world.ts';

describe('a step that runs without locks', () => {
  let world: World;
  let project: TestProject;
  let walker: ExecutionDriver;
  let workflow: CreatedWorkflow;
  let templateId: string;
  let people = 0;

  before(async () => {
    world = await openWorld();
    project = await makeProject(world.db);
    walker = new ExecutionDriver(world.db, project);
    const template = await createTemplate(world.db, project.access, {
      name: 'Hello',
      subject: 'Hello',
      body: '<p>Hello</p>',
      type: 'MARKETING',
      from: { email: `hello@${project.senderDomain}` },
    });
    templateId = template.id;
    workflow = await draw(world.db, project, { steps: { send: ['SEND_EMAIL', { templateId }], out: ['EXIT'] } });
  });
  after(() => world?.close());

  async function begin() {
    const email = `seen${++people}@example.com`;
    const id = await walker.start(workflow, email);
    const state = await readExecution(world.db, id);
    if (!state) throw new Error('it is not there');
    return { id, email, state };
  }

  const send = (state: ExecutionState, subject = 'Hello') =>
    writeExecutionStep(
      world.db,
      state,
      { id: workflow.steps.send ?? '', type: 'SEND_EMAIL', name: 'send' },
      { status: 'COMPLETED', output: { emailId: '' } },
      { status: 'RUNNING', stepId: workflow.steps.out ?? '', visit: state.visit + 1 },
      {
        mail: {
          id: crypto.randomUUID(),
          priority: 1,
          templateId,
          to: state.contact?.email ?? '',
          from: `hello@${project.senderDomain}`,
          fromName: null,
          replyTo: null,
          subject,
          html: '',
          type: 'MARKETING',
        },
      },
    );

  async function isUntouched(id: string, change: Promise<unknown>): Promise<void> {
    const error = await change.catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(StaleExecution);
    expect(await walker.steps(id)).to.deep.equal([]);
    expect(await Email.query(world.db).where({ executionId: id })).to.deep.equal([]);
    expect(await walker.execution(id)).to.include({ visit: 1, currentStepId: null });
  }

  it('runs again when the contact has changed since it was read', async () => {
    const { id, email, state } = await begin();
    await trackEvent(world.db, project.access, { email, event: 'left', subscribed: false });
    await isUntouched(id, send(state));
    await walker.advance(id);
    expect(await walker.way(id)).to.deep.equal(['send: SKIPPED', 'out: COMPLETED']);
  });

  it('changes nothing when the execution was cancelled since it was read', async () => {
    const { id, state } = await begin();
    await cancelExecution(world.db, project.access, workflow.id, id);
    await isUntouched(id, send(state));
  });

  it('is taken even if an event of the contact was recorded since it was read', async () => {
    const { id, email, state } = await begin();
    await trackEvent(world.db, project.access, { email, event: 'looked around' });
    await send(state);
    expect(await walker.execution(id)).to.include({ visit: 2, currentStepId: workflow.steps.out });
  });

  it('is taken once under concurrent calls', async () => {
    const { id, state } = await begin();
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => send(state)));
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    expect(await walker.steps(id)).to.have.length(1);
    expect(await Email.query(world.db).where({ executionId: id })).to.have.length(1);
  });

  it('returns the state that the next step runs on', async () => {
    const { id, state } = await begin();
    const after = await send(state);
    expect(after).to.deep.equal(await readExecution(world.db, id));
  });
});
