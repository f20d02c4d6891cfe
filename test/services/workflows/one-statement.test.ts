import { expect } from 'chai';
import { Email } from '../../../db/models/email.ts';
import { trackEvent } from '../../../services/events/track.ts';
import { createTemplate } from '../../../services/templates/save.ts';
import { type ExecutionState, readExecution } from '../../../services/workflows/execution-state.ts';
import { cancelExecution } from '../../../services/workflows/executions/cancel.ts';
import { StaleExecution, writeExecutionStep } from '../../../services/workflows/records.ts';
import { type Drawn, draw, Walker } from '../../support/executions.ts';
import { makeProject, openWorld, type TestProject, type World } from '../../support/world.ts';

describe('a step that is decided without locks', () => {
  let world: World;
  let project: TestProject;
  let walker: Walker;
  let workflow: Drawn;
  let templateId: string;
  let people = 0;

  before(async () => {
    world = await openWorld();
    project = await makeProject(world.db);
    walker = new Walker(world.db, project);
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
    const seen = await readExecution(world.db, id);
    if (!seen) throw new Error('it is not there');
    return { id, email, seen };
  }

  const send = (seen: ExecutionState, subject = 'Hello') =>
    writeExecutionStep(
      world.db,
      seen,
      { id: workflow.steps.send ?? '', type: 'SEND_EMAIL', name: 'send' },
      { status: 'COMPLETED', output: { emailId: '' } },
      { status: 'RUNNING', stepId: workflow.steps.out ?? '', visit: seen.visit + 1 },
      {
        mail: {
          id: crypto.randomUUID(),
          priority: 1,
          templateId,
          to: seen.contact?.email ?? '',
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

  it('is not taken when the contact has changed since, and is then decided anew', async () => {
    const { id, email, seen } = await begin();
    await trackEvent(world.db, project.access, { email, event: 'left', subscribed: false });
    await isUntouched(id, send(seen));
    await walker.advance(id);
    expect(await walker.way(id)).to.deep.equal(['send: SKIPPED', 'out: COMPLETED']);
  });

  it('is not taken when the execution has been cancelled since', async () => {
    const { id, seen } = await begin();
    await cancelExecution(world.db, project.access, workflow.id, id);
    await isUntouched(id, send(seen));
  });

  it('is not held up by what others record of the contact', async () => {
    const { id, email, seen } = await begin();
    await trackEvent(world.db, project.access, { email, event: 'looked around' });
    await send(seen);
    expect(await walker.execution(id)).to.include({ visit: 2, currentStepId: workflow.steps.out });
  });

  it('is taken once, whoever decides it at the same time', async () => {
    const { id, seen } = await begin();
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => send(seen)));
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    expect(await walker.steps(id)).to.have.length(1);
    expect(await Email.query(world.db).where({ executionId: id })).to.have.length(1);
  });

  it('gives back what the next one is decided on', async () => {
    const { id, seen } = await begin();
    const after = await send(seen);
    expect(after).to.deep.equal(await readExecution(world.db, id));
  });
});
