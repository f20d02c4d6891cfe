import type { Db } from '../../db/connect.ts';
import { ApiError } from '../../platform/errors.ts';
import { KeyedSlots } from '../../platform/keyed-slots.ts';

// Work whose cost is up to the caller may neither take all connections of the process from those who track and send,
// nor all the slots for such work from other projects.

interface Kind {
  /** In this process. */
  atOnce: number;
  perProject: number;
}

const kinds = {
  /** Queries over all contacts of a project, by a condition that the caller wrote. */
  condition: { atOnce: 4, perProject: 2 },
  /** Other reads that get slower with what a project has: lists that are searched, exports, values, figures. */
  read: { atOnce: 8, perProject: 3 },
  /** A change of the segments of a project waits for the one before, which would cost a connection each. */
  segmentChange: { atOnce: 6, perProject: 1 },
  /** Walks through a workflow that never runs, rendering its mails. */
  simulation: { atOnce: 4, perProject: 2 },
} satisfies Record<string, Kind>;

export type HeavyWork = keyof typeof kinds;

const WAIT_MS = 10_000;

const slotsOf = new WeakMap<object, Map<HeavyWork, KeyedSlots>>();

/** Does such work in turn: after others of its project, and then after others of its kind. 429 after too long a wait. */
export async function heavyWork<T>(
  db: Db,
  kind: HeavyWork,
  projectId: string,
  work: () => Promise<T>,
  waitMs = WAIT_MS,
): Promise<T> {
  const slots = slotsFor(db, kind);
  if (!(await slots.take(projectId, AbortSignal.timeout(waitMs)))) throw tooMany();
  try {
    return await work();
  } finally {
    slots.give(projectId);
  }
}

/** All that share a pool of connections share the slots. */
function slotsFor(db: Db, kind: HeavyWork): KeyedSlots {
  const pool = db.client.config;
  const known = slotsOf.get(pool) ?? new Map<HeavyWork, KeyedSlots>();
  slotsOf.set(pool, known);
  const { atOnce, perProject } = kinds[kind];
  const slots = known.get(kind) ?? new KeyedSlots(atOnce, perProject);
  known.set(kind, slots);
  return slots;
}

const tooMany = () =>
  new ApiError(429, 'RATE_LIMIT_EXCEEDED', 'Too many requests of this kind are being answered at this moment.', {
    headers: { 'Retry-After': '1' },
    suggestion: 'Ask again in a moment, a few at a time.',
  });
