import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { root } from '../../dev/root.ts';
import { settingsFiles } from '../../dev/settings-files.ts';
import { type SettingName, settingsSchema } from '../../platform/settings.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const names = Object.keys(settingsSchema) as SettingName[];

/** Returns the schema's default as text, or an empty string when there is none or it depends on something else. */
function defaultOf(name: SettingName): string {
  const { flags } = settingsSchema[name].describe() as { flags?: { default?: unknown } };
  return flags?.default === undefined || Array.isArray(flags.default) ? '' : String(flags.default);
}

describe('the files that list the settings', () => {
  for (const [file, content] of Object.entries(settingsFiles()))
    it(`${file} is as "npm run settings" writes it`, () => {
      expect(read(file)).to.equal(content);
    });

  it('describe every setting, with its default', () => {
    const lines = [...read('.env.example').matchAll(/^# (.+)\n([A-Z0-9_]+)=(.*)$/gm)];
    const shown = Object.fromEntries(lines.map(([, , name, value]) => [name, value]));
    expect(shown).to.deep.equal(Object.fromEntries(names.map((name) => [name, defaultOf(name)])));
  });
});

interface Service {
  image?: string;
  volumes?: string[];
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  profiles?: string[];
  depends_on?: Record<string, { condition: string }>;
  stop_grace_period?: string;
  shm_size?: string;
  healthcheck?: { test?: string[]; disable?: boolean };
}

describe('docker-compose.yml', () => {
  const { services } = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, Service> };
  const service = (name: string): Service => services[name] ?? expect.fail(`no service ${name}`);
  const ours = ['api', 'worker', 'returned-mail', 'migrate'];

  const jobs = ['migrate', 'temporal-schema', 'temporal-namespace'];

  it('runs Postgres, Temporal with its web UI, Mailpit, the migration, a proxy, the API and workers', () => {
    const temporal = ['temporal', 'temporal-schema', 'temporal-namespace', 'temporal-ui'];
    expect(Object.keys(services)).to.have.members(['postgres', ...temporal, 'mailpit', 'proxy', ...ours]);
    expect(service('temporal').environment).to.include({ DB: 'postgres12', POSTGRES_SEEDS: 'postgres' });
    expect(service('temporal').image).to.match(/^temporalio\/server:/);
    expect(Number(fillIn(service('temporal').environment?.NUM_HISTORY_SHARDS ?? ''))).to.be.at.least(512);
  });

  it('passes every setting to API and worker, except those of the development stack', () => {
    const ofDevelopment = [
      'TEMPORAL_CLI_PATH',
      'TEMPORAL_TEST_SERVER_PATH',
      'EVERPOST_HOME',
      'WEB_APP_DIR',
      'DOCS_DIR',
    ];
    // Ports and addresses inside the containers are those of this file.
    const ofContainers = ['PORT', 'HOST', 'WORKER_PORT', 'METRICS_PORT', 'DATABASE_DIRECT_URL'];
    const expected = names.filter((name) => ![...ofDevelopment, ...ofContainers].includes(name));
    for (const name of ['api', 'worker', 'returned-mail'])
      expect(Object.keys(service(name).environment ?? {}), name).to.include.members(expected);
  });

  it('stops API and worker after the grace period that they know', () => {
    const grace = ['SHUTDOWN_GRACE_SECONDS', defaultOf('SHUTDOWN_GRACE_SECONDS')].join(':-');
    for (const name of ['api', 'worker']) expect(service(name).stop_grace_period).to.equal(`\${${grace}}s`);
  });

  it('gives API and worker the same uploads', () => {
    for (const name of ['api', 'worker']) expect(service(name).volumes).to.include('uploads:/app/.everpost/uploads');
  });

  it('creates the database with the locale of development, and connections for all processes', () => {
    const { environment, command, shm_size: sharedMemory } = service('postgres');
    const flags = environment?.POSTGRES_INITDB_ARGS?.split(' ') ?? [];
    expect(read('dev/postgres.ts')).to.satisfy((text: string) => flags.every((flag) => text.includes(`'${flag}'`)));
    const { environment: temporal = {} } = service('temporal');
    const ofTemporal = 4 * (Number(temporal.SQL_MAX_CONNS) + Number(temporal.SQL_VIS_MAX_CONNS));
    const pool = Number(defaultOf('DATABASE_POOL_SIZE'));
    // Two APIs with a listener each, two workers with a listener and six connections of the sender.
    const sum = ofTemporal + 2 * (pool + 1) + 2 * (pool + 1 + 6);
    const given = Number(/max_connections=(\d+)/.exec(command?.join(' ') ?? '')?.[1]);
    expect(given).to.be.at.least(sum + 10);
    expect(sharedMemory).to.equal('256mb');
  });

  it('publishes the ports of the API, the web UI and the mail page', () => {
    expect(service('proxy').ports).to.deep.equal(['3000:3000']);
    expect(service('api').ports, 'so that it can be scaled').to.equal(undefined);
    expect(service('temporal-ui').ports).to.deep.equal(['127.0.0.1:8080:8080']);
    expect(service('mailpit').ports).to.deep.equal(['127.0.0.1:8025:8025']);
  });

  it('publishes the port for returned mail, and leaves workers to be scaled', () => {
    const { ports, command, environment, profiles } = service('returned-mail');
    expect(command).to.deep.equal(['node', 'dist/worker/main.js', '--roles', 'relay']);
    expect(ports?.map(fillIn)).to.deep.equal([`25:${environment?.BOUNCE_SMTP_PORT}`]);
    expect(profiles, 'port 25 is claimed only on request').to.deep.equal(['returned-mail']);
    expect(service('worker').ports).to.equal(undefined);
  });

  it('passes on the address that a trusted proxy in front names, and trusts none by default', () => {
    const caddyfile = read('ops/compose/Caddyfile');
    const lines = caddyfile.split('\n').map((line) => line.trim());
    expect(lines).to.include.members(['trusted_proxies static {$TRUSTED_PROXIES}', 'trusted_proxies_strict']);
    // Koa takes the last address of the header (`maxIpsCount: 1`), so there must be one only.
    expect(lines).to.include('header_up X-Forwarded-For {client_ip}');
    expect(service('proxy').environment?.TRUSTED_PROXIES).to.match(/^\$\{TRUSTED_PROXIES:-127\.0\.0\.1\/32\}$/);
    expect(service('api').environment?.TRUST_PROXY).to.equal('true');
  });

  it('gives every service a health check, except those that end', () => {
    for (const name of Object.keys(services).filter((name) => !jobs.includes(name)))
      expect(service(name).healthcheck?.test, name).to.be.an('array').that.is.not.empty;
    for (const name of jobs) expect(service(name).healthcheck).to.deep.equal({ disable: true });
  });

  it('starts our processes after the migration', () => {
    for (const name of ['api', 'worker'])
      expect(service(name).depends_on?.migrate?.condition).to.equal('service_completed_successfully');
  });

  it('sets only valid values of known settings', () => {
    for (const name of ours) {
      const environment = service(name).environment ?? {};
      expect(names, name).to.include.members(Object.keys(environment));
      for (const [setting, value] of Object.entries(environment)) {
        // An empty variable counts as unset.
        if (fillIn(value) === '') continue;
        const { error } = settingsSchema[setting as SettingName].validate(fillIn(value));
        expect(error, `${name}: ${setting}`).to.equal(undefined);
      }
    }
  });

  it('pins every image by a full version', () => {
    for (const [name, { image, build }] of Object.entries(services)) {
      // Versions of Postgres have two numbers.
      const version = name === 'postgres' ? /:\d+\.\d+$/ : /:v?\d+\.\d+\.\d+(-tctl-[\d.]+-cli-[\d.]+)?$/;
      if (!build) expect(image, name).to.match(version);
    }
  });

  it('runs the application and Temporal with roles that are no superusers', () => {
    const { environment, volumes } = service('postgres');
    expect(environment?.POSTGRES_USER).to.equal('postgres');
    expect(volumes).to.include('./db/roles.sh:/docker-entrypoint-initdb.d/roles.sh:ro');
    const roles = [...read('db/roles.sh').matchAll(/^create role (\w+) login nosuperuser /gm)].map(([, role]) => role);
    expect(roles).to.deep.equal(['everpost', 'temporal']);
    for (const name of ours)
      expect(new URL(fillIn(service(name).environment?.DATABASE_URL ?? '')).username, name).to.equal('everpost');
    expect(fillIn(service('temporal').environment?.POSTGRES_USER ?? '')).to.equal('temporal');
  });

  it('contains no secret', () => {
    expect(read('docker-compose.yml')).not.to.match(/(PASSWORD|SECRET_KEY|_PWD|_SECRET): (?!\$\{\w+:(\?|-\}))\S/);
  });
});

/** Replaces `${NAME:-default}` by the default and `${NAME:?message}` by an arbitrary value. */
function fillIn(value: string): string {
  return value.replace(/\$\{\w+:-([^}]*)\}/g, '$1').replace(/\$\{\w+:\?[^}]*\}/g, 'given-by-the-operator');
}

