// The Helm chart as Helm renders it. Nothing here talks to Kubernetes.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments, stringify } from 'yaml';
import { findHelm } from '../../dev/helm.ts';
import { toStderr } from '../../dev/report.ts';
import { root } from '../../dev/root.ts';
import { execute } from '../../dev/run.ts';
import { settingsSchema } from '../../platform/settings.ts';
import { productVersion } from '../../platform/version.ts';
import { runDirectory } from '../support/cleanup.ts';

const CHART = join(root, 'ops/helm/everpost');

interface Variable {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef: { name: string; key: string } };
}
interface Probe {
  httpGet: { path: string; port: string };
}
interface Container {
  name: string;
  image: string;
  command: string[];
  ports?: { name: string; containerPort: number }[];
  env: Variable[];
  envFrom: { secretRef: { name: string } }[];
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  resources: { requests?: object; limits?: { memory?: string } };
  securityContext: { allowPrivilegeEscalation?: boolean };
  volumeMounts?: { name: string; mountPath: string }[];
}
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  spec: {
    replicas?: number;
    selector?: { matchLabels?: Record<string, string> } & Record<string, unknown>;
    ports?: { targetPort: string }[];
    template?: {
      metadata: { labels: Record<string, string> };
      spec: {
        containers: Container[];
        volumes?: { name: string }[];
        terminationGracePeriodSeconds?: number;
        securityContext: { runAsNonRoot?: boolean };
      };
    };
    rules?: { host: string }[];
  };
}

const APIS: Record<string, string> = {
  Service: 'v1',
  Job: 'batch/v1',
  Deployment: 'apps/v1',
  PodDisruptionBudget: 'policy/v1',
  Ingress: 'networking.k8s.io/v1',
};

const required = { settings: { BASE_URL: 'https://mail.example.com' }, temporal: { address: 'temporal.example:7233' } };
const everything = {
  image: { repository: 'registry.example.com/mail', tag: '9.9.9' },
  database: { secretName: 'postgres-app', secretKey: 'uri' },
  temporal: { ...required.temporal, tlsSecretName: 'temporal-client' },
  settings: { ...required.settings, S3_BUCKET: 'uploads', S3_REGION: 'eu-central-1', SIGNUP_ENABLED: false },
  shutdownGraceSeconds: 90,
  uploads: { existingClaim: 'uploads' },
  worker: { replicas: 3, roles: 'mail,relay' },
  ingress: {
    enabled: true,
    className: 'nginx',
    host: 'mail.example.com',
    tlsSecretName: 'tls',
    annotations: { a: 'b' },
  },
  imagePullSecrets: [{ name: 'registry' }],
  podAnnotations: { team: 'mail' },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'mail', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
};
const small = { ...required, serve: { enabled: true } };

