import type { Db } from '../../db/connect.ts';
import { ApiError } from '../../platform/errors.ts';
import { KeyedSlots } from '../../platform/slots.ts';

// Limits work whose cost depends on the caller's input, so that it takes neither all connections of the process nor all
// slots from other projects.

interface Kind {
  /** The most at once in this process. */
  total: number;
  perProject: number;
}

const kinds = {
  /** Queries over all contacts of a project with a condition of the caller. */
  condition: { total: 4, perProject: 2 },
  /** Other reads that slow down as a project grows: searched lists, exports, values, analytics. */
  read: { total: 8, perProject: 3 },
  /** Segment changes of a project are serial, and each waiting one would take a connection. */
  segmentChange: { total: 6, perProject: 1 },
  /** Simulated executions, which render mail. */
  simulation: { total: 4, perProject: 2 },
  /** Rendering for a preview. */
  render: { total: 4, perProject: 2 },
  /** Checks of a campaign, which may call its links. */
  checks: { total: 4, perProject: 1 },
  /** Storing a large file, which takes a connection for seconds. */
  upload: { total: 2, perProject: 1 },
} satisfies Record<string, Kind>;

export type HeavyWork = keyof typeof kinds;

const WAIT_MS = 10_000;
/** More would wait for seconds, and in vain: at once in this process, of one kind. */
const MOST_USERS = 400;
const MOST_USERS_PER_PROJECT = 100;

const slotsOf = new WeakMap<object, Map<HeavyWork, KeyedSlots>>();

/**
 * Waits for a slot of the project and of the kind, then runs `work`. Answers 429 after too long a wait, and at once while too
 * many wait. What others ask for never keeps a project from its own slots.
 */
export async function heavyWork<T>(
  db: Db,
  kind: HeavyWork,
  projectId: string,
  work: () => Promise<T>,
  waitMs = WAIT_MS,
): Promise<T> {
  const slots = slotsFor(db, kind);
  const own = slots.usersOf(projectId);
  if (own >= MOST_USERS_PER_PROJECT || (slots.users >= MOST_USERS && own >= kinds[kind].perProject)) throw tooMany();
  if (!(await slots.take(projectId, AbortSignal.timeout(waitMs)))) throw tooMany();
  try {
    return await work();
  } finally {
    slots.give(projectId);
  }
}

/** Callers that share a connection pool share the slots. */
function slotsFor(db: Db, kind: HeavyWork): KeyedSlots {
  const pool = db.client.config;
  const known = slotsOf.get(pool) ?? new Map<HeavyWork, KeyedSlots>();
  slotsOf.set(pool, known);
  const { total, perProject } = kinds[kind];
  const slots = known.get(kind) ?? new KeyedSlots(total, perProject);
  known.set(kind, slots);
  return slots;
}

const tooMany = () =>
  new ApiError(429, 'RATE_LIMIT_EXCEEDED', 'Too many requests of this kind are in progress.', {
    headers: { 'Retry-After': '1' },
    suggestion: 'Retry in a moment with fewer concurrent requests.',
  });
