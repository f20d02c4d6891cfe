import type { Knex } from 'knex';

export interface PoolUsage {
  used: number;
  free: number;
  /** Queries that wait for a connection. */
  waiting: number;
}

interface TarnPool {
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
}

export function poolUsage(db: Knex): PoolUsage {
  const pool: TarnPool = db.client.pool;
  return { used: pool.numUsed(), free: pool.numFree(), waiting: pool.numPendingAcquires() };
}
