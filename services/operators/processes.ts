import { hostname } from 'node:os';
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import type { Logger } from '../../platform/logger.ts';
import { logFailure } from '../../platform/outages.ts';
import { processTimings, type Timings } from '../../platform/timings.ts';
import { productVersion } from '../../platform/version.ts';

export type ProcessKind = 'api' | 'worker';

export interface SeenProcess {
  kind: ProcessKind;
  version: string;
  /** Of the workflow code; null for the API and for workers without versioning. */
  build: string | null;
  host: string;
  pid: number;
  startedAt: Date;
  lastSeenAt: Date;
}

// Also removes processes that ended without removing themselves.
const beat = statement(
  'process-beat',
  `with ended as (delete from processes where seen_at < now() - interval '1 day')
   insert into processes (id, kind, version, host, pid, build, busy_queues) values ($1, $2, $3, $4, $5, $6, $7::text[])
   on conflict (id) do update set seen_at = now(), busy_queues = excluded.busy_queues`,
);
const remove = statement('process-remove', 'delete from processes where id = $1');
const list = statement<SeenProcess>(
  'processes-seen',
  `select kind, version, build, host, pid, started_at, seen_at as last_seen_at
   from processes order by kind, started_at, id`,
);

export interface HeartbeatOptions {
  db: Db;
  kind: ProcessKind;
  /** Of the workflow code that a worker runs. */
  build?: string | undefined;
  /** The task queues that a worker does not poll because all its slots are busy. */
  busyQueues?: () => string[];
  log: Logger;
  timings: Timings;
}

/** Lets operators see this process and its version. Returns how to stop. */
export function startHeartbeat({ db, kind, build, busyQueues, log, timings }: HeartbeatOptions): () => Promise<void> {
  const id = newId();
  const write = () =>
    beat(db, [id, kind, productVersion, hostname(), process.pid, build ?? null, busyQueues?.() ?? []]).catch(
      (err: unknown) => {
        logFailure(log, { err }, 'heartbeat failed');
      },
    );
  let last: Promise<unknown> = write();
  const timer = setInterval(() => {
    last = write();
  }, timings.processes.heartbeat);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await last;
    await remove(db, [id]).catch((err: unknown) => logFailure(log, { err }, 'heartbeat cannot be removed'));
  };
}

/** Lists the processes of the last day, the oldest of each kind first. */
export const listProcesses = (db: Db): Promise<SeenProcess[]> => list(db, []);

const builds = statement<{ build: string | null }>(
  'builds-live',
  "select distinct build from processes where kind = 'worker' and seen_at > now() - make_interval(secs => $1)",
);

/** Returns the builds of the workers that run now; `unversioned` for those without one. */
export async function liveBuilds(db: Db, aliveMs = processTimings.processes.alive): Promise<Set<string>> {
  return new Set((await builds(db, [aliveMs / 1_000])).map(({ build }) => build ?? 'unversioned'));
}

const busy = statement<{ queue: string }>(
  'queues-busy',
  `select distinct unnest(busy_queues) as queue from processes
   where kind = 'worker' and seen_at > now() - make_interval(secs => $1)`,
);

/** Returns the task queues that a running worker does not poll because all its slots are busy. */
export const busyQueues = async (db: Db, aliveMs = processTimings.processes.alive): Promise<string[]> =>
  (await busy(db, [aliveMs / 1_000])).map(({ queue }) => queue);
