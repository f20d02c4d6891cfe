// Twice as many requests as the stack can take: excess is refused, memory stays bounded, nothing accepted is lost. One
// tenant that floods cannot slow another's mail by much. Then outages of SMTP and of Temporal under load.
import { setTimeout as sleep } from 'node:timers/promises';
import { processNames } from '../chaos/plan.ts';
import { makeProofProject, type ProofProject, type ProofStack, startProofStack } from '../chaos/stack.ts';
import type { ProofRow } from '../report.ts';
import {
  closeConnections,
  mailsOf,
  measureCapacity,
  mixOf,
  type OpenLoad,
  offer,
  openConnections,
  statusesOf,
} from './load.ts';
import { arrivalTimes, lostOrDoubled, medianOf, percentile, watchHealth } from './measure.ts';

export interface OverloadOptions {
  seed: number;
  /** How long one tenant floods. */
  floodMs: number;
  overloadMs: number;
  /** Of each outage. */
  outageMs: number;
  report: (line: string) => void;
}

type OverloadRow = Omit<ProofRow, 'part'>;

/** Another tenant's transactional mail may take this many times as long while one floods. */
export const FLOOD_FACTOR = 10;
/** Shorter times are those of a poll, and a factor of them says nothing. */
const FLOOR_MS = 200;
const HEALTH_LIMIT_MS = 1_000;
const MEMORY_LIMIT = 1024 * 1024 * 1024;
const DRAIN_MS = 10 * 60_000;
/** Of each tenant. */
const RATE_PER_MINUTE = 6_000;
const REFUSED_AFTER_MS = 60_000;
const OUTAGE_PER_SECOND = 40;
const TENANTS = 40;
const CAPACITY_MS = 15_000;
/** So many that both APIs always have work waiting, and few enough that none is refused. */
const CUSTOMERS = 200;
/** A generator that falls behind has not overloaded anything. */
const LEAST_FACTOR = 1.8;

export async function runOverload(options: OverloadOptions): Promise<ProofRow[]> {
  const stack = await startProofStack({
    seed: options.seed,
    shares: {},
    // Only the mail server is cut off. The proxies run in this process, which is busy enough.
    proxied: ['smtp'],
    env: { RATE_LIMIT_PER_MINUTE: String(RATE_PER_MINUTE) },
  });
  const db = stack.connect();
  const tenants: ProofProject[] = [];
  for (let n = 0; n < TENANTS; n++) tenants.push(await makeProofProject(db, `tenant${n}.example`));
  await db.destroy();
  const sampling = setInterval(() => {
    for (const name of processNames) stack.processes[name].sampleMemory();
  }, 1_000);
  const health = watchHealth(stack.apiUrls);
  try {
    const rows = [
      ...(await floodOfOneTenant(stack, tenants, options)),
      ...(await twiceTheCapacity(stack, tenants, options)),
      await outage(stack, tenants, 'SMTP', options),
      await outage(stack, tenants, 'Temporal', options),
    ];
    clearInterval(sampling);
    rows.push(healthRow(await health.stop()), memoryRow(stack));
    return rows.map((row) => ({ part: 'overload', ...row }));
  } finally {
    clearInterval(sampling);
    await health.stop();
  }
}

/** One tenant asks for twice what its rate limit allows, and another sends a mail now and then. */
async function floodOfOneTenant(
  stack: ProofStack,
  [quiet, flooding]: ProofProject[],
  { floodMs, report }: OverloadOptions,
): Promise<OverloadRow[]> {
  if (!quiet || !flooding) throw new Error('Two tenants are needed.');
  const alone = await arrivalTimes(stack, quiet, { name: 'alone', count: 30 });
  report(`overload: alone, a mail arrives after ${medianOf(alone)} ms, 95 % after ${percentile(alone, 0.95)} ms`);
  let isOver = false;
  const flood = offer(stack.apiUrls, {
    perSecond: (2 * RATE_PER_MINUTE) / 60,
    lengthMs: floodMs,
    next: mailsOf(flooding, 'flood'),
  }).finally(() => {
    isOver = true;
  });
  const beside: number[] = [];
  for (let n = 0; !isOver; n++) beside.push(...(await arrivalTimes(stack, quiet, { name: `beside${n}-`, count: 1 })));
  const load = await flood;
  report(
    `overload: beside a flood (${statusesOf(load)}), after ${medianOf(beside)} ms, 95 % ${percentile(beside, 0.95)}`,
  );
  const factor = medianOf(beside) / Math.max(medianOf(alone), FLOOR_MS);
  const refused = refusalRow('a flooding tenant is refused', load);
  // Within the first minute a tenant may use up its limit at once.
  if (floodMs >= REFUSED_AFTER_MS && ![...load.statuses.keys()].some((status) => status === '429' || status === '503'))
    refused.violations.push('nothing was refused');
  return [
    refused,
    await drainedRow(stack, load, 'flood'),
    {
      what: `another tenant's mail: at most ${FLOOD_FACTOR} times slower`,
      checked: `${beside.length} mails`,
      violations: factor > FLOOD_FACTOR ? [`${factor.toFixed(1)} times slower`] : [],
      note: `median ${medianOf(alone)} ms alone, ${medianOf(beside)} ms beside; p95 ${percentile(alone, 0.95)}, ${percentile(beside, 0.95)} ms`,
    },
  ];
}

