// Contacts who leave topics and come back, and visitors who submit a form and answer its confirmation.
import { addressOf } from './addresses.ts';
import type { LoadContext } from './load-context.ts';
import { ORDERED } from './setup.ts';
import { publicKeyOf } from './stack.ts';

/** Changes one choice of a contact: every request means a change. */
export async function changeChoice({ client, recorder, random, setup }: LoadContext): Promise<void> {
  const chooser = setup.choosers.splice(random.between(0, setup.choosers.length - 1), 1)[0];
  if (!chooser) return;
  const topic = random.pick(['news', 'orders'] as const);
  const path = `/contacts/${chooser.id}${random.pick(['', '/topics'])}`;
  const state = chooser.states[topic] === 'SUBSCRIBED' ? 'UNSUBSCRIBED' : 'SUBSCRIBED';
  const sentAt = Date.now();
  const { outcome, answeredAt } = await client.insist('PATCH', path, { topics: { [topic]: state } });
  recorder.choices.push({ contactId: chooser.id, topicId: setup.topics[topic], state, outcome, sentAt, answeredAt });
  recorder.count('choose topic', outcome);
  // One whose state is not known chooses no more.
  if (outcome !== 'accepted') return;
  chooser.states[topic] = state;
  setup.choosers.push(chooser);
}

/** Starts a workflow whose email has the NOTIFICATION topic. */
export async function orderOnce({ client, recorder, random, setup, stack }: LoadContext): Promise<void> {
  if (setup.choosers.length === 0) return;
  const { email } = random.pick(setup.choosers);
  const reply = await client.call('POST', '/v1/track', { email, event: ORDERED }, { headers: publicKeyOf(stack) });
  recorder.count('order', reply.outcome);
}

/** A repeated submission is another one; the address still gets one email. */
export async function submitForm({ client, recorder, setup, next }: LoadContext): Promise<void> {
  const email = addressOf('visitor', next());
  const submission = { form: setup.formKey, email, data: { plan: 'pro' } };
  const { outcome } = await client.insist('POST', '/v1/subscribe', submission);
  recorder.submissions.push({ email, outcome });
  recorder.count('submit form', outcome);
}

/** Confirms or declines what one visitor has submitted, or ignores it. */
export async function answerConfirmation({ client, recorder, random, stack }: LoadContext): Promise<void> {
  const kind = random.weighted({ confirm: 14, decline: 3, none: 3 });
  const taken = stack.sink.confirmations.shift();
  // Of an email that was taken twice, the first copy counts.
  if (!taken || recorder.confirmations.has(taken.to)) return;
  const answer = { kind, outcome: 'unknown' as const };
  recorder.confirmations.set(taken.to, answer);
  if (kind === 'none') return;
  const { outcome } = await client.insist('POST', `/${kind}/${taken.token}`);
  recorder.confirmations.set(taken.to, { kind, outcome });
  recorder.count(`${kind} subscription`, outcome);
}
