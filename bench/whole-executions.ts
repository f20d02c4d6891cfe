// Executions of four steps on the whole stack, started by tracked events.
import { setTimeout as sleep } from 'node:timers/promises';
import { processorTimes, untilIdle } from './processor-time.ts';
import { call, type Stack } from './whole-stack.ts';

/** How many events are tracked at once. */
const CONCURRENCY = 10;

export interface ExecutionsRound {
  rate: number;
  /** Milliseconds of processor time an execution, by process. */
  cpu: Record<string, number>;
}

/** Creates an enabled workflow that starts with the event `go`: it updates the contact, decides, sends and ends. */
export async function createBenchWorkflow({ url, key, senderDomain }: Stack): Promise<string> {
  const create = async (path: string, body: unknown) => (await call<{ id: string }>(url, key, 'POST', path, body)).id;
  const templateId = await create('/templates', {
    name: 'Go',
    subject: 'Hello',
    body: '<p>Hello {{ email }}</p>',
    type: 'TRANSACTIONAL',
    from: `bench@${senderDomain}`,
  });
  const id = await create('/workflows', { name: 'Go', eventName: 'go' });
  const step = (type: string, config: unknown, autoConnect: boolean) =>
    create(`/workflows/${id}/steps`, { type, name: type, config, autoConnect });
  const connect = (fromStepId: string, toStepId: string, branch?: string) =>
    create(`/workflows/${id}/transitions`, { fromStepId, toStepId, ...(branch && { branch }) });
  await step('UPDATE_CONTACT', { data: { seen: true } }, true);
  const ask = await step('CONDITION', { field: 'data.seen', operator: 'equals', value: true }, true);
  const send = await step('SEND_EMAIL', { templateId }, false);
  const end = await step('EXIT', { reason: 'done' }, false);
  await connect(ask, send, 'yes');
  await connect(send, end);
  await call(url, key, 'PATCH', `/workflows/${id}`, { enabled: true });
  return id;
}

/** Tracks an event for each of `count` new contacts, and waits until their executions have ended. */
export async function runExecutions(stack: Stack, workflowId: string, count: number): Promise<ExecutionsRound> {
  const { url, key, publicKey, pids } = stack;
  const ended = async () =>
    (await call<{ total: number }>(url, key, 'GET', `/workflows/${workflowId}/executions?status=EXITED&limit=1`)).total;
  await untilIdle(pids);
  const cpu = processorTimes(pids);
  const before = await ended();
  const started = performance.now();
  const rest = Array.from({ length: count }, (_, n) => `go${before + n}@example.com`).values();
  const track = async () => {
    for (const email of rest) await call(url, publicKey, 'POST', '/v1/track', { email, event: 'go' });
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, track));
  while ((await ended()) < before + count) await sleep(100);
  const rate = count / ((performance.now() - started) / 1_000);
  await untilIdle(pids);
  const after = processorTimes(pids);
  const cost = Object.entries(after).map(([name, s]) => [name, ((s - (cpu[name] ?? 0)) / count) * 1_000]);
  return { rate, cpu: Object.fromEntries(cost) };
}
