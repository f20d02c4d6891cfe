// Creates a project with one of every resource that a route can name.
import { newId } from '../../platform/ids.ts';
import type { ApiAnswer, ApiProject, TestApi } from './api.ts';
import { addPendingDomain } from './domains.ts';

/** Ids by path parameter; `id` is looked up by the resource in the path. */
export interface ProjectResources {
  contacts: string;
  templates: string;
  topics: string;
  forms: string;
  formId: string;
  submissionId: string;
  'saved-blocks': string;
  views: string;
  campaigns: string;
  segments: string;
  workflows: string;
  domains: string;
  emails: string;
  previews: string;
  /** Of the template, and of the workflow. */
  version: string;
  projects: string;
  sessions: string;
  /** A message to Temporal. */
  outbox: string;
  jobId: string;
  contactId: string;
  stepId: string;
  transitionId: string;
  executionId: string;
  caseId: string;
  userId: string;
  keyId: string;
  projectId: string;
  /** The address of a suppression. */
  email: string;
  eventName: string;
  field: string;
  'webhook-endpoints': string;
  'webhook-deliveries': string;
}

function bodyOf(answer: ApiAnswer) {
  if (answer.status >= 300) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

export async function createOneOfEachResource(
  { db }: Pick<TestApi, 'db'>,
  project: ApiProject,
): Promise<ProjectResources> {
  const { server, id: projectId, senderDomain } = project;
  const make = async (path: string, body: object) => bodyOf(await server.post(path, body));
  const from = `news@${senderDomain}`;
  const email = `${projectId}@example.com`;
  // Names are not globally unique like ids: they differ per project, so that a leak between projects is visible.
  const eventName = `bought ${projectId}`;
  const key = `plan ${projectId}`;
  const contact = await make('/contacts', { email, data: { [key]: 'pro' } });
  bodyOf(await project.browser.post('/v1/track', { email, event: eventName }));
  const template = await make('/templates', { name: 't', subject: 's', body: 'b', type: 'MARKETING', from });
  const block = await make('/saved-blocks', { name: 'b', kind: 'SECTION', document: { version: 1, content: [] } });
  const topic = await make('/topics', { name: 'News' });
  const form = await make('/forms', { name: 'Newsletter', from });
  const segment = await make('/segments', { name: 'VIPs', type: 'STATIC' });
  const view = await make('/views', { name: 'v', page: 'contacts', filters: {}, columns: [] });
  const draft = { name: 'c', subject: 's', body: 'b', from, audienceType: 'ALL' };
  const campaign = (await make('/campaigns', draft)).data;
  const workflow = await make('/workflows', { name: 'w', eventName });
  const step = () => make(`/workflows/${workflow.id}/steps`, { type: 'EXIT', name: 'end', config: {} });
  const delay = { type: 'DELAY', name: 'wait', config: { amount: 1, unit: 'days' } };
  const first = await make(`/workflows/${workflow.id}/steps`, delay);
  const last = await step();
  const transition = await make(`/workflows/${workflow.id}/transitions`, { fromStepId: first.id, toStepId: last.id });
  const position = { x: 0, y: 0 };
  const steps = [first, last].map(({ id, type, name, config }) => ({
    id,
    type,
    name,
    config,
    templateId: null,
    position,
  }));
  await db('workflowVersions').insert({
    workflowId: workflow.id,
    version: 1,
    publishedAt: new Date(),
    graph: JSON.stringify({ steps, transitions: [] }),
  });
  const workflowCase = await make(`/workflows/${workflow.id}/cases`, { name: 'x', contact: { email }, expect: [] });
  const executionId = newId();
  await db('executions').insert({
    id: executionId,
    projectId,
    workflowId: workflow.id,
    version: 1,
    contactId: contact.id,
    status: 'WAITING',
    currentStepId: first.id,
    afterPosition: 0,
    oncePerContact: true,
  });
  const mail = await make('/v1/send', { to: email, from, subject: 's', body: 'b' });
  const { jobId } = await make('/contacts/bulk-subscribe', { contactIds: [contact.id] });
  const preview = (await make('/render', { body: '<p>Hello</p>' })).previewUrl;
  const domain = await addPendingDomain(db, projectId, `walk-${projectId.slice(-12)}.example.com`);
  const scopedKey = bodyOf(await project.owner.post(`/projects/${projectId}/keys`, { name: 'k', scopes: ['all'] }));
  await db.raw(
    `insert into suppressions (id, project_id, address_hash, email, reason)
     values (?, ?, address_hash(?, ?), ?, 'COMPLAINT')`,
    [newId(), projectId, projectId, email, email],
  );
  const endpoint = await make('/webhook-endpoints', { url: 'https://hooks.example', types: ['webhook.test'] });
  const { deliveryId } = await make(`/webhook-endpoints/${endpoint.id}/test`, {});
  const [session] = await db('sessions').where({ userId: project.userId }).select('id');
  const parked = { workflowId: `walk/${projectId}`, action: 'signal', parkedAt: new Date() };
  const [message] = await db('outbox')
    .insert({ queue: 'control', projectId, ...parked })
    .returning('id');
  return {
    contacts: contact.id,
    templates: template.id,
    topics: topic.id,
    forms: form.id,
    formId: form.id,
    submissionId: newId(),
    'saved-blocks': block.id,
    views: view.id,
    campaigns: campaign.id,
    segments: segment.id,
    previews: new URL(preview).pathname.split('/').at(-1) ?? '',
    version: '1',
    workflows: workflow.id,
    domains: domain.id,
    emails: mail.data.emails[0].email,
    projects: projectId,
    jobId,
    contactId: contact.id,
    stepId: first.id,
    transitionId: transition.id,
    executionId,
    caseId: workflowCase.id,
    sessions: session.id,
    outbox: String(message.id),
    keyId: scopedKey.id,
    userId: project.userId,
    projectId,
    email,
    eventName,
    field: `data.${key}`,
    'webhook-endpoints': endpoint.id,
    'webhook-deliveries': deliveryId,
  };
}

/** Fills in the parameters of a route's path. */
/** Query parameters that a route needs. */
const QUERIES: Record<string, () => string> = {
  '/campaigns/{id}/timing': () => `?localTime=${new Date(Date.now() + 86_400_000).toISOString().slice(0, 16)}`,
};

export function pathWith(belongings: ProjectResources, path: string): string {
  const [, resource = ''] = path.replace(/^\/(users\/@me|operator)/, '').split('/');
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => {
    const value = belongings[(name === 'id' ? resource : name) as keyof ProjectResources];
    if (value === undefined)
      throw new Error(`${path}: unknown parameter {${name}}; add it to test/support/one-of-each.ts`);
    return encodeURIComponent(value);
  });
  return filled + (QUERIES[path]?.() ?? '');
}
