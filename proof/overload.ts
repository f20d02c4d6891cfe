// Twice as many requests as the stack can take: excess is refused, memory stays bounded, nothing accepted is lost, and one
// tenant cannot slow another's mail by much. Then outages of SMTP and of Temporal under load.
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../test/support/waiting.ts';
import { processNames } from './chaos/plan.ts';
import { makeProofProject, type ProofProject, type ProofStack, startProofStack } from './chaos/stack.ts';
import { proofClient, type RecordedAnswer } from './client.ts';
import type { ProofRow } from './report.ts';

export interface OverloadOptions {
  seed: number;
  overloadMs: number;
  /** Of each outage. */
  outageMs: number;
  report: (line: string) => void;
}

/** A tenant's transactional mail may take this many times as long while another floods. */
export const FLOOD_FACTOR = 10;
/** Below this a factor says nothing: it is the time of a poll. */
const FLOOR_MS = 1_000;
const HEALTH_LIMIT_MS = 1_000;
const MEMORY_LIMIT = 1024 * 1024 * 1024;
const DRAIN_MS = 10 * 60_000;
const RATE_PER_MINUTE = 6_000;

interface SentMail {
  to: string;
  sentAt: number;
}

export async function runOverload(options: OverloadOptions): Promise<ProofRow[]> {
  const { seed, report } = options;
  const stack = await startProofStack({ seed, shares: {}, env: { RATE_LIMIT_PER_MINUTE: String(RATE_PER_MINUTE) } });
  const db = stack.connect();
  const [flooding, quiet] = [await makeProofProject(db, 'flood.example'), await makeProofProject(db, 'quiet.example')];
  const sampling = setInterval(() => {
    for (const name of processNames) stack.processes[name].sampleMemory();
  }, 1_000);
  const health = watchHealth(stack);
  try {
    const alone = await latencyOf(stack, quiet, 'alone', 15);
    report(`overload: alone, a mail arrives after ${alone} ms (median)`);
    const flood = startFlood(stack, flooding, 'flood');
    const beside: number[] = [];
    const end = Date.now() + options.overloadMs;
    while (Date.now() < end) beside.push(await latencyOf(stack, quiet, `beside${beside.length}-`, 5));
    const accepted = await flood.stop();
    const shared = median(beside);
    report(`overload: beside a flood of ${accepted.length} accepted mails, a mail arrives after ${shared} ms`);
    const drained = await lostOrDoubled(stack, accepted);
    const factor = shared / Math.max(alone, FLOOR_MS);
    const rows: Omit<ProofRow, 'part'>[] = [
      {
        what: 'excess is refused with 429 or 503 and Retry-After',
        checked: `${flood.requests()} requests`,
        violations: flood.violations,
        note: flood.statuses(),
      },
      { what: 'drained, nothing lost or doubled', checked: `${accepted.length} accepted`, violations: drained },
      {
        what: `another tenant's mail: at most ${FLOOD_FACTOR} times slower`,
        checked: `${beside.length * 5} mails`,
        violations: factor > FLOOD_FACTOR ? [`${factor.toFixed(1)} times slower`] : [],
        note: `${alone} ms alone, ${shared} ms beside`,
      },
      await outage(stack, flooding, 'SMTP', options),
      await outage(stack, flooding, 'Temporal', options),
    ];
    clearInterval(sampling);
    const healthMs = health.stop();
    rows.push({
      what: '/health, p99 below a second',
      checked: `${healthMs.length} probes`,
      violations: percentile(healthMs, 0.99) > HEALTH_LIMIT_MS ? [`p99 ${percentile(healthMs, 0.99)} ms`] : [],
      note: `p99 ${percentile(healthMs, 0.99)} ms`,
    });
    const peaks = processNames.map(
      (name) => [name, Math.round(stack.processes[name].peakMemory / 1024 / 1024)] as const,
    );
    rows.push({
      what: 'memory bounded',
      checked: `${peaks.length} processes`,
      violations: peaks
        .filter(([, peak]) => peak * 1024 * 1024 > MEMORY_LIMIT)
        .map(([name, peak]) => `${name} ${peak} MB`),
      note: peaks.map(([name, peak]) => `${name} ${peak} MB`).join(', '),
    });
    return rows.map((row) => ({ part: 'overload', ...row }));
  } finally {
    clearInterval(sampling);
    health.stop();
    await db.destroy();
  }
}

/** The median time from a request to the arrival of its mail, of `count` mails one after the other. */
async function latencyOf(stack: ProofStack, project: ProofProject, name: string, count: number): Promise<number> {
  const client = proofClient(stack.apiUrls, project.secretKey);
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const to = `${name}${n}@latency.example`;
    const began = Date.now();
    await client.insist('POST', '/v1/send', mailTo(to, project), { headers: { 'idempotency-key': to } });
    const arrived = () => stack.sink.taken.findLast((mail) => mail.to === to)?.at;
    const at = await eventually(arrived, { timeoutMs: 60_000, what: `the mail to ${to}` });
    times.push(at - began);
  }
  return median(times);
}

