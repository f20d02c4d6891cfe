import type { CheckContext, CheckRow } from './check.ts';

const JOINED_STEPS = ['UPDATE_CONTACT', 'SEND_EMAIL', 'WEBHOOK', 'DELAY', 'WAIT_FOR_EVENT', 'EXIT'];
const MOVED_STEPS = ['DELAY', 'EXIT'];

interface ExecutionRow {
  email: string;
  workflow_id: string;
  status: string;
  error: string | null;
  steps: { type: string; status: string; id: string }[];
  mails: number;
}

/** One execution of each workflow for each accepted event, every step once and in order, one mail, one webhook id. */
export async function checkExecutions({ db, recorder, setup, stack }: CheckContext): Promise<CheckRow> {
  const { rows }: { rows: ExecutionRow[] } = await db.raw(
    `select c.email, x.workflow_id, x.status, x.error,
       (select coalesce(jsonb_agg(jsonb_build_object('type', s.type, 'status', s.status, 'id', s.id) order by s.visit), '[]')
         from execution_steps s where s.execution_id = x.id) as steps,
       (select count(*)::integer from emails e where e.execution_id = x.id) as mails
     from executions x join contacts c on c.id = x.contact_id where x.workflow_id = any (?)`,
    [[setup.joinedWorkflow.id, setup.movedWorkflow.id]],
  );
  const found = new Map<string, ExecutionRow[]>();
  for (const row of rows) {
    const key = `${row.workflow_id} ${row.email}`;
    found.set(key, [...(found.get(key) ?? []), row]);
  }
  const calls = new Map<string, Set<string>>();
  for (const { path, body, webhookId } of stack.receiver.calls)
    if (path === '/step') calls.set(body, (calls.get(body) ?? new Set()).add(webhookId));
  const violations: string[] = [];
  let executions = 0;
  for (const { email, event, outcome } of recorder.tracks) {
    if (event !== 'joined') continue;
    for (const [workflowId, expected] of [
      [setup.joinedWorkflow.id, JOINED_STEPS],
      [setup.movedWorkflow.id, MOVED_STEPS],
    ] as const) {
      const key = `${workflowId} ${email}`;
      const [row, ...more] = found.get(key) ?? [];
      found.delete(key);
      if (!row && outcome !== 'accepted') continue;
      if (!row || more.length > 0) {
        violations.push(`${email}: ${row ? more.length + 1 : 0} executions of ${workflowId}`);
        continue;
      }
      executions++;
      const taken = row.steps.map(({ type }) => type).join();
      if (row.status !== 'EXITED') violations.push(`${email}: execution is ${row.status}, ${row.error}`);
      else if (taken !== expected.join() || row.steps.some(({ status }) => status !== 'COMPLETED'))
        violations.push(`${email}: took ${JSON.stringify(row.steps)}`);
      if (expected !== JOINED_STEPS) continue;
      if (row.mails !== 1) violations.push(`${email}: ${row.mails} mails of the workflow`);
      const ids = [...(calls.get(email) ?? [])];
      const stepId = row.steps.find(({ type }) => type === 'WEBHOOK')?.id;
      if (ids.length !== 1 || ids[0] !== stepId) violations.push(`${email}: webhook ids ${ids.join()}, step ${stepId}`);
    }
  }
  for (const key of found.keys()) violations.push(`an execution without its event: ${key}`);
  const { rows: moves } = await db.raw('select coalesce(sum(moved), 0)::integer as moved from workflow_moves');
  const note = `${recorder.publications.length} publications moved ${moves[0].moved}`;
  return { what: 'steps once', checked: `${executions} executions`, violations, note };
}

/** Every wanted event arrived with its own id and was acknowledged; nothing else arrived. */
export async function checkWebhooks({ db, stack }: CheckContext): Promise<CheckRow> {
  const { rows }: { rows: { id: string; name: string }[] } = await db.raw(
    `select id, name from events where name in ('email.sent', 'bought') or name like 'segment.%'`,
  );
  const acknowledged = new Map<string, number>();
  const called = new Map<string, number>();
  for (const { path, webhookId, answered } of stack.receiver.calls) {
    if (path !== '/endpoint') continue;
    called.set(webhookId, (called.get(webhookId) ?? 0) + 1);
    if (answered === 200) acknowledged.set(webhookId, (acknowledged.get(webhookId) ?? 0) + 1);
  }
  const violations = rows
    .filter(({ id }) => !acknowledged.has(id))
    .map(({ id, name }) => `${name} ${id} did not arrive`);
  const wanted = new Set(rows.map(({ id }) => id));
  for (const id of called.keys()) if (!wanted.has(id)) violations.push(`a call without an event: ${id}`);
  const repeated = [...acknowledged.values()].filter((count) => count > 1).length;
  const note = `${repeated} acknowledged more than once, with the same id`;
  return { what: 'webhooks at least once', checked: `${rows.length} events`, violations, note };
}
