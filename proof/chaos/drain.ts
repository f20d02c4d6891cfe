// Ends all faults and waits until nothing is left to do.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import { eventually } from '../../test/support/waiting.ts';
import { type ProxyName, processNames } from './plan.ts';
import type { ProofStack } from './stack.ts';

/** Tables that are empty when all work is done. */
const queues = [
  'outbox',
  'event_queue',
  'contact_changes',
  'email_notices',
  'outgoing_mails',
  'unpublished_email_results',
  'webhook_queue',
  'workflow_ticks',
  'contact_count_deltas',
  'event_deltas',
  'counter_deltas',
  'segment_recounts',
];

/** Rows that something still has to be done about, each with a name for the report. */
const unfinished: Record<string, string> = {
  'pending mails': `select count(*) from emails where status = 'PENDING'`,
  'open campaigns': `select count(*) from campaigns where status in ('SCHEDULED', 'SENDING')`,
  'active executions': `select count(*) from executions where status in ('RUNNING', 'WAITING')`,
  'open jobs': `select count(*) from jobs where status in ('QUEUED', 'RUNNING')`,
  'pending webhook deliveries': `select count(*) from webhook_deliveries where status = 'PENDING'`,
  'received submissions': `select count(*) from form_submissions where status = 'RECEIVED'`,
  'open moves of executions': `select count(*) from workflow_moves where finished_at is null`,
};

/** How long nothing may become less before it counts as stuck: the reconciler runs every three minutes, after a grace of two. */
const STUCK_MS = 7 * 60_000;

export interface Drained {
  /** Empty where everything was done. */
  left: string[];
  note: string;
}

export async function drain(stack: ProofStack, report: (line: string) => void): Promise<Drained> {
  for (const name of Object.keys(stack.proxies) as ProxyName[]) stack.proxies[name].resume();
  await stack.revive();
  for (const name of processNames) {
    stack.processes[name].stepClock(0);
    stack.processes[name].signal('SIGCONT');
  }
  stack.sink.behave();
  stack.receiver.behave();
  for (const name of processNames)
    await eventually(() => stack.processes[name].isReady(), { timeoutMs: 180_000, what: `${name}, ready again` });
  const db = stack.connect();
  try {
    const began = Date.now();
    const least = new Map<string, number>();
    let lessAt = began;
    for (let rounds = 0; ; rounds++) {
      await hasten(db);
      const counts = await leftover(db);
      for (const [name, count] of counts) {
        if (count >= (least.get(name) ?? Number.POSITIVE_INFINITY)) continue;
        least.set(name, count);
        lessAt = Date.now();
      }
      const left = named(counts);
      const unchangedMs = Date.now() - lessAt;
      if (left.length === 0 || unchangedMs > STUCK_MS) {
        const lost = stack.lostShards();
        const seconds = Math.round((Date.now() - began) / 1000);
        return { left, note: `${seconds} s${lost > 0 ? `; Temporal lost its shard ${lost} times` : ''}` };
      }
      if (rounds % 20 === 19) report(`still left: ${(await waiting(db)).join(', ')}`);
      await sleep(500);
    }
  } finally {
    await db.destroy();
  }
}

/** What is left to do, and the messages to Temporal by queue, with the last error of the first. */
export async function waiting(db: Db): Promise<string[]> {
  const { rows } = await db.raw(
    `select queue, action, count(*)::integer as count, min(created_at) as since, (array_agg(last_error order by id))[1] as error
     from outbox group by 1, 2 order by 1, 2`,
  );
  return [...named(await leftover(db)), ...rows.map((row: object) => JSON.stringify(row))];
}

const named = (counts: (readonly [name: string, count: number])[]): string[] =>
  counts.filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`);

/** Makes retries due now that would be due in minutes or hours. */
async function hasten(db: Db): Promise<void> {
  await db.raw(`update emails set due_at = now() where status = 'PENDING' and attempts > 0 and due_at > now()`);
  const { rowCount } = await db.raw(
    `update webhook_deliveries set next_attempt_at = now()
     where status = 'PENDING' and next_attempt_at > now() + interval '2 seconds'`,
  );
  if (rowCount > 0) await db.raw('update webhook_endpoints set paused_until = null, signal_at = now()');
}

async function leftover(db: Db): Promise<(readonly [name: string, count: number])[]> {
  return Promise.all([
    ...queues.map(async (table) => [table, await countOf(db, `select count(*) from ${table}`)] as const),
    ...Object.entries(unfinished).map(async ([name, query]) => [name, await countOf(db, query)] as const),
  ]);
}

async function countOf(db: Db, query: string): Promise<number> {
  const { rows } = await db.raw(query);
  return Number(rows[0]?.count);
}
