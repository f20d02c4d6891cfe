import { expect } from 'chai';
import fc from 'fast-check';
import { inTransaction } from '../../db/connect.ts';
import { Contact } from '../../db/models/contact.ts';
import { newId } from '../../platform/ids.ts';
import { trackEvent } from '../../services/events/track.ts';
import { startExecution } from '../../services/workflows/executions/start.ts';
import type { Graph } from '../../services/workflows/graph.ts';
import { matchEvents } from '../../services/workflows/match-events.ts';
import { type Simulation, simulate } from '../../services/workflows/simulation/simulate.ts';
import { SimulationState } from '../../services/workflows/simulation/state.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { ExecutionDriver } from '../support/executions.ts';
import { graphs, insertReferences, type ScriptedEventAfter, scripts } from '../support/random-graphs.ts';
import { testRenderer } from '../support/renderer.ts';
import { addVersion, addWorkflowRow, storedExecutions } from '../support/rows/workflows.ts';
import { startTimeSkippingExecutions, type TimeSkippingExecutions } from '../support/time-skipping-executions.ts';
import { eventually } from '../support/waiting.ts';

const COUNT = 10;
/** The server's clock stands still during retries, which take long on a busy machine. */
const PATIENCE_MS = 150_000;
const MINUTE = 60_000;
/** Step types that the cases take together. */
const required = [
  'CONDITION',
  'DELAY',
  'WAIT_FOR_EVENT',
  'UPDATE_CONTACT',
  'SPLIT',
  'TIME_WINDOW',
  'ADD_TO_SEGMENT',
  'REMOVE_FROM_SEGMENT',
  'START_WORKFLOW',
];
const limits = { steps: 15, years: 1, ms: 60_000 };

interface Case {
  email: string;
  graph: Graph;
  events: ScriptedEventAfter[];
  simulation: Simulation;
  executionId: string;
}

describe('a simulation, compared with executions on a time-skipping server', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let skipped: TimeSkippingExecutions;

  before(async () => {
    database = await connectTestDatabase();
    project = await makeProject(database.db);
    skipped = await startTimeSkippingExecutions(database.db, project);
  });
  after(async () => {
    await skipped?.stop();
    await database?.close();
  });

  /** Each has its own contact. Keeps simulations that soon end, or soon reach a wait without time-out. */
  async function cases(start: Date): Promise<Omit<Case, 'executionId'>[]> {
    const found: Omit<Case, 'executionId'>[] = [];
    const references = await insertReferences(database.db, project.id);
    const random = fc.tuple(graphs({ ...references, minute: start.getUTCMinutes() }), scripts);
    const missing = new Set(required);
    for (const [graph, events] of fc.sample(random, 400)) {
      if (found.length === COUNT || graph.steps.length < 4) continue;
      const email = `person${found.length}@example.com`;
      const { contactId } = await trackEvent(database.db, project.access, { email, event: 'arrived' });
      const contact = await Contact.query(database.db).findById(contactId).throwIfNotFound();
      const script = events.map((event) => ({ ...event, at: new Date(start.getTime() + event.afterMinutes * MINUTE) }));
      const simulation = await simulate({
        graph,
        limits,
        webhookAllowedHosts: [],
        state: new SimulationState({ now: start, contact, context: {}, script, topics: new Map() }),
        environment: {
          db: database.db,
          renderer: testRenderer(),
          projectId: project.id,
          isReal: true,
          baseUrl: '',
          workflow: { id: newId(), name: 'Any' },
          executionId: newId(),
        },
      });
      const isLong = simulation.state.now.getTime() - start.getTime() > 60 * MINUTE;
      if (simulation.status === 'STOPPED' || !isLong) continue;
      const brings = simulation.path.map(({ step }) => step.type).filter((type) => missing.has(type));
      if (brings.length === 0 && found.length + missing.size >= COUNT) continue;
      for (const type of brings) missing.delete(type);
      found.push({ email, graph, events, simulation });
    }
    expect([...missing], 'step types that no case has').to.deep.equal([]);
    return found;
  }

  async function begin(graph: Graph, email: string): Promise<string> {
    const { db } = database;
    const id = newId();
    await addWorkflowRow(db, { id, projectId: project.id, name: 'Any', enabled: true, validVersion: 1 });
    await addVersion(db, { workflowId: id, version: 1, graph });
    return (await startExecution(db, project.access, id, { email })).id;
  }

  const settled = (executionIds: string[]) =>
    eventually(
      async () => {
        const busy = await storedExecutions(database.db, {})
          .whereIn('id', executionIds)
          .where({ status: 'RUNNING' })
          .first('id');
        return !busy;
      },
      { what: 'rest', timeoutMs: PATIENCE_MS },
    );

  /** Tracks an event at the virtual time of the server. */
  const happen = (tracked: Parameters<typeof trackEvent>[2], createdAt: Date): Promise<string> =>
    inTransaction(database.db, async (trx) => {
      const { eventId } = await trackEvent(trx, project.access, tracked);
      await trx('events').where({ id: eventId }).update({ createdAt });
      await trx('eventQueue').where({ eventId }).update({ eventCreatedAt: createdAt });
      return eventId;
    });

  /** Resolves when no execution still waits for an event that has happened. */
  const matched = (eventId: string) =>
    eventually(
      async () => {
        const { rows } = await database.db.raw(
          `select 1 from executions x join events e on e.contact_id = x.contact_id
           where e.id = ? and x.awaited_event = e.name and x.after_position < e.position`,
          [eventId],
        );
        return rows.length === 0;
      },
      { what: 'an event to be matched', timeoutMs: PATIENCE_MS },
    );

  it('takes the same steps', async function () {
    this.timeout(400_000);
    const { env } = skipped;
    const start = new Date(await env.currentTimeMs());
    const passTo = async (minutes: number) => {
      const ahead = start.getTime() + minutes * MINUTE - (await env.currentTimeMs());
      if (ahead > 0) await env.sleep(ahead);
    };
    const all: Case[] = [];
    for (const one of await cases(start)) all.push({ ...one, executionId: await begin(one.graph, one.email) });
    expect(all).to.have.length(COUNT);
    const ids = all.map(({ executionId }) => executionId);
    await skipped.relay();
    await settled(ids);

    const timeline = all.flatMap(({ email, events }) => events.map((event) => ({ email, ...event })));
    for (const { email, name, data, afterMinutes } of timeline.sort((a, b) => a.afterMinutes - b.afterMinutes)) {
      await passTo(afterMinutes);
      await settled(ids);
      const eventId = await happen({ email, event: name, data }, new Date(await env.currentTimeMs()));
      while ((await matchEvents(database.db)).events > 0);
      await skipped.relay();
      await matched(eventId);
    }
    const last = Math.max(...all.map(({ simulation }) => simulation.state.now.getTime()));
    await passTo((last - start.getTime()) / MINUTE + 60);
    await settled(ids);

    const driver = new ExecutionDriver(database.db, project);
    for (const { executionId, simulation } of all) {
      const way = simulation.path.map(
        ({ step, status, branch }) => `${step.name}: ${status}${branch ? ` by ${branch}` : ''}`,
      );
      await eventually(async () => (await driver.visits(executionId)).length >= way.length, {
        what: 'the last step',
        timeoutMs: PATIENCE_MS,
      });
      expect(await driver.visits(executionId)).to.deep.equal(way);
      expect((await driver.execution(executionId)).status).to.equal(simulation.status);
    }
  });
});