describe('Dockerfile', () => {
  const text = read('Dockerfile');
  const instructions = [...text.replace(/\\\n/g, ' ').matchAll(/^([A-Z]+) +(.*)$/gm)].map(([, word, rest]) => ({
    word,
    rest,
  }));
  const of = (word: string) => instructions.filter((line) => line.word === word).map((line) => line.rest);

  it('sets only settings of the schema and no secret', () => {
    const set = of('ENV').map((line) => (line ?? '').split('=')[0]);
    expect(set).to.deep.equal(['NODE_ENV']);
    expect(of('ARG')).to.deep.equal([]);
  });

  it('pins its base image by a full version', () => {
    for (const image of of('FROM')) expect(image).to.match(/^node:\d+\.\d+\.\d+-/);
  });

  it('exposes the default ports of the API and the worker', () => {
    expect(of('EXPOSE')).to.deep.equal([`${defaultOf('PORT')} ${defaultOf('WORKER_PORT')}`]);
  });

  it('ships the compiled program without dev dependencies, as a non-root user, with a health check', () => {
    expect(of('FROM')).to.have.lengthOf(2);
    expect(of('RUN').join('\n')).to.include('--omit=dev');
    expect(of('USER')).to.deep.equal(['node']);
    expect(of('HEALTHCHECK')).to.have.lengthOf(1);
    expect(of('CMD').at(-1)).to.equal('["node", "dist/api/server.js"]');
  });
});
