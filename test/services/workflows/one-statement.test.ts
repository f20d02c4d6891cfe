import { expect } from 'chai';
import { Email } from '../../../db/models/email.ts';
import { trackEvent } from '../../../services/events/track.ts';
import { createTemplate } from '../../../services/templates/save.ts';
import { type ExecutionState, readExecution } from '../../../services/workflows/execution-state.ts';
import { cancelExecution } from '../../../services/workflows/executions/cancel.ts';
import { StaleExecution, writeExecutionStep } from '../../../services/workflows/records.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { type CreatedWorkflow, ExecutionDriver, insertWorkflow } from '../../support/executions.ts';

describe('a step that runs without locks', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let driver: ExecutionDriver;
  let workflow: CreatedWorkflow;
  let templateId: string;
  let people = 0;

  before(async () => {
    database = await connectTestDatabase();
    project = await makeProject(database.db);
    driver = new ExecutionDriver(database.db, project);
    const template = await createTemplate(database.db, project.access, {
      name: 'Hello',
      subject: 'Hello',
      body: '<p>Hello</p>',
      type: 'MARKETING',
      from: { email: `hello@${project.senderDomain}` },
    });
    templateId = template.id;
    workflow = await insertWorkflow(database.db, project, {
      steps: { send: ['SEND_EMAIL', { templateId }], out: ['EXIT'] },
    });
  });
  after(() => database?.close());

  async function begin() {
    const email = `seen${++people}@example.com`;
    const id = await driver.start(workflow, email);
    const state = await readExecution(database.db, id);
    if (!state) throw new Error('it is not there');
    return { id, email, state };
  }

  const send = (state: ExecutionState, subject = 'Hello') =>
    writeExecutionStep(
      database.db,
      state,
      { id: workflow.steps.send ?? '', type: 'SEND_EMAIL', name: 'send' },
      { status: 'COMPLETED', output: { emailId: '' } },
      { status: 'RUNNING', stepId: workflow.steps.out ?? '', visit: state.visit + 1 },
      {
        mail: {
          id: crypto.randomUUID(),
          templateId,
          to: state.contact?.email ?? '',
          content: {
            n: 1,
            body_id: crypto.randomUUID(),
            html: '',
            shared: true,
            from_email: `hello@${project.senderDomain}`,
            subject,
            type: 'MARKETING',
          },
        },
      },
    );

  async function isUntouched(id: string, change: Promise<unknown>): Promise<void> {
    const error = await change.catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(StaleExecution);
    expect(await driver.steps(id)).to.deep.equal([]);
    expect(await Email.query(database.db).where({ executionId: id })).to.deep.equal([]);
    expect(await driver.execution(id)).to.include({ visit: 1, currentStepId: null });
  }

  it('runs again when the contact has changed since it was read', async () => {
    const { id, email, state } = await begin();
    await trackEvent(database.db, project.access, { email, event: 'left', subscribed: false });
    await isUntouched(id, send(state));
    await driver.advance(id);
    expect(await driver.visits(id)).to.deep.equal(['send: SKIPPED', 'out: COMPLETED']);
  });

  it('changes nothing when the execution was cancelled since it was read', async () => {
    const { id, state } = await begin();
    await cancelExecution(database.db, project.access, workflow.id, id);
    await isUntouched(id, send(state));
  });

  it('is taken even if an event of the contact was recorded since it was read', async () => {
    const { id, email, state } = await begin();
    await trackEvent(database.db, project.access, { email, event: 'looked around' });
    await send(state);
    expect(await driver.execution(id)).to.include({ visit: 2, currentStepId: workflow.steps.out });
  });

  it('is taken once under concurrent calls', async () => {
    const { id, state } = await begin();
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => send(state)));
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    expect(await driver.steps(id)).to.have.length(1);
    expect(await Email.query(database.db).where({ executionId: id })).to.have.length(1);
  });

  it('returns the state that the next step runs on', async () => {
    const { id, state } = await begin();
    const after = await send(state);
    expect(after).to.deep.equal(await readExecution(database.db, id));
  });
});
