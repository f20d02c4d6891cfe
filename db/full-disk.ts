import type { EventEmitter } from 'node:events';
import type { Client } from 'pg';
import { isDiskFull } from '../platform/database-errors.ts';
import { processTimings } from '../platform/timings.ts';
import type { Db } from './db.ts';

// A transaction shares its pool's config object, so this finds the time from either.
const reportedAt = new WeakMap<object, number>();

/** Notices every error of a connection of the pool, whichever caller sent the statement. */
export function watchDisk(db: Db, client: Client): void {
  const { config } = db.client;
  // pg's types leave it out.
  const { connection } = client as unknown as { connection: EventEmitter };
  connection.on('errorMessage', (error) => {
    if (isDiskFull(error)) reportedAt.set(config, performance.now());
  });
  connection.on('commandComplete', () => {
    const at = reportedAt.get(config);
    if (at !== undefined && performance.now() - at > processTimings.database.diskFull) reportedAt.delete(config);
  });
}

/**
 * Returns whether Postgres has reported a full disk, and no statement has succeeded since, except for a while: statements
 * that only read succeed on a full disk. Without space for its write-ahead log, Postgres ends after its report.
 */
export const hasFullDisk = (db: Db): boolean => reportedAt.has(db.client.config);