describe('ops/helm/everpost', () => {
  let helm: string;
  let folder: string;

  before(async function () {
    // Where Helm has to be built first.
    this.timeout(1_800_000);
    helm = await findHelm(toStderr);
    folder = mkdtempSync(join(runDirectory(), 'helm-'));
  });

  const fileOf = (values: object): string => {
    const file = join(folder, 'values.yaml');
    writeFileSync(file, stringify(values));
    return file;
  };
  const run = async (...args: string[]): Promise<string> =>
    // No settings and no cache of this user.
    (await execute(helm, args, { env: { HOME: folder, PATH: process.env.PATH } })).stdout;
  async function render(values: object): Promise<Manifest[]> {
    const documents = parseAllDocuments(
      await run('template', 'mail', CHART, '--kube-version', '1.30.0', '--values', fileOf(values)),
    );
    for (const { errors } of documents) expect(errors).to.deep.equal([]);
    return documents.map((document) => document.toJS() as Manifest);
  }
  const containersOf = (manifests: Manifest[]) => manifests.flatMap(({ spec }) => spec.template?.spec.containers ?? []);
  const ofKind = (manifests: Manifest[], kind: string) => manifests.filter((manifest) => manifest.kind === kind);

  for (const [name, values] of Object.entries({ required, everything, small }))
    describe(`with the values "${name}"`, () => {
      let manifests: Manifest[];

      before(async () => {
        manifests = await render(values);
      });

      it('passes helm lint without a warning', async () => {
        expect(await run('lint', '--strict', CHART, '--values', fileOf(values))).to.include('0 chart(s) failed');
      });

      it('has kinds of stable APIs', () => {
        for (const { apiVersion, kind } of manifests) expect(apiVersion, kind).to.equal(APIS[kind]);
      });

      it('sets known settings to valid values, each once', () => {
        for (const { env, name } of containersOf(manifests)) {
          const names = env.map((variable) => variable.name);
          expect(new Set(names).size, name).to.equal(names.length);
          for (const { name: setting, value } of env.filter((variable) => variable.value !== undefined)) {
            const schema = (settingsSchema as Record<string, { validate(value: unknown): { error?: unknown } }>)[
              setting
            ];
            expect(schema?.validate(value).error, `${name}: ${setting}`).to.equal(undefined);
            expect(value, setting).to.be.a('string');
          }
          expect(names).to.include.members(['NODE_ENV', 'BASE_URL', 'TEMPORAL_ADDRESS']);
        }
      });

      it('migrates before every installation and upgrade, by a Job that is created anew', () => {
        const [job, ...others] = ofKind(manifests, 'Job');
        expect(others).to.deep.equal([]);
        expect(job?.metadata.annotations).to.deep.include({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
        expect(job?.metadata.annotations?.['helm.sh/hook-delete-policy']).to.include('before-hook-creation');
        const [container] = job?.spec.template?.spec.containers ?? [];
        expect(container?.command).to.deep.equal(['node', 'dist/db/migrate.js']);
        // Hooks run first: nothing that this release creates exists then.
        expect(manifests.map(({ kind }) => kind))
          .to.not.include('ConfigMap')
          .and.to.not.include('Secret');
      });

      it('gives every container resources and no privileges, and every server its probes and grace period', () => {
        for (const { spec, kind } of [...ofKind(manifests, 'Deployment'), ...ofKind(manifests, 'Job')]) {
          const pod = spec.template?.spec;
          expect(pod?.securityContext.runAsNonRoot).to.equal(true);
          for (const container of pod?.containers ?? []) {
            expect(container.resources.requests).to.have.keys('cpu', 'memory');
            expect(container.resources.limits?.memory).to.be.a('string');
            expect(container.securityContext.allowPrivilegeEscalation).to.equal(false);
            const volumes = pod?.volumes?.map((volume) => volume.name) ?? [];
            expect(container.volumeMounts?.map((mount) => mount.name) ?? []).to.deep.equal(volumes);
            if (kind === 'Job') continue;
            const ports = container.ports?.map((port) => port.name);
            for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe])
              expect(ports).to.include(probe?.httpGet.port);
            expect(container.readinessProbe?.httpGet.path).to.equal('/ready');
            expect(container.livenessProbe?.httpGet.path).to.equal('/health');
            const grace = container.env.find((variable) => variable.name === 'SHUTDOWN_GRACE_SECONDS')?.value;
            expect(grace).to.equal(String(pod?.terminationGracePeriodSeconds));
          }
        }
      });

      it('selects the pods of its Deployments', () => {
        const labels = ofKind(manifests, 'Deployment').map(({ spec }) => spec.template?.metadata.labels ?? {});
        const selectors = [
          ...ofKind(manifests, 'Deployment').map(({ spec }) => spec.selector?.matchLabels),
          ...ofKind(manifests, 'PodDisruptionBudget').map(({ spec }) => spec.selector?.matchLabels),
          ...ofKind(manifests, 'Service').map(({ spec }) => spec.selector as Record<string, string>),
        ];
        for (const selector of selectors)
          expect(
            labels.filter((one) => Object.entries(selector ?? {}).every(([name, value]) => one[name] === value)),
          ).to.have.lengthOf(1);
      });
    });

  it('runs the version of the product, as two APIs and two workers by default', async () => {
    const manifests = await render(required);
    expect(new Set(containersOf(manifests).map(({ image }) => image))).to.deep.equal(
      new Set([`everpost:${productVersion}`]),
    );
    const replicas = ofKind(manifests, 'Deployment').map(({ metadata, spec }) => [metadata.name, spec.replicas]);
    expect(replicas).to.deep.equal([
      ['mail-everpost-api', 2],
      ['mail-everpost-worker', 2],
    ]);
    expect(ofKind(manifests, 'Ingress')).to.deep.equal([]);
  });

  it('takes the image, the roles, the database of another secret, certificates and uploads from its values', async () => {
    const manifests = await render(everything);
    for (const container of containersOf(manifests)) {
      expect(container.image).to.equal('registry.example.com/mail:9.9.9');
      expect(container.envFrom).to.deep.equal([{ secretRef: { name: 'everpost' } }]);
      expect(container.env.find(({ name }) => name === 'DATABASE_URL')?.valueFrom?.secretKeyRef).to.deep.equal({
        name: 'postgres-app',
        key: 'uri',
      });
      expect(container.env).to.deep.include({ name: 'TEMPORAL_TLS_CA', value: '/etc/everpost/temporal/ca.crt' });
      expect(container.env).to.deep.include({ name: 'SIGNUP_ENABLED', value: 'false' });
      expect(container.volumeMounts?.map(({ mountPath }) => mountPath)).to.deep.equal([
        '/etc/everpost/temporal',
        '/app/.everpost/uploads',
      ]);
    }
    const worker = containersOf(manifests).find(({ name }) => name === 'worker');
    expect(worker?.command).to.deep.equal(['node', 'dist/worker/main.js', '--roles', 'mail,relay']);
    expect(ofKind(manifests, 'Ingress')[0]?.spec.rules?.map(({ host }) => host)).to.deep.equal(['mail.example.com']);
  });

  it('runs one process of both parts where it is asked to', async () => {
    const manifests = await render(small);
    const [deployment, ...others] = ofKind(manifests, 'Deployment');
    expect(others).to.deep.equal([]);
    expect(deployment?.spec.replicas).to.equal(1);
    const [container] = deployment?.spec.template?.spec.containers ?? [];
    expect(container?.command).to.deep.equal(['node', 'dist/cli/main.js', 'serve']);
    expect(container?.ports?.map(({ containerPort }) => containerPort)).to.deep.equal([3000, 3002, 3001]);
  });

  it('says which required values are missing', async () => {
    const failure = (values: object) => render(values).then(() => '', String);
    expect(await failure({ temporal: required.temporal })).to.include('settings.BASE_URL is required');
    expect(await failure({ settings: required.settings })).to.include('temporal.address is required');
  });
});
