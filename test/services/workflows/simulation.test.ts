import { expect } from 'chai';
import fc from 'fast-check';
import { Contact } from '../../../db/models/contact.ts';
import { ExecutionStep } from '../../../db/models/execution.ts';
import { newId } from '../../../platform/ids.ts';
import { trackEvent } from '../../../services/events/track.ts';
import { createTemplate } from '../../../services/templates/save.ts';
import { advance } from '../../../services/workflows/advance.ts';
import { startExecution } from '../../../services/workflows/executions/start.ts';
import { type Graph, stepTypeNames } from '../../../services/workflows/graph.ts';
import { type Simulation, simulate } from '../../../services/workflows/simulation/simulate.ts';
import { type ScriptedEvent, SimulationState } from '../../../services/workflows/simulation/state.ts';
import { graphViolations } from '../../../services/workflows/violations.ts';
import { MAX_STEPS } from '../../../services/workflows/walk.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { testKeys } from '../../support/keys.ts';
import {
  type GraphReferences,
  graphs,
  insertReferences,
  type ScriptedEventAfter,
  scripts,
} from '../../support/random-graphs.ts';
import { testRenderer } from '../../support/renderer.ts';
import { addVersion, addWorkflowRow, storedExecutions, storedVisits } from '../../support/rows/workflows.ts';

const VISITS = 25;
const limits = { steps: VISITS, years: 100, ms: 60_000 };

/** The result of a visit, for comparison. */
interface Visit {
  name: string;
  status: string;
  branch: string | null;
  scheduledFor: string | null;
}

