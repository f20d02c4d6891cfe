import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Db } from '../db/connect.ts';
import { poolUsage } from '../platform/pool-usage.ts';
import { EVENT_LOOP_SAMPLE_MS } from '../platform/probes.ts';

export interface Metrics {
  registry: Registry;
  observe(method: string, route: string, status: number, seconds: number): void;
}

export function createApiMetrics(db: Db): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  const durations = new Histogram({
    name: 'everpost_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its handling.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  new Gauge({
    name: 'everpost_db_pool_connections',
    help: 'Used and free connections of the pool, and queries that wait for one.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(poolUsage(db))) this.set({ state }, count);
    },
  });
  return {
    registry,
    observe: (method, route, status, seconds) => durations.observe({ method, route, status }, seconds),
  };
}
