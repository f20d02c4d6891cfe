import type { Db } from '../../db/connect.ts';
import { countContactsOfEvent, readEventNames } from '../../db/models/event-counts.ts';
import { Segment } from '../../db/models/segment.ts';
import { Workflow } from '../../db/models/workflow.ts';
import { parseCondition } from '../conditions/parse.ts';
import { stepTypeOf } from '../workflows/steps/index.ts';
import { newestGraphs } from '../workflows/versions.ts';
import { campaignsUsing } from './in-campaigns.ts';

interface Named {
  id: string;
  name: string;
}

export interface EventUsage {
  usedInSegments: Named[];
  usedInWorkflows: Named[];
  usedInCampaigns: Named[];
  /** Of all time. */
  totalCount: number;
  uniqueContacts: number;
  /** A hint: nothing refers to it. */
  canDelete: boolean;
}

export async function findEventUsage(db: Db, projectId: string, name: string): Promise<EventUsage> {
  const [usedInSegments, usedInWorkflows, usedInCampaigns, { names }, uniqueContacts] = await Promise.all([
    segmentsUsingEvent(db, projectId, name),
    workflowsUsingEvent(db, projectId, name),
    campaignsUsing(db, projectId, ({ events }) => events.has(name)),
    readEventNames(db, projectId, { name, limit: 1 }),
    countContactsOfEvent(db, projectId, name),
  ]);
  const users = { usedInSegments, usedInWorkflows, usedInCampaigns };
  const canDelete = Object.values(users).every(({ length }) => length === 0);
  return { ...users, totalCount: names[0]?.count ?? 0, uniqueContacts, canDelete };
}

async function segmentsUsingEvent(db: Db, projectId: string, name: string): Promise<Named[]> {
  const segments = await Segment.query(db).where({ projectId }).whereNotNull('condition').orderBy('name');
  return segments
    .filter(({ condition }) => parseCondition(condition).parsed?.uses.events.has(name))
    .map(({ id, name }) => ({ id, name }));
}

/** Returns the workflows that it starts, that wait for it, or that have a condition on it. */
async function workflowsUsingEvent(db: Db, projectId: string, name: string): Promise<Named[]> {
  const [workflows, graphs] = await Promise.all([
    Workflow.query(db).where({ projectId }).orderBy('name').orderBy('id'),
    newestGraphs(db, projectId),
  ]);
  const using = new Set(
    graphs
      .filter(({ graph }) => graph.steps.some((step) => stepTypeOf(step).uses?.(step).events?.includes(name)))
      .map(({ workflowId }) => workflowId),
  );
  return workflows
    .filter(
      ({ id, triggerType, triggerConfig: { eventName } }) =>
        using.has(id) || (triggerType === 'EVENT' && eventName === name),
    )
    .map(({ id, name }) => ({ id, name }));
}