describe('a simulation', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  const templateIds: string[] = [];
  let references: GraphReferences;
  let people = 0;

  before(async () => {
    database = await connectTestDatabase();
    project = await makeProject(database.db);
    for (const type of ['TRANSACTIONAL', 'MARKETING'] as const) {
      const texts = { name: type, subject: 'Hello', body: '<p>{{ a }}</p>', type };
      const from = { email: `hello@${project.senderDomain}` };
      templateIds.push((await createTemplate(database.db, project.access, { ...texts, from })).id);
    }
    references = { templateIds, ...(await insertReferences(database.db, project.id)) };
  });
  after(() => database?.close());

  const scriptFrom = (start: Date, events: ScriptedEventAfter[]): ScriptedEvent[] =>
    events
      .map(({ name, data, afterMinutes }) => ({ name, data, at: new Date(start.getTime() + afterMinutes * 60_000) }))
      .sort((a, b) => a.at.getTime() - b.at.getTime());

  const invented = (now: Date) => ({
    id: newId(),
    email: 'ann@example.com',
    subscribed: true,
    data: {},
    createdAt: now,
    updatedAt: now,
  });

  const simulating = async (graph: Graph, contact: Contact | undefined, start: Date, script: ScriptedEvent[]) =>
    simulate({
      graph,
      limits: contact
        ? limits
        : { steps: MAX_STEPS + 1, years: 1000, ms: 60_000, stepBytes: Infinity, workBytes: Infinity },
      webhookAllowedHosts: [],
      state: new SimulationState({
        now: start,
        contact: contact ?? invented(start),
        context: { a: 1 },
        script,
        topics: new Map(),
      }),
      environment: {
        db: database.db,
        renderer: testRenderer(),
        projectId: project.id,
        isReal: contact !== undefined,
        workflow: { id: newId(), name: 'Any' },
        executionId: newId(),
        baseUrl: 'http://app.test',
      },
    });

  it('ends for every graph that may be enabled', async () => {
    await fc.assert(
      fc.asyncProperty(graphs(), scripts, async (graph, events) => {
        expect(await graphViolations(database.db, project.id, graph)).to.deep.equal([]);
        const start = new Date();
        const { status, path, reason } = await simulating(graph, undefined, start, scriptFrom(start, events));
        expect(status, String(reason)).to.be.oneOf(['COMPLETED', 'EXITED', 'WAITING', 'FAILED']);
        if (status === 'FAILED') expect(path).to.have.length(MAX_STEPS);
      }),
      { numRuns: 50 },
    );
  });

  it('matches a real execution in steps, branches, times and changes', async () => {
    const taken = new Set<string>();
    await fc.assert(
      fc.asyncProperty(graphs(references), scripts, async (graph, events) => {
        const email = `person${++people}@example.com`;
        const { contactId } = await trackEvent(database.db, project.access, { email, event: 'arrived' });
        const contact = await Contact.query(database.db).findById(contactId).throwIfNotFound();
        const start = new Date();
        const script = scriptFrom(start, events);
        const simulated = await simulating(graph, contact, start, [...script]);
        const real = await realRun(graph, email, start, script);
        expect(simulated.path.map(visitOf)).to.deep.equal(real.visits);
        for (const { step } of simulated.path) taken.add(step.type);
        if (simulated.status === 'STOPPED') return;
        expect(simulated.status).to.equal(real.status);
        expect(simulated.state.context).to.deep.equal(real.context);
        const { data, subscribed } = simulated.state.contact;
        expect({ data, subscribed }).to.deep.equal(await contactNow(contactId));
        const memberOf = await database.db('segmentMembers').where({ contactId });
        const members = [...simulated.state.segmentChanges].flatMap(([id, isMember]) => (isMember ? [id] : []));
        expect(memberOf.map(({ segmentId }) => segmentId)).to.have.members(members);
        const entered = await database.db('executions').where({ contactId }).whereIn('workflowId', started());
        expect(entered.map(({ workflowId }) => workflowId)).to.have.members([...simulated.state.startedWorkflows]);
      }),
      { numRuns: 60 },
    );
    // A webhook needs a receiver, which test/workflows has.
    expect(taken).to.deep.equal(new Set(stepTypeNames.filter((type) => type !== 'WEBHOOK')));
  });

  const started = () => references.workflowIds ?? [];

  const visitOf = ({ step, status, branch, scheduledFor }: Simulation['path'][number]): Visit => ({
    name: step.name,
    status,
    branch,
    scheduledFor: scheduledFor?.toISOString() ?? null,
  });

  const contactNow = async (id: string) => {
    const { data, subscribed } = await Contact.query(database.db).findById(id).throwIfNotFound();
    return { data, subscribed };
  };

  /** Runs an execution on the database with the workers' code, and moves the clock from one due time to the next. */
  async function realRun(graph: Graph, email: string, start: Date, script: ScriptedEvent[]) {
    const { db } = database;
    const workflowId = newId();
    await addWorkflowRow(db, {
      id: workflowId,
      projectId: project.id,
      name: 'Any',
      enabled: true,
      validVersion: 1,
    });
    await addVersion(db, { workflowId, version: 1, graph });
    const input = { email, context: { a: 1 } };
    const { id } = await startExecution(db, project.access, workflowId, input);
    let clock = start;
    const pending = [...script];
    const deps = { db, renderer: testRenderer(), now: () => clock, keys: testKeys };
    for (;;) {
      const next = await advance(deps, { executionId: id, generation: 1 });
      if (next.kind === 'end') break;
      if ((await storedVisits(db, { executionId: id })).length > VISITS) break;
      if (next.kind !== 'rest') continue;
      const [event] = pending;
      if (event && (next.until === undefined || event.at.getTime() <= next.until)) {
        pending.shift();
        clock = event.at;
        await happen(email, event);
      } else if (next.until === undefined) break;
      else clock = new Date(next.until);
    }
    const steps = await ExecutionStep.query(db).where({ executionId: id }).orderBy('visit').limit(VISITS);
    const { status, context } = await storedExecutions(db, { id }).first('status', 'context');
    const visits = steps.map(({ name, status, branch, scheduledFor }) => ({
      name,
      status,
      branch,
      scheduledFor: scheduledFor?.toISOString() ?? null,
    }));
    return {
      visits: status === 'WAITING' || visits.length < VISITS ? visits : visits.slice(0, VISITS),
      status,
      context,
    };
  }

  /** Tracks an event and sets its time. */
  async function happen(email: string, { name, data = {}, at }: ScriptedEvent): Promise<void> {
    const { eventId } = await trackEvent(database.db, project.access, { email, event: name, data });
    await database.db('events').where({ id: eventId }).update({ createdAt: at });
  }
});