const mailTo = (to: string, { senderDomain }: ProofProject) => ({
  to,
  from: `shop@${senderDomain}`,
  subject: 'Hello',
  body: '<p>Hello</p>',
});

/** Customers that never wait: as many requests as the machine makes, which is more than the rate limit allows. */
function startFlood(stack: ProofStack, project: ProofProject, name: string, customers = 24) {
  const violations: string[] = [];
  const statuses = new Map<string, number>();
  const accepted: SentMail[] = [];
  let [running, requests] = [true, 0];
  const work = async (customer: number): Promise<void> => {
    const client = proofClient([stack.apiUrls[customer % stack.apiUrls.length] ?? ''], project.secretKey);
    for (let n = 0; running; n++) {
      const to = `${name}${customer}-${n}@d${n % 20}.flood.example`;
      const reply = await client.call('POST', '/v1/send', mailTo(to, project));
      requests++;
      statuses.set(String(reply.status), (statuses.get(String(reply.status)) ?? 0) + 1);
      if (reply.outcome === 'accepted') accepted.push({ to, sentAt: reply.sentAt });
      else if (reply.status !== undefined && !isPolite(reply)) violations.push(`${reply.status} without Retry-After`);
    }
  };
  const working = Promise.all(Array.from({ length: customers }, (_, customer) => work(customer)));
  return {
    violations,
    requests: () => requests,
    statuses: () => [...statuses].map(([status, count]) => `${status}: ${count}`).join(', '),
    stop: async () => {
      running = false;
      await working;
      return accepted;
    },
  };
}

const isPolite = ({ status, retryAfter }: RecordedAnswer): boolean =>
  (status === 429 || status === 503) && Number(retryAfter) > 0;

/** Waits until every accepted mail has a result. Returns those that did not arrive as often as the ledger says. */
async function lostOrDoubled(stack: ProofStack, accepted: SentMail[]): Promise<string[]> {
  const db = stack.connect();
  try {
    const pending = async () => {
      const { rows } = await db.raw(`select count(*)::integer as count from emails where status = 'PENDING'`);
      return rows[0].count as number;
    };
    await eventually(async () => (await pending()) === 0, { timeoutMs: DRAIN_MS }).catch(() => {});
    const { rows }: { rows: { to: string; status: string; unknown: number }[] } = await db.raw(
      `select c.to_email as to, e.status, e.unknown_outcomes as unknown
       from emails e join email_contents c on c.email_id = e.id`,
    );
    const ledger = new Map(rows.map((row) => [row.to, row]));
    const copies = new Map<string, number>();
    for (const { to } of stack.sink.taken) copies.set(to, (copies.get(to) ?? 0) + 1);
    return accepted.flatMap(({ to }) => {
      const [count, mail] = [copies.get(to) ?? 0, ledger.get(to)];
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

/** Accepts go on while a service is away; everything arrives when it is back. */
async function outage(
  stack: ProofStack,
  project: ProofProject,
  of: 'SMTP' | 'Temporal',
  { outageMs, report }: OverloadOptions,
): Promise<Omit<ProofRow, 'part'>> {
  report(`overload: ${of} is away for ${Math.round(outageMs / 1000)} s`);
  const flood = startFlood(stack, project, `without-${of.toLowerCase()}-`, 4);
  if (of === 'Temporal') await stack.restartTemporal(() => sleep(outageMs));
  else {
    stack.proxies.smtp.refuse();
    await sleep(outageMs);
    stack.proxies.smtp.resume();
  }
  const accepted = await flood.stop();
  const violations = await lostOrDoubled(stack, accepted);
  if (accepted.length === 0) violations.push('nothing was accepted meanwhile');
  const note = `${Math.round(outageMs / 1000)} s, ${flood.statuses()}`;
  return { what: `outage of ${of} under load`, checked: `${accepted.length} accepted`, violations, note };
}

function watchHealth(stack: ProofStack): { stop(): number[] } {
  const times: number[] = [];
  let running = true;
  const watch = async (url: string) => {
    while (running) {
      const began = performance.now();
      await fetch(`${url}/health`, { signal: AbortSignal.timeout(10_000) }).catch(() => {});
      times.push(Math.round(performance.now() - began));
      await sleep(100);
    }
  };
  for (const url of stack.apiUrls) void watch(url);
  return {
    stop: () => {
      running = false;
      return times;
    },
  };
}

const median = (values: number[]): number => percentile(values, 0.5);

function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
