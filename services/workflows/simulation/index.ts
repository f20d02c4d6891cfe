import type { Db } from '../../../db/connect.ts';
import { Contact, type ContactRecord } from '../../../db/models/contact.ts';
import type { TopicState } from '../../../db/models/topic.ts';
import type { Workflow } from '../../../db/models/workflow.ts';
import type { SigningKeys } from '../../../platform/crypto/signed-token.ts';
import { badRequest } from '../../../platform/errors.ts';
import { newId, uuidFrom } from '../../../platform/ids.ts';
import type { Settings } from '../../../platform/settings.ts';
import type { Renderer } from '../../../platform/templates/index.ts';
import type { Data } from '../../contacts/data.ts';
import { findContact } from '../../contacts/find.ts';
import { refusalOfConnection } from '../connections.ts';
import { findWorkflow } from '../find.ts';
import type { Branch, Graph } from '../graph.ts';
import { showStep } from '../sealed-headers.ts';
import { type ScriptTime, scriptTime } from '../spans.ts';
import { readConfig, type StepRules } from '../step-config.ts';
import { newestGraph } from '../versions.ts';
import { graphViolations, requireNoViolations } from '../violations.ts';
import { type Simulation, simulate } from './simulate.ts';
import { type ScriptedEvent, SimulationState } from './state.ts';
import { simulatedTopics } from './topics.ts';

/**
 * With `id`, or `email` alone, the stored contact; other values override its own. `email` with other values describes an
 * invented contact.
 */
export interface SimulatedContact {
  id?: string | undefined;
  email?: string | undefined;
  subscribed?: boolean | undefined;
  data?: Data | undefined;
  /** States by key or id of the topic. */
  topics?: Record<string, TopicState> | undefined;
}

export interface SimulationInput {
  contact: SimulatedContact;
  /** `at` and `after` mean the same; without both an event happens at the start. */
  events?:
    | { name: string; data?: Data | undefined; at?: ScriptTime | undefined; after?: ScriptTime | undefined }[]
    | undefined;
  graph?: UnstoredGraph | undefined;
  /** Data of the event that starts the execution. */
  context?: Data | undefined;
  startAt?: string | undefined;
}

export interface SimulationDeps {
  db: Db;
  renderer: Pick<Renderer, 'render'>;
  settings: Pick<Settings, 'webhookAllowedHosts' | 'baseUrl' | 'secretKeys'> & Partial<Pick<Settings, 'limits'>>;
}

/** Runs a workflow for a contact without sending or storing anything. */
export async function simulateWorkflow(
  { db, renderer, settings }: SimulationDeps,
  projectId: string,
  workflowId: string,
  input: SimulationInput,
): Promise<Simulation> {
  const workflow = await findWorkflow(db, projectId, workflowId);
  const graph = input.graph
    ? readGivenGraph(input.graph, settings)
    : await openGraph(db, settings.secretKeys, workflow);
  requireNoViolations(await graphViolations(db, projectId, graph), 'run');
  return simulateGraph({ db, renderer, settings }, workflow, graph, input);
}

/** Bounds of a simulation besides those of `LIMITS`. */
export interface SimulationBounds {
  /** Virtual time at which it stops. */
  until?: Date | undefined;
  /** Of real time. */
  ms?: number | undefined;
}

