// Metrics of Temporal's SDK as Prometheus text: schedule-to-start latencies, slots, sticky cache, failed tasks, pollers.
import { MetricsBuffer } from '@temporalio/worker';
import type { MetricsSource } from '../platform/probes.ts';

/** In seconds. The SDK's own buckets end at ten seconds, too early for a backlog. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const DRAIN_MS = 500;
const PREFIX = 'temporal_';

interface Series {
  labels: string;
  /** Of counters and gauges. */
  value: number;
  buckets: number[];
  sum: number;
  count: number;
}

interface Family {
  kind: string;
  help: string;
  series: Map<string, Series>;
}

/** Sums up what the SDK measures. Its updates are drained twice a second, so that its buffer never overflows. */
export class SdkMetrics {
  readonly buffer = new MetricsBuffer({ maxBufferSize: 100_000, useSecondsForDurations: true });
  private readonly families = new Map<string, Family>();
  private readonly timer = setInterval(() => this.drain(), DRAIN_MS).unref();

  stop(): void {
    clearInterval(this.timer);
  }

  text(): string {
    this.drain();
    return [...this.families].map(([name, family]) => textOf(name, family)).join('');
  }

  private drain(): void {
    for (const { metric, value, attributes } of this.buffer.retrieveUpdates()) {
      const name = metric.name.startsWith(PREFIX) ? metric.name : PREFIX + metric.name;
      const family = this.families.get(name) ?? {
        kind: metric.kind,
        help: metric.description ?? '',
        series: new Map(),
      };
      this.families.set(name, family);
      const labels = labelsOf(attributes);
      const series = family.series.get(labels) ?? { labels, value: 0, buckets: BUCKETS.map(() => 0), sum: 0, count: 0 };
      family.series.set(labels, series);
      add(series, family.kind, value);
    }
  }
}

function add(series: Series, kind: string, value: number): void {
  if (kind === 'gauge') series.value = value;
  else if (kind !== 'histogram') series.value += value;
  else {
    series.sum += value;
    series.count++;
    for (const [index, limit] of BUCKETS.entries())
      if (value <= limit) series.buckets[index] = (series.buckets[index] ?? 0) + 1;
  }
}

const labelsOf = (attributes: Record<string, unknown>): string =>
  Object.keys(attributes)
    .sort()
    .filter((name) => name !== 'service_name')
    .map((name) => `${name.replaceAll(/[^a-zA-Z0-9_]/g, '_')}="${escaped(String(attributes[name]))}"`)
    .join(',');

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

function textOf(name: string, { kind, help, series }: Family): string {
  const type = kind === 'histogram' ? 'histogram' : kind === 'counter' ? 'counter' : 'gauge';
  const lines = [`# HELP ${name} ${help.replaceAll('\n', ' ')}`, `# TYPE ${name} ${type}`];
  for (const one of series.values())
    lines.push(...(type === 'histogram' ? histogramLines(name, one) : [`${name}${inBraces(one.labels)} ${one.value}`]));
  return `${lines.join('\n')}\n`;
}

const histogramLines = (name: string, { labels, buckets, sum, count }: Series): string[] => [
  ...BUCKETS.map((limit, index) => `${name}_bucket${inBraces(labels, `le="${limit}"`)} ${buckets[index]}`),
  `${name}_bucket${inBraces(labels, 'le="+Inf"')} ${count}`,
  `${name}_sum${inBraces(labels)} ${sum}`,
  `${name}_count${inBraces(labels)} ${count}`,
];

function inBraces(...labels: string[]): string {
  const all = labels.filter(Boolean).join(',');
  return all ? `{${all}}` : '';
}

/** Appends the SDK's metrics to those of a registry. */
export const withSdkMetrics = (registry: MetricsSource, sdk: SdkMetrics): MetricsSource => ({
  contentType: registry.contentType,
  metrics: async () => (await registry.metrics()) + sdk.text(),
});
