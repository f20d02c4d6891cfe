import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { root } from '../../dev/root.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');

const sourcesIn = (folder: string): string =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(join(folder, name)))
    .join('\n');

/** Metrics of the SDK for workers. test/e2e/stuck-workflows.ci.ts finds them on /metrics, except cache misses, which are rare. */
const sdkMetrics = [
  'temporal_activity_schedule_to_start_latency',
  'temporal_workflow_task_schedule_to_start_latency',
  'temporal_workflow_task_execution_failed',
  'temporal_worker_task_slots_available',
  'temporal_sticky_cache_size',
  'temporal_sticky_cache_miss',
  'temporal_num_pollers',
];

const ours = new Set(
  [...`${sourcesIn('api')}${sourcesIn('worker')}`.matchAll(/name: '(everpost_[a-z_]+)'/g)].map(
    ([, name]) => name ?? '',
  ),
);
// The cookie in the OpenAPI document.
ours.delete('everpost_session');
const known = new Set([...ours, ...sdkMetrics]);

const metricsOf = (expression: string): string[] =>
  [...expression.matchAll(/\b(?:everpost|temporal)_[a-z_]+/g)].map(([name]) =>
    name.replace(/_(bucket|sum|count)$/, ''),
  );

describe('ops/', () => {
  it('has alert rules whose metrics exist', () => {
    const { groups } = parse(read('ops/prometheus/alerts.yml')) as {
      groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.length).to.be.greaterThan(5);
    for (const { alert, expr, annotations } of rules) {
      expect(metricsOf(expr), alert).to.have.length.greaterThan(0);
      expect([...known], alert).to.include.members(metricsOf(expr));
      expect(annotations, alert).to.have.keys('summary', 'action');
    }
    expect(rules.map(({ expr }) => expr).join()).to.include('everpost_stuck_workflows');
  });

  it('has a Grafana dashboard whose metrics exist and that shows all of ours', () => {
    const { panels } = JSON.parse(read('ops/grafana/everpost.json')) as {
      panels: { id: number; title: string; targets: { expr: string }[] }[];
    };
    expect(new Set(panels.map(({ id }) => id)).size).to.equal(panels.length);
    const shown = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsOf(expr)));
    expect([...known]).to.include.members(shown);
    const details = ['everpost_mail_quarantined_total', 'everpost_relay_mails_total', 'everpost_slowed_domain_rate'];
    expect(shown).to.include.members([...ours].filter((name) => !details.includes(name)));
    expect(shown).to.include.members(sdkMetrics);
  });
});
