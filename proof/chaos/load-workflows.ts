import { setTimeout as sleep } from 'node:timers/promises';
import { addressOf } from './addresses.ts';
import type { LoadContext } from './load-context.ts';
import { publicKeyOf } from './stack.ts';

/** Starts an execution of each workflow; some contacts buy while the first one waits for it. */
export async function joinWorkflow({ client, stack, recorder, random, next }: LoadContext): Promise<void> {
  const email = addressOf('join', next());
  const track = async (event: string) => {
    const headers = { ...publicKeyOf(stack), 'idempotency-key': `${event} ${email}` };
    const reply = await client.insist('POST', '/v1/track', { email, event, data: { from: email } }, { headers });
    recorder.tracks.push({ email, event, outcome: reply.outcome, eventId: reply.body?.data?.event });
    return reply;
  };
  const { outcome } = await track('joined');
  recorder.count('join workflow', outcome);
  if (outcome !== 'accepted' || random.next() < 0.5) return;
  await sleep(random.between(0, 4_000));
  await track('bought');
}

/** Changes the pause of the second workflow and moves active executions to the new version. */
export async function publishWorkflow({ client, recorder, random, setup }: LoadContext): Promise<void> {
  const { id } = setup.movedWorkflow;
  const draft = await client.call('GET', `/workflows/${id}/draft`);
  const { graph, revision } = draft.body ?? {};
  if (draft.outcome !== 'accepted' || !graph) return;
  for (const step of graph.steps) if (step.type === 'DELAY') step.config.amount = random.between(2, 5);
  const saved = await client.call('PUT', `/workflows/${id}/draft`, { graph, expectedRevision: revision });
  if (saved.outcome !== 'accepted') return;
  const body = { expectedRevision: saved.body?.revision, migrate: 'POSSIBLE' };
  const reply = await client.call('POST', `/workflows/${id}/publish`, body, { timeoutMs: 40_000 });
  recorder.count('publish', reply.outcome);
  const version = reply.body?.version;
  if (reply.outcome === 'accepted' && version !== undefined) recorder.publications.push({ workflowId: id, version });
}
