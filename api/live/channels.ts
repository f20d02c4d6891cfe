import type { Db } from '../../db/connect.ts';
import type { Settings } from '../../platform/settings.ts';
import type { ProjectAccess } from '../../services/access/keys.ts';
import { requireScope, type Scope } from '../../services/access/scopes.ts';
import { listActivity } from '../../services/activity/feed.ts';
import { findCampaign } from '../../services/campaigns/find.ts';
import { findCampaignView } from '../../services/campaigns/view.ts';
import { findDomain } from '../../services/domains/find.ts';
import { findForm } from '../../services/forms/find.ts';
import { findJob, readJob } from '../../services/jobs/find.ts';
import { jobScopes } from '../../services/jobs/scopes.ts';
import { findWorkflow } from '../../services/workflows/find.ts';
import { findWorkflowDetails } from '../../services/workflows/workflow-details.ts';
import { presentActivityItem } from '../presenters/activity.ts';
import { presentCampaign } from '../presenters/campaign.ts';
import { presentCursorList } from '../presenters/cursor-list.ts';
import { presentDomain } from '../presenters/domain.ts';
import { presentForm } from '../presenters/form.ts';
import { presentJob } from '../presenters/job.ts';
import { presentWholeWorkflow } from '../presenters/workflow.ts';

export interface ChannelDeps {
  db: Db;
  settings: Settings;
}

type Read = (deps: ChannelDeps, projectId: string, id: string) => Promise<unknown>;

const ACTIVITY_ITEMS = 20;

/** How the resource of a channel is read; 404 when the project has none. Each is shown as its GET shows it. */
const readers: Record<string, Read> = {
  campaign: async ({ db }, projectId, id) => presentCampaign(await findCampaignView(db, projectId, id)),
  job: async ({ db }, projectId, id) => presentJob(await readJob(db, projectId, id)),
  domain: async ({ db, settings }, projectId, id) => presentDomain(await findDomain(db, projectId, id, settings)),
  form: async ({ db, settings }, projectId, id) => presentForm(await findForm(db, projectId, id), settings),
  // Streams share what is read, so the headers of webhooks are hidden from all.
  workflow: async ({ db, settings }, projectId, id) =>
    presentWholeWorkflow(await findWorkflowDetails(db, settings.secretKeys, projectId, id), false),
  activity: async ({ db, settings }, projectId) =>
    presentCursorList(
      await listActivity(db, projectId, settings.secretKeys, { limit: ACTIVITY_ITEMS }),
      presentActivityItem,
    ),
};

/** The scope that a key needs for each kind of channel. That of a job depends on its type. */
const scopes: Record<string, Scope> = {
  campaign: 'campaigns:read',
  domain: 'domains:read',
  form: 'forms:read',
  workflow: 'workflows:read',
  activity: 'analytics:read',
};
export const channelScopes: readonly Scope[] = [...new Set([...Object.values(scopes), ...jobScopes('read')])];

/** Rejects with 403 a key that may not read one of the channels, and with 404 a resource that the project does not have. */
export async function requireChannels(
  { db, settings }: ChannelDeps,
  project: ProjectAccess,
  channels: string[],
): Promise<void> {
  const { projectId } = project;
  for (const channel of channels) {
    const [kind = '', id = ''] = channel.split(':');
    const scope = scopes[kind];
    if (scope) requireScope(project, scope);
    if (kind === 'job') await findJob(db, project, id);
    if (kind === 'campaign') await findCampaign(db, projectId, id);
    if (kind === 'domain') await findDomain(db, projectId, id, settings);
    if (kind === 'form') await findForm(db, projectId, id);
    if (kind === 'workflow') await findWorkflow(db, projectId, id);
  }
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** `activity`, or a kind and an id. */
export function isChannel(channel: string): boolean {
  const [kind = '', id] = channel.split(/:(.*)/s);
  return kind === 'activity' ? id === undefined : id !== undefined && Object.hasOwn(readers, kind) && UUID.test(id);
}

export async function readChannel(deps: ChannelDeps, projectId: string, channel: string): Promise<unknown> {
  const [kind = '', id = ''] = channel.split(':');
  return readers[kind]?.(deps, projectId, id);
}
