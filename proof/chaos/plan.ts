// The faults of a run, from its seed.
import { type SeededRandom, seededRandom } from '../random.ts';

export const faultKinds = [
  'kill',
  'freeze',
  'postgres-restart',
  'temporal-restart',
  'cut',
  'stall',
  'disk-full',
  'clock-step',
] as const;

export type FaultKind = (typeof faultKinds)[number];
export type ProcessName = 'api1' | 'api2' | 'worker1' | 'worker2';
export type ProxyName = 'postgres' | 'temporal' | 'smtp' | 'webhooks' | 'api1' | 'api2';
export type FaultTarget = ProcessName | ProxyName;

export interface PlannedFault {
  /** From the start of the load. */
  atMs: number;
  kind: FaultKind;
  target: FaultTarget;
  forMs: number;
}

export interface PlanOptions {
  seed: number;
  lengthMs: number;
  kinds?: readonly FaultKind[];
  /** The pause between two faults, at least and at most. */
  pauseMs?: [least: number, most: number];
}

export const processNames: ProcessName[] = ['api1', 'api2', 'worker1', 'worker2'];
const proxyNames: ProxyName[] = ['postgres', 'temporal', 'smtp', 'webhooks', 'api1', 'api2'];

/** Each is full once before one is full again. */
const DISKS: FaultTarget[] = ['postgres', 'temporal', 'api1', 'worker1'];

/** Longer than every lease and every heartbeat timeout but the reconciler's, which is a minute. */
const FREEZE_MS = 20_000;
const LONG_FREEZE_MS = 65_000;
/** A run of this length has time for the long ones. */
const LONG_RUN_MS = 5 * 60_000;

/** One fault after the other: every kind once in a random order, then again in another. The last fifth has none. */
export function planFaults({
  seed,
  lengthMs,
  kinds = faultKinds,
  pauseMs = [2_000, 9_000],
}: PlanOptions): PlannedFault[] {
  const random = seededRandom(seed, 'faults');
  const faults: PlannedFault[] = [];
  let order: FaultKind[] = [];
  let disks: FaultTarget[] = [];
  let atMs = random.between(...pauseMs);
  for (;;) {
    if (order.length === 0) order = shuffled(kinds, random);
    const kind = order.pop();
    if (!kind) return faults;
    if (disks.length === 0) disks = shuffled(DISKS, random);
    const fault = { atMs, kind, ...aimed(kind, random, { lengthMs, disks }) };
    if (fault.atMs + fault.forMs > lengthMs * 0.8) return faults;
    faults.push(fault);
    atMs += fault.forMs + random.between(...pauseMs);
  }
}

function aimed(
  kind: FaultKind,
  random: SeededRandom,
  { lengthMs, disks }: { lengthMs: number; disks: FaultTarget[] },
): Pick<PlannedFault, 'target' | 'forMs'> {
  switch (kind) {
    case 'kill':
      return { target: random.pick(processNames), forMs: random.between(0, 1_000) };
    case 'freeze':
      return { target: random.pick(processNames), forMs: lengthMs >= LONG_RUN_MS ? LONG_FREEZE_MS : FREEZE_MS };
    case 'postgres-restart':
      return { target: 'postgres', forMs: random.between(0, 3_000) };
    case 'temporal-restart':
      return { target: 'temporal', forMs: random.between(0, 5_000) };
    case 'cut':
      return { target: random.pick(proxyNames), forMs: 0 };
    case 'stall':
      return { target: random.pick(proxyNames), forMs: random.between(2_000, 12_000) };
    case 'disk-full':
      return { target: disks.pop() ?? 'postgres', forMs: 4_000 };
    case 'clock-step':
      return { target: random.pick(processNames), forMs: random.between(3_000, 10_000) };
  }
}

function shuffled<T>(list: readonly T[], random: SeededRandom): T[] {
  const left = [...list];
  const result: T[] = [];
  while (left.length > 0) result.push(...left.splice(random.between(0, left.length - 1), 1));
  return result;
}
