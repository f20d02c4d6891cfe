// What exists before the faults begin.
import { eventually } from '../../test/support/waiting.ts';
import { type ProofClient, proofClient, type RecordedAnswer } from '../client.ts';
import { addressOf } from './addresses.ts';
import type { ProofStack } from './stack.ts';

export interface ProofSetup {
  /** Values of `data.group`; each has `GROUP_SIZE` contacts that no operation changes. */
  groups: string[];
  bulkContacts: string[];
  contactsToDelete: string[];
  /** Addresses of contacts with a `data.score`. */
  scored: string[];
  segmentId: string;
  /** UPDATE_CONTACT, SEND_EMAIL, WEBHOOK, DELAY, WAIT_FOR_EVENT, EXIT. */
  joinedWorkflow: { id: string };
  /** DELAY and EXIT; published again and again. */
  movedWorkflow: { id: string };
  /** SEND_EMAIL with the NOTIFICATION topic. */
  orderedWorkflow: { id: string };
  endpointId: string;
  /** A MARKETING and a NOTIFICATION topic, which contacts receive by default. */
  topics: Record<'news' | 'orders', string>;
  /** Contacts who leave topics and come back; each is taken by one customer at a time. */
  choosers: Chooser[];
  /** With double opt-in, for the MARKETING topic. */
  formKey: string;
}

export interface Chooser {
  id: string;
  email: string;
  states: Record<'news' | 'orders', 'SUBSCRIBED' | 'UNSUBSCRIBED'>;
}

/** The value of `data.group` of the contacts who choose. */
export const CHOOSERS = 'choosers';
export const ORDERED = 'ordered';
const CHOOSER_COUNT = 60;
const FORM_KEY = 'newsletter';

export const GROUP_SIZE = 40;
const GROUPS = 6;
/** Of each minute of load: more than the operations use up, and at least those of five minutes. */
const TO_CHANGE = 300;
const TO_DELETE = 60;
const SCORED = 60;
export const SCORE_LIMIT = 50;

