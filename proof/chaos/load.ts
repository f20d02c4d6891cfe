// Customers at work: each takes one operation after the other, chosen by the seed.
import { setTimeout as sleep } from 'node:timers/promises';
import { proofClient } from '../client.ts';
import { seededRandom } from '../random.ts';
import { AnswerRecorder } from '../recorder.ts';
import { addressOf } from './addresses.ts';
import { steerCampaign, steerTopicCampaign } from './load-campaigns.ts';
import { answerConfirmation, changeChoice, orderOnce, submitForm } from './load-consent.ts';
import { changeScore, deleteOne, importContacts, runBulkJob } from './load-contacts.ts';
import type { LoadContext } from './load-context.ts';
import { joinWorkflow, publishWorkflow } from './load-workflows.ts';
import type { ProofSetup } from './setup.ts';
import { type ProofStack, publicKeyOf } from './stack.ts';

export type OperationName = keyof typeof operations;

const operations = {
  send: sendOnce,
  'send with key': sendWithKey,
  track: trackOnce,
  'track with key': trackWithKey,
  'join workflow': joinWorkflow,
  campaign: steerCampaign,
  import: importContacts,
  'bulk job': runBulkJob,
  delete: deleteOne,
  score: changeScore,
  publish: publishWorkflow,
  'choose topic': changeChoice,
  'topic campaign': steerTopicCampaign,
  order: orderOnce,
  'submit form': submitForm,
  'answer confirmation': answerConfirmation,
};

export const CORE_LOAD: Partial<Record<OperationName, number>> = {
  send: 15,
  'send with key': 15,
  track: 15,
  'track with key': 15,
  campaign: 1,
  'choose topic': 10,
  'topic campaign': 0.5,
  'submit form': 5,
  'answer confirmation': 5,
};

export const MIXED_LOAD: Partial<Record<OperationName, number>> = {
  send: 20,
  'send with key': 20,
  track: 20,
  'track with key': 15,
  'join workflow': 10,
  campaign: 1,
  import: 1,
  'bulk job': 1,
  delete: 3,
  score: 12,
  publish: 0.5,
  'choose topic': 12,
  'topic campaign': 0.7,
  order: 6,
  'submit form': 5,
  'answer confirmation': 6,
};

export interface LoadOptions {
  stack: ProofStack;
  setup: ProofSetup;
  seed: number;
  lengthMs: number;
  customers: number;
  /** The pause of a customer after an operation, at most. */
  pauseMs: number;
  weights: Partial<Record<OperationName, number>>;
}

/** Works for `lengthMs`, and then until every answer is known or a minute has passed. */
export async function runLoad(options: LoadOptions): Promise<AnswerRecorder> {
  const { stack, setup, seed, lengthMs, customers, pauseMs, weights } = options;
  const recorder = new AnswerRecorder();
  const end = Date.now() + lengthMs;
  const hardEnd = Date.now() + lengthMs + 60_000;
  let operation = 0;
  const client = proofClient(stack.apiUrls, stack.project.secretKey, {
    isOver: () => Date.now() > hardEnd,
    onAnswer: (reply, path) => recorder.answered(reply, path),
  });
  const work = async (customer: number): Promise<void> => {
    const random = seededRandom(seed, `customer ${customer}`);
    const isOver = () => Date.now() > end;
    const context: LoadContext = { stack, setup, recorder, random, client, next: () => ++operation, isOver };
    while (!isOver()) {
      await operations[random.weighted(weights)](context);
      await sleep(random.between(0, pauseMs));
    }
  };
  await Promise.all(Array.from({ length: customers }, (_, customer) => work(customer)));
  return recorder;
}

const mailTo = (to: string, senderDomain: string) => ({
  to,
  from: `shop@${senderDomain}`,
  subject: 'Order {{ n }}',
  body: '<p>Thank you. <a href="https://example.com/orders">Your orders</a></p>',
});

async function sendOnce({ client, stack, recorder, next }: LoadContext): Promise<void> {
  const to = addressOf('send', next());
  const reply = await client.call('POST', '/v1/send', mailTo(to, stack.project.senderDomain));
  recorder.sends.push({ to, outcome: reply.outcome, emailId: reply.body?.data?.emails?.[0]?.email, isKeyed: false });
  recorder.count('send', reply.outcome);
}

async function sendWithKey({ client, stack, recorder, next }: LoadContext): Promise<void> {
  const to = addressOf('keyed', next());
  const headers = { 'idempotency-key': to };
  const reply = await client.insist('POST', '/v1/send', mailTo(to, stack.project.senderDomain), { headers });
  recorder.sends.push({ to, outcome: reply.outcome, emailId: reply.body?.data?.emails?.[0]?.email, isKeyed: true });
  recorder.count('send with key', reply.outcome);
}

async function trackOnce({ client, recorder, stack, next }: LoadContext): Promise<void> {
  const email = addressOf('track', next());
  const event = 'looked';
  const headers = publicKeyOf(stack);
  const reply = await client.call('POST', '/v1/track', { email, event, data: { page: 'home' } }, { headers });
  recorder.tracks.push({ email, event, outcome: reply.outcome, eventId: reply.body?.data?.event });
  recorder.count('track', reply.outcome);
}

async function trackWithKey({ client, recorder, stack, next }: LoadContext): Promise<void> {
  const email = addressOf('seen', next());
  const event = 'bought';
  const headers = { ...publicKeyOf(stack), 'idempotency-key': `track ${email}` };
  const reply = await client.insist('POST', '/v1/track', { email, event, data: { total: 12 } }, { headers });
  recorder.tracks.push({ email, event, outcome: reply.outcome, eventId: reply.body?.data?.event });
  recorder.count('track with key', reply.outcome);
}