/** Measures how much all tenants together get answered, then asks for twice that. */
async function twiceTheCapacity(
  stack: ProofStack,
  tenants: ProofProject[],
  { overloadMs, report }: OverloadOptions,
): Promise<OverloadRow[]> {
  const { perSecond: capacity, load: measured } = await measureCapacity(stack.apiUrls, {
    customers: CUSTOMERS,
    lengthMs: CAPACITY_MS,
    next: mixOf(tenants, 'capacity'),
  });
  report(`overload: the capacity is ${Math.round(capacity)} requests a second`);
  await openConnections(stack.apiUrls);
  const load = await offer(stack.apiUrls, {
    perSecond: 2 * capacity,
    lengthMs: overloadMs,
    next: mixOf(tenants, 'twice'),
  });
  closeConnections();
  const factor = load.requests / (overloadMs / 1000) / capacity;
  report(`overload: ${factor.toFixed(2)} times as many, ${statusesOf(load)}, ${load.skipped} not made`);
  const rows = [
    refusalRow('twice the capacity: excess is refused', load),
    await drainedRow(stack, { ...load, accepted: [...measured.accepted, ...load.accepted] }, 'twice the capacity'),
  ];
  if (factor < LEAST_FACTOR) rows[0]?.violations.push(`only ${factor.toFixed(2)} times the capacity was asked for`);
  if (rows[0])
    rows[0].note += `; ${Math.round(capacity)}/s measured, ${Math.round(factor * capacity)}/s asked for, answers p50 ${medianOf(load.times)} ms, p99 ${percentile(load.times, 0.99)} ms`;
  return rows;
}

/** Accepts go on while a service is away; everything arrives when it is back. */
async function outage(
  stack: ProofStack,
  [project]: ProofProject[],
  of: 'SMTP' | 'Temporal',
  { outageMs, report }: OverloadOptions,
): Promise<OverloadRow> {
  if (!project) throw new Error('A tenant is needed.');
  const seconds = Math.round(outageMs / 1000);
  report(`overload: ${of} is away for ${seconds} s`);
  const offered = offer(stack.apiUrls, {
    perSecond: OUTAGE_PER_SECOND,
    lengthMs: outageMs,
    next: mailsOf(project, `without-${of.toLowerCase()}-`),
  });
  if (of === 'Temporal') await stack.restartTemporal(() => sleep(outageMs));
  else {
    stack.proxies.smtp.refuse();
    await sleep(outageMs);
    stack.proxies.smtp.resume();
  }
  const load = await offered;
  const began = Date.now();
  const violations = [...load.violations, ...(await lostOrDoubled(stack, load.accepted, DRAIN_MS + outageMs))];
  if (load.accepted.length === 0) violations.push('nothing was accepted meanwhile');
  const note = `${seconds} s, ${statusesOf(load)}; drained after ${Math.round((Date.now() - began) / 1000)} s`;
  return { what: `outage of ${of} under load`, checked: `${load.accepted.length} accepted`, violations, note };
}

const refusalRow = (what: string, load: OpenLoad): OverloadRow & { note: string } => ({
  what: `${what} with 429 or 503 and Retry-After`,
  checked: `${load.requests} requests`,
  violations: countedViolations(load.violations),
  note: statusesOf(load),
});

/** Thousands of equal lines say no more than one. */
function countedViolations(lines: string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return [...counts].map(([line, count]) => `${count} times ${line}`);
}

async function drainedRow(stack: ProofStack, { accepted }: OpenLoad, after: string): Promise<OverloadRow> {
  const began = Date.now();
  const violations = await lostOrDoubled(stack, accepted, DRAIN_MS);
  return {
    what: `${after}: drained, no mail lost or doubled`,
    checked: `${accepted.length} accepted`,
    violations,
    note: `after ${Math.round((Date.now() - began) / 1000)} s`,
  };
}

function healthRow({ times, failed }: { times: number[]; failed: number }): OverloadRow {
  const p99 = percentile(times, 0.99);
  return {
    what: '/health, p99 below a second',
    checked: `${times.length} probes`,
    violations: [
      ...(p99 > HEALTH_LIMIT_MS || times.length === 0 ? [`p99 ${p99} ms`] : []),
      ...(failed > 0 ? [`${failed} probes failed`] : []),
    ],
    note: `p50 ${medianOf(times)} ms, p99 ${p99} ms, longest ${percentile(times, 1)} ms`,
  };
}

function memoryRow({ processes }: ProofStack): OverloadRow {
  const peaks = processNames.map((name) => [name, Math.round(processes[name].peakMemory / 1024 / 1024)] as const);
  return {
    what: 'memory below 1 GB, no process ended',
    checked: `${peaks.length} processes`,
    violations: [
      ...peaks.filter(([, peak]) => peak * 1024 * 1024 > MEMORY_LIMIT).map(([name, peak]) => `${name} ${peak} MB`),
      ...processNames.flatMap((name) => processes[name].ownExits),
    ],
    note: peaks.map(([name, peak]) => `${name} ${peak} MB`).join(', '),
  };
}