export async function setUpProof(stack: ProofStack, lengthMs: number): Promise<ProofSetup> {
  const minutes = Math.max(5, Math.ceil(lengthMs / 60_000));
  const client = proofClient(stack.apiUrls, stack.project.secretKey);
  const groups = Array.from({ length: GROUPS }, (_, n) => `group${n}`);
  await importAll(client, [
    ...groups.flatMap((group) => rows(group, GROUP_SIZE, group)),
    ...rows('chooser', CHOOSER_COUNT, CHOOSERS),
    ...rows('bulk', TO_CHANGE * minutes, ''),
    ...rows('delete', TO_DELETE * minutes, ''),
  ]);
  const scored = Array.from({ length: SCORED }, (_, n) => addressOf('score', n));
  const segment = await must(
    client.call('POST', '/segments', {
      name: 'High score',
      trackMembership: true,
      condition: {
        logic: 'AND',
        groups: [{ filters: [{ field: 'data.score', operator: 'greaterThan', value: SCORE_LIMIT }] }],
      },
    }),
  );
  const template = await must(
    client.call('POST', '/templates', {
      name: 'Welcome',
      subject: 'Welcome',
      body: '<p>Welcome</p>',
      type: 'TRANSACTIONAL',
      from: `hello@${stack.project.senderDomain}`,
    }),
  );
  const endpoint = await must(
    client.call('POST', '/webhook-endpoints', {
      url: `${stack.webhookUrl}/endpoint`,
      types: ['email.sent', 'event.bought', 'segment.*'],
    }),
  );
  const joinedWorkflow = await makeWorkflow(client, 'Joined', [
    { type: 'UPDATE_CONTACT', config: { data: { greeted: 'yes' } } },
    { type: 'SEND_EMAIL', config: { templateId: template.id } },
    { type: 'WEBHOOK', config: { url: `${stack.webhookUrl}/step`, method: 'POST', body: '{{ event.from }}' } },
    { type: 'DELAY', config: { amount: 2, unit: 'seconds' } },
    { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought', timeout: 3 } },
    { type: 'EXIT', config: { reason: 'done' } },
  ]);
  const movedWorkflow = await makeWorkflow(client, 'Moved', [
    { type: 'DELAY', config: { amount: 3, unit: 'seconds' } },
    { type: 'EXIT', config: { reason: 'done' } },
  ]);
  const topics = await makeTopics(client);
  const { id: orderedWorkflow } = await makeWorkflow(
    client,
    'Ordered',
    [
      { type: 'SEND_EMAIL', config: { templateId: template.id, topicId: topics.orders } },
      { type: 'EXIT', config: { reason: 'done' } },
    ],
    { eventName: ORDERED, allowReentry: true },
  );
  const from = `news@${stack.project.senderDomain}`;
  const form = {
    name: 'Newsletter',
    key: FORM_KEY,
    from,
    topicIds: [topics.news],
    fields: [{ key: 'plan', label: 'Plan' }],
  };
  await must(client.call('POST', '/forms', form));
  const db = stack.connect();
  // The first form with topics requires one of every campaign; some of the load have none.
  await db('projects').where({ id: stack.project.id }).update({ topicRequired: false });
  const contactsOf = async (kind: string): Promise<{ id: string; email: string }[]> =>
    db('contacts').whereLike('email', `${kind}%`).orderBy('email').select('id', 'email');
  const idsOf = async (kind: string): Promise<string[]> => (await contactsOf(kind)).map(({ id }) => id);
  const choosers = (await contactsOf('chooser')).map(
    (contact): Chooser => ({ ...contact, states: { news: 'SUBSCRIBED', orders: 'SUBSCRIBED' } }),
  );
  const bulkContacts = await idsOf('bulk');
  const contactsToDelete = await idsOf('delete');
  await db.destroy();
  return {
    groups,
    bulkContacts,
    contactsToDelete,
    scored,
    segmentId: segment.id,
    joinedWorkflow,
    movedWorkflow,
    endpointId: endpoint.id,
    orderedWorkflow: { id: orderedWorkflow },
    topics,
    choosers,
    formKey: FORM_KEY,
  };
}

const rows = (kind: string, count: number, group: string): string[] =>
  Array.from({ length: count }, (_, n) => `${addressOf(`${kind}-`, n)},${group},Ann`);

async function importAll(client: ProofClient, lines: string[]): Promise<void> {
  const form = new FormData();
  form.set('file', new Blob([`email,group,name\n${lines.join('\n')}\n`], { type: 'text/csv' }), 'contacts.csv');
  const { id: jobId } = await must(client.call('POST', '/contacts/import', form));
  const isDone = async () => (await client.call('GET', `/contacts/import/${jobId}`)).body?.status === 'COMPLETED';
  await eventually(isDone, { timeoutMs: 180_000, what: 'the first import' });
}

interface StepSketch {
  type: string;
  config: object;
}

async function makeTopics(client: ProofClient): Promise<ProofSetup['topics']> {
  const make = async (name: string, kind: string) =>
    (await must(client.call('POST', '/topics', { name, kind, defaultState: 'SUBSCRIBED' }))).id;
  return { news: await make('News', 'MARKETING'), orders: await make('Orders', 'NOTIFICATION') };
}

/** A chain of steps that starts with an event, `joined` by default. */
async function makeWorkflow(
  client: ProofClient,
  name: string,
  steps: StepSketch[],
  start: { eventName: string; allowReentry?: boolean } = { eventName: 'joined' },
): Promise<{ id: string }> {
  const { id } = await must(client.call('POST', '/workflows', { name, ...start }));
  let before: string | undefined;
  for (const step of steps) {
    const added = await must(client.call('POST', `/workflows/${id}/steps`, { name: step.type, ...step }));
    if (before)
      await must(client.call('POST', `/workflows/${id}/transitions`, { fromStepId: before, toStepId: added.id }));
    before = added.id;
  }
  await must(client.call('PATCH', `/workflows/${id}`, { enabled: true }));
  return { id };
}

/** Returns the id of what was created. */
async function must(asked: Promise<RecordedAnswer>): Promise<{ id: string }> {
  const { outcome, status, body } = await asked;
  const id = body?.id ?? body?.jobId;
  if (outcome !== 'accepted' || !id) throw new Error(`The setup failed with ${status}: ${JSON.stringify(body)}`);
  return { id };
}
