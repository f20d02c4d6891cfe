import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { root } from '../../dev/root.ts';
import { settingsSchema } from '../../platform/settings.ts';

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

interface Container {
  name: string;
  image: string;
  env?: { name: string; value: string }[];
  readinessProbe?: { httpGet: { path: string } };
  livenessProbe?: { httpGet: { path: string } };
  resources?: { requests?: object; limits?: { memory?: string } };
  securityContext?: { allowPrivilegeEscalation?: boolean };
}
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name?: string; generateName?: string; namespace?: string; labels?: object };
  data?: Record<string, string>;
  spec?: {
    replicas?: number;
    ttlSecondsAfterFinished?: number;
    selector?: { matchLabels?: object } & object;
    template?: {
      metadata?: { labels?: object };
      spec: {
        containers: Container[];
        terminationGracePeriodSeconds?: number;
        securityContext?: { runAsNonRoot?: boolean };
      };
    };
  };
}

describe('ops/kubernetes', () => {
  const documentsOf = (file: string) => parseAllDocuments(read(`ops/kubernetes/${file}`));
  const manifestsOf = (file: string) => documentsOf(file).map((document) => document.toJS() as Manifest);
  const documents = readdirSync(join(root, 'ops/kubernetes')).flatMap(documentsOf);
  const manifests = documents.map((document) => document.toJS() as Manifest);
  const of = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);
  const containers = manifests.flatMap(({ spec }) => spec?.template?.spec.containers ?? []);
  const settings = of('ConfigMap')[0]?.data ?? {};

  it('is valid YAML with kinds of stable APIs, in one namespace', () => {
    const apis: Record<string, string> = {
      Namespace: 'v1',
      ConfigMap: 'v1',
      Service: 'v1',
      Job: 'batch/v1',
      Deployment: 'apps/v1',
      PodDisruptionBudget: 'policy/v1',
    };
    for (const document of documents) expect(document.errors).to.deep.equal([]);
    for (const { apiVersion, kind, metadata } of manifests) {
      expect(apiVersion, kind).to.equal(apis[kind]);
      if (kind !== 'Namespace') expect(metadata.namespace).to.equal('everpost');
    }
  });

  it('applies no Job, which cannot be changed, and creates a new one for each migration', () => {
    expect(manifestsOf('everpost.yaml').map(({ kind }) => kind)).not.to.include('Job');
    const [job, ...others] = manifestsOf('migrate.yaml');
    expect(others).to.deep.equal([]);
    expect(job?.metadata).to.deep.equal({ generateName: 'everpost-migrate-', namespace: 'everpost' });
    expect(job?.spec?.ttlSecondsAfterFinished, 'finished ones are removed').to.be.a('number');
    expect(read('docs/operations.md')).to.include('kubectl create -f ops/kubernetes/migrate.yaml');
  });

  it('runs one version', () => {
    expect(new Set(containers.map(({ image }) => image)).size).to.equal(1);
  });

  it('sets known settings to valid values', () => {
    const given = {
      ...settings,
      ...Object.fromEntries(containers.flatMap(({ env = [] }) => env.map((e) => [e.name, e.value]))),
    };
    for (const [name, value] of Object.entries(given)) {
      const schema = (settingsSchema as Record<string, { validate(value: unknown): { error?: unknown } } | undefined>)[
        name
      ];
      expect(schema, name).not.to.equal(undefined);
      expect(schema?.validate(value).error, name).to.equal(undefined);
    }
  });

  it('gives processes the grace period that they know', () => {
    for (const { spec } of of('Deployment'))
      expect(String(spec?.template?.spec.terminationGracePeriodSeconds)).to.equal(settings.SHUTDOWN_GRACE_SECONDS);
  });

  it('gives every container a pinned image, resources and no privileges, and every server its probes', () => {
    for (const container of containers) {
      expect(container.image, container.name).to.match(/:\d+\.\d+\.\d+$/);
      expect(container.resources?.requests, container.name).to.have.keys('cpu', 'memory');
      expect(container.resources?.limits?.memory, container.name).to.be.a('string');
      expect(container.securityContext?.allowPrivilegeEscalation, container.name).to.equal(false);
      if (container.name === 'migrate') continue;
      expect(container.readinessProbe?.httpGet.path).to.equal('/ready');
      expect(container.livenessProbe?.httpGet.path).to.equal('/health');
    }
    for (const { spec } of [...of('Deployment'), ...of('Job')])
      expect(spec?.template?.spec.securityContext?.runAsNonRoot).to.equal(true);
  });

  it('selects the pods of its Deployments, at least two of each', () => {
    for (const { spec } of of('Deployment')) {
      expect(spec?.selector?.matchLabels).to.deep.equal(spec?.template?.metadata?.labels);
      expect(spec?.replicas).to.be.at.least(2);
    }
    const labels = of('Deployment').map(({ spec }) => spec?.template?.metadata?.labels);
    for (const { spec } of of('PodDisruptionBudget')) expect(labels).to.deep.include(spec?.selector?.matchLabels);
    expect(labels).to.deep.include(of('Service')[0]?.spec?.selector as object);
  });
});
