// The project "Sample shop": something to look at on every page of the web application. Made once, through the API; its past
// is added by history.ts.
import { existsSync } from 'node:fs';
import { connectDb, type Db } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { randomText } from '../../platform/ids.ts';
import { addManagedDomain } from '../../services/domains/managed.ts';
import type { ReportProgress } from '../report.ts';
import type { StackInfo } from './banner.ts';
import { addHistory, type SampleIds } from './history.ts';
import { SAMPLE_CAMPAIGN, SAMPLE_EVENT, sampleContacts, sampleSegments, sampleTemplates } from './sample-content.ts';
import { readSampleMail } from './sample-readers.ts';
import { writeSecretFile } from './secret-file.ts';

export const SAMPLE_PROJECT = 'Sample shop';
const SAMPLE_DOMAIN = 'shop.localhost';
const AT_ONCE = 8;
/** A fact of an event, not of the contact. */
const ofEvent = (value: unknown) => ({ value, persistent: false });

export interface SampleOptions {
  /** Remembers that the project was made: one that the user has deleted does not come back. */
  file: string;
  secretKeys?: SigningKeys | undefined;
  report: ReportProgress;
}

/** A failure leaves the stack running: the sample is only something to look at. */
export async function createSample(stack: StackInfo, { file, secretKeys, report }: SampleOptions): Promise<void> {
  // Mail to invented people must not reach a real relay.
  if (existsSync(file) || !stack.mailUrl) return;
  report(`Creating the project "${SAMPLE_PROJECT}" …`);
  try {
    const project = await openProject(stack);
    writeSecretFile(file, { projectId: project.id });
    const db = connectDb({ databaseUrl: stack.databaseUrl, poolSize: 1, name: 'everpost-sample' });
    try {
      const domain = await addDomain(db, project.id, secretKeys);
      await fillSample(stack.apiUrl, project, domain, async (ids) => {
        await addHistory(db, { ...ids, projectId: project.id });
      });
    } finally {
      await db.destroy();
    }
    void readSampleMail(stack).catch(() => {});
  } catch (error) {
    report(`The project "${SAMPLE_PROJECT}" is incomplete: ${error instanceof Error ? error.message : error}`);
  }
}

interface SampleProject {
  secretKey: string;
  publicKey: string;
}

async function openProject({ apiUrl, user }: StackInfo): Promise<SampleProject & { id: string }> {
  const login = await fetch(`${apiUrl}/auth/login`, json(user));
  if (!login.ok) throw new Error('the demo user has another password now');
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
  const created = await fetch(`${apiUrl}/users/@me/projects`, json({ name: SAMPLE_PROJECT }, { cookie }));
  await fetch(`${apiUrl}/auth/logout`, json({}, { cookie }));
  if (!created.ok) throw new Error(`POST /users/@me/projects answered ${created.status}`);
  return (await created.json()) as SampleProject & { id: string };
}

async function addDomain(db: Db, projectId: string, secretKeys?: SigningKeys): Promise<string> {
  const taken = await Domain.query(db).findOne({ domain: SAMPLE_DOMAIN });
  const domain = taken ? `shop-${randomText(8).toLowerCase()}.localhost` : SAMPLE_DOMAIN;
  await addManagedDomain(db, projectId, domain, secretKeys);
  return domain;
}

const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

class Shop {
  private readonly apiUrl: string;
  private readonly project: SampleProject;

  constructor(apiUrl: string, project: SampleProject) {
    this.apiUrl = apiUrl;
    this.project = project;
  }

  /** Posts with the secret key; `/v1/track` needs the public one. */
  async post<T>(path: string, body: unknown, method = 'POST'): Promise<T> {
    const key = path === '/v1/track' ? this.project.publicKey : this.project.secretKey;
    const response = await fetch(this.apiUrl + path, { ...json(body, { authorization: `Bearer ${key}` }), method });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  }

  async postAll(path: string, bodies: unknown[]): Promise<void> {
    for (let from = 0; from < bodies.length; from += AT_ONCE)
      await Promise.all(bodies.slice(from, from + AT_ONCE).map((body) => this.post(path, body)));
  }
}

interface Created {
  id: string;
}