/** Runs a valid graph, with the headers of its webhooks open. */
export async function simulateGraph(
  { db, renderer, settings }: SimulationDeps,
  workflow: Pick<Workflow, 'id' | 'name' | 'projectId' | 'triggerType' | 'triggerConfig'>,
  graph: Graph,
  input: Omit<SimulationInput, 'graph'>,
  { until, ms }: SimulationBounds = {},
): Promise<Simulation> {
  const { projectId } = workflow;
  const { webhookAllowedHosts, baseUrl, limits } = settings;
  const now = input.startAt === undefined ? new Date() : new Date(input.startAt);
  const { contact, isReal } = await contactOf(db, projectId, input.contact, now);
  const context = input.context ?? {};
  const script = scriptOf(input, now).filter(({ at }) => !until || at <= until);
  const topics = await simulatedTopics(db, projectId, { contact, isReal, given: input.contact.topics, now });
  const state = new SimulationState({ now, contact, context, script, topics });
  const { eventName } = workflow.triggerConfig;
  if (workflow.triggerType === 'EVENT' && eventName) state.record(eventName, context, now);
  const environment = { db, renderer, projectId, workflow, executionId: newId(), isReal, baseUrl, limits };
  return simulate({
    environment,
    state,
    graph,
    webhookAllowedHosts,
    until,
    ...(ms !== undefined && { limits: { ms } }),
  });
}

async function openGraph(db: Db, keys: SigningKeys, workflow: Workflow): Promise<Graph> {
  const { steps, transitions } = await newestGraph(db, workflow);
  return { steps: steps.map((step) => showStep(keys, workflow.projectId, step)), transitions };
}

/** Returns whether the stored contact is meant, not an invented one with its address. */
export const namesStored = ({ id, subscribed, data, topics }: SimulatedContact): boolean =>
  id !== undefined || (subscribed === undefined && data === undefined && topics === undefined);

async function contactOf(
  db: Db,
  projectId: string,
  { id, email = '', subscribed, data, topics }: SimulatedContact,
  now: Date,
): Promise<{ contact: ContactRecord; isReal: boolean }> {
  const isInvented = !namesStored({ id, subscribed, data, topics });
  const stored = id === undefined ? await findByEmail(db, projectId, email) : await findContact(db, projectId, id);
  if (stored && !isInvented) {
    const assumed = { subscribed: subscribed ?? stored.subscribed, data: { ...stored.data, ...data } };
    return { contact: { ...stored, ...assumed }, isReal: true };
  }
  // The same id at every simulation: the branch of a SPLIT depends on it.
  const inventedId = stored?.id ?? uuidFrom(`${projectId} ${email}`);
  const invented = { id: inventedId, email, subscribed: subscribed ?? true, data: data ?? {} };
  return { contact: { ...invented, createdAt: now, updatedAt: now }, isReal: false };
}

const findByEmail = (db: Db, projectId: string, email: string): PromiseLike<Contact | undefined> =>
  Contact.query(db).findOne({ projectId, email });

function scriptOf({ events = [] }: SimulationInput, start: Date): ScriptedEvent[] {
  return events.map(({ name, data, at, after }) => ({ name, data, at: scriptTime(at ?? after ?? 0, start) }));
}

/** A graph that is not stored. The client chooses the ids. */
export interface UnstoredGraph {
  steps: {
    id: string;
    type: string;
    name?: string | undefined;
    config?: Data | undefined;
    templateId?: string | null | undefined;
  }[];
  transitions: { fromStepId: string; toStepId: string; branch: Branch | null }[];
}

/** Applies the rules of stored graphs. */
export function readGivenGraph(
  { steps, transitions }: UnstoredGraph,
  rules: Pick<StepRules, 'webhookAllowedHosts'>,
): Graph {
  const graph: Graph = {
    steps: steps.map(({ id, type, name, config, templateId }, n) => ({
      id,
      type,
      name: name ?? id,
      config: readConfig(type, config ?? {}, rules, `graph.steps.${n}.config`),
      templateId: templateId ?? null,
    })),
    transitions: [],
  };
  if (new Set(steps.map(({ id }) => id)).size < steps.length)
    throw badRequest('Two steps of the graph have the same ID.');
  for (const [n, transition] of transitions.entries()) {
    const refusal = refusalOfConnection(graph, transition);
    if (refusal) throw badRequest(`Transition ${n} of the graph is not allowed: ${refusal}.`);
    graph.transitions.push(transition);
  }
  return graph;
}
