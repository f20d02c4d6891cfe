// What is measured while the stack is overloaded.
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { root } from '../../dev/root.ts';
import { eventually } from '../../test/support/waiting.ts';
import type { ProofProject, ProofStack } from '../chaos/stack.ts';
import { proofClient } from '../client.ts';

export interface HealthWatch {
  /** Ends the probes. */
  stop(): Promise<{ times: number[]; failed: number }>;
}

/** Asks both APIs for their health, ten times a second. */
export function watchHealth(urls: string[]): HealthWatch {
  const probe = new Worker(join(root, 'proof/overload/health-probe.mjs'), { workerData: urls });
  const times: number[] = [];
  let failed = 0;
  probe.on('message', ({ ms, isOk }: { ms: number; isOk: boolean }) => {
    times.push(ms);
    if (!isOk) failed++;
  });
  return {
    stop: async () => {
      await probe.terminate();
      return { times, failed };
    },
  };
}

/** The times from a request to the arrival of its mail, of `count` mails one after the other. */
export async function arrivalTimes(
  stack: ProofStack,
  project: ProofProject,
  { name, count }: { name: string; count: number },
): Promise<number[]> {
  const client = proofClient(stack.apiUrls, project.secretKey);
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const to = `${name}${n}@latency.example`;
    const began = Date.now();
    const before = stack.sink.taken.length;
    await client.insist('POST', '/v1/send', mailTo(to, project), { headers: { 'idempotency-key': to } });
    const arrived = () => stack.sink.taken.slice(before).find((mail) => mail.to === to)?.at;
    times.push((await eventually(arrived, { timeoutMs: 60_000, what: `the mail to ${to}` })) - began);
  }
  return times;
}

export const mailTo = (to: string, { senderDomain }: ProofProject) => ({
  to,
  from: `shop@${senderDomain}`,
  subject: 'Hello',
  body: '<p>Hello</p>',
});

/** Waits until no mail is pending. Returns the accepted ones that did not arrive as often as the ledger says. */
export async function lostOrDoubled(stack: ProofStack, accepted: string[], waitMs: number): Promise<string[]> {
  const db = stack.connect();
  try {
    const pending = async (): Promise<number> =>
      (await db.raw(`select count(*)::integer as count from emails where status = 'PENDING'`)).rows[0].count;
    await eventually(async () => (await pending()) === 0, { timeoutMs: waitMs }).catch(() => {});
    const { rows }: { rows: { to: string; status: string; unknown: number }[] } = await db.raw(
      `select c.to_email as to, e.status, e.unknown_outcomes as unknown
       from emails e join email_contents c on c.email_id = e.id`,
    );
    const ledger = new Map(rows.map((row) => [row.to, row]));
    const copies = new Map<string, number>();
    for (const { to } of stack.sink.taken) copies.set(to, (copies.get(to) ?? 0) + 1);
    return accepted.flatMap((to) => {
      const count = copies.get(to) ?? 0;
      const mail = ledger.get(to);
      if (!mail) return [`the mail to ${to} is not in the ledger`];
      const isRight =
        mail.status === 'SENT'
          ? count >= 1 && count <= 1 + mail.unknown
          : mail.status === 'UNKNOWN' && count <= mail.unknown;
      return isRight ? [] : [`the mail to ${to}, ${mail.status}, arrived ${count} times`];
    });
  } finally {
    await db.destroy();
  }
}

export const medianOf = (values: number[]): number => percentile(values, 0.5);

export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