/** Also fills the project that the tests look at, without a past. */
export async function fillSample(
  apiUrl: string,
  project: SampleProject,
  domain: string,
  addPast: (ids: Omit<SampleIds, 'projectId'>) => Promise<void> = async () => {},
): Promise<void> {
  const shop = new Shop(apiUrl, project);
  const contacts = sampleContacts(Date.now());
  await shop.postAll('/contacts', contacts);
  const from = `hello@${domain}`;
  const sender = { from, fromName: SAMPLE_PROJECT };
  const template = async (name: keyof typeof sampleTemplates) =>
    (await shop.post<Created>('/templates', { ...sampleTemplates[name], ...sender })).id;
  const templates = {
    welcome: await template('welcome'),
    reminder: await template('reminder'),
    receipt: await template('receipt'),
    autumn: await template('autumn'),
  };
  const workflow = await createWorkflow(shop, templates);
  // Before anything reacts to it: tracked segments, and the workflow.
  await addPast({ ...sender, templates, workflow });
  const [, , testers] = await Promise.all(
    Object.values(sampleSegments).map((segment) => shop.post<Created>('/segments', segment)),
  );
  const emails = contacts.map(({ email }) => email);
  await shop.post(`/segments/${testers?.id}/members`, { emails: emails.slice(0, 4) });
  await shop.post(`/workflows/${workflow.id}`, { enabled: true }, 'PATCH');
  await shop.postAll(
    '/v1/track',
    emails
      .slice(0, 18)
      .map((email, n) => ({ email, event: SAMPLE_EVENT, data: { source: n % 2 ? 'search' : 'friend' } })),
  );
  await shop.postAll(
    '/v1/track',
    emails.slice(6, 30).map((email, n) => ({
      email,
      event: 'ordered',
      data: { number: ofEvent(`A-${1000 + n}`), total: ofEvent(19 + n) },
    })),
  );
  await createCampaigns(shop, from);
}

/** Mails a new customer, waits for the first order, and reminds who has not ordered. */
async function createWorkflow(shop: Shop, templates: SampleIds['templates']): Promise<SampleIds['workflow']> {
  const { id } = await shop.post<Created>('/workflows', { name: 'Welcome series', eventName: SAMPLE_EVENT });
  const step = (type: string, name: string, config: object, autoConnect = false) =>
    shop.post<Created>(`/workflows/${id}/steps`, { type, name, config, autoConnect });
  const welcome = await step('SEND_EMAIL', 'Welcome mail', { templateId: templates.welcome });
  const wait = await step(
    'WAIT_FOR_EVENT',
    'Wait for the first order',
    { eventName: 'ordered', timeout: { amount: 3, unit: 'days' } },
    true,
  );
  const customer = await step('EXIT', 'Customer', { reason: 'ordered' });
  const reminder = await step('SEND_EMAIL', 'Reminder', { templateId: templates.reminder });
  const connect = (toStepId: string, branch: string) =>
    shop.post(`/workflows/${id}/transitions`, { fromStepId: wait.id, toStepId, branch });
  await connect(customer.id, 'event');
  await connect(reminder.id, 'timeout');
  return { id, welcome: welcome.id, wait: wait.id, customer: customer.id, reminder: reminder.id };
}

async function createCampaigns(shop: Shop, from: string): Promise<void> {
  const { subject, body } = sampleTemplates.autumn;
  const content = { subject, body, from, fromName: SAMPLE_PROJECT };
  const create = (name: string, audience: object) =>
    shop.post<{ data: Created }>('/campaigns', { ...content, ...audience, name });
  // A part of all, because this one is really sent.
  const { data: sent } = await create(SAMPLE_CAMPAIGN, {
    audienceType: 'FILTERED',
    audienceCondition: sampleSegments.pro.condition,
  });
  await shop.post(`/campaigns/${sent.id}/send`, {});
  const { data: planned } = await create('Winter preview', { audienceType: 'ALL' });
  const inTwoWeeks = new Date(Date.now() + 14 * 86_400_000).toISOString();
  await shop.post(`/campaigns/${planned.id}/send`, { scheduledFor: inTwoWeeks });
  await create('Spring ideas', { audienceType: 'ALL' });
}
