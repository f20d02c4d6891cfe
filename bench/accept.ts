import { join } from 'node:path';
import autocannon from 'autocannon';
import { connectDb } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { startChild, waitUntilReady } from '../dev/child.ts';
import { freePort } from '../dev/ports.ts';
import { startPostgres } from '../dev/postgres.ts';
import { root } from '../dev/root.ts';
import { addManagedDomain } from '../services/domains/managed.ts';
import { createProject } from '../services/projects/create.ts';
import { createUser } from '../services/users/create.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import { startApi } from '../test/support/processes.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';

const CONNECTIONS = 20;
export const ROUND_SECONDS = 5;
const ROUNDS = 5;
const CONTACTS = 10_000;

export interface Target {
  url: string;
  key: string;
}

export interface Round {
  rate: number;
  p50: number;
  p99: number;
}

const bodies = {
  '/v1/track': (n: number) => ({
    email: `user${n}@example.com`,
    event: 'purchase',
    data: { plan: 'pro', seats: n % 50 },
  }),
  '/v1/send': (n: number) => ({
    to: `user${n}@example.com`,
    from: 'hello@demo.localhost',
    subject: 'Your receipt',
    body: `<p>${'Thank you for your order. '.repeat(40)}</p>`,
  }),
};

export type Path = keyof typeof bodies;
export type Targets = Record<Path, Target>;

export const acceptBench: Bench = {
  name: 'accept',
  about:
    'what the API accepts per second, compared with a bare Koa + pg server with the same inserts in the same database',
  async run(progress) {
    const { ours, bare } = await servers();
    const measures: Measure[] = [];
    for (const path of ['/v1/track', '/v1/send'] as const) {
      const rounds: { ours: Round[]; bare: Round[] } = { ours: [], bare: [] };
      await load(ours[path], path, 2);
      await load(bare[path], path, 2);
      // Alternating, so that a machine that slows down slows both.
      for (let round = 1; round <= ROUNDS; round++) {
        rounds.bare.push(await load(bare[path], path, ROUND_SECONDS));
        rounds.ours.push(await load(ours[path], path, ROUND_SECONDS));
        progress(`${path} round ${round} of ${ROUNDS}`);
      }
      const of = (side: 'ours' | 'bare', key: keyof Round) => median(rounds[side].map((round) => round[key]));
      measures.push(
        measure(`${path} accepted`, 'requests/s', of('ours', 'rate'), of('bare', 'rate'), '>= 0.7'),
        measure(`${path} p50`, 'ms', of('ours', 'p50'), of('bare', 'p50')),
        measure(`${path} p99`, 'ms', of('ours', 'p99'), of('bare', 'p99')),
      );
    }
    return measures;
  },
};

/** Starts both servers on one database, with its usual durability. */
async function servers(): Promise<{ ours: Targets; bare: Targets }> {
  const postgres = await startPostgres({
    dataDir: join(runDirectory(), 'bench-postgres'),
    port: await freePort(),
    database: 'everpost',
    settings: { max_connections: '100' },
    logFile: join(runDirectory(), 'bench-postgres.log'),
  });
  atEnd(() => postgres.stop());
  const { projectId, targets } = await acceptingApi(postgres.url);
  const bare = { url: await startBare(postgres.url, projectId), key: 'none' };
  return { ours: targets, bare: { '/v1/track': bare, '/v1/send': bare } };
}

/** Migrates a database and starts an API on it with one project. */
export async function acceptingApi(databaseUrl: string): Promise<{ projectId: string; targets: Targets }> {
  await migrate(databaseUrl);
  const db = connectDb({ databaseUrl, poolSize: 2 });
  const user = await createUser(db, { email: 'bench@example.com', password: 'benchmark' });
  const { project, publicKey, secretKey } = await createProject(db, { name: 'Bench', ownerId: user.id });
  await addManagedDomain(db, project.id, 'demo.localhost');
  await db.destroy();
  // The limit is high, not off: its cost is part of ours.
  const env = { DATABASE_URL: databaseUrl, RATE_LIMIT_PER_MINUTE: '1000000000', LOG_LEVEL: 'warn' };
  const { url } = await startApi(env);
  return {
    projectId: project.id,
    targets: { '/v1/track': { url, key: publicKey }, '/v1/send': { url, key: secretKey } },
  };
}

export async function startBare(databaseUrl: string, projectId: string): Promise<string> {
  const port = await freePort();
  const child = await startChild({
    name: 'bare server',
    command: process.execPath,
    args: ['--import', 'tsx', join(root, 'bench/bare-server.ts')],
    env: { ...process.env, DATABASE_URL: databaseUrl, PROJECT_ID: projectId, PORT: String(port) },
    logFile: join(runDirectory(), 'bare-server.log'),
  });
  atEnd(async () => void (await child.kill()));
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(child, 30_000, async () => (await fetch(url).catch(() => undefined)) !== undefined);
  return url;
}

export async function load({ url, key }: Target, path: Path, seconds: number): Promise<Round> {
  let next = 0;
  const result = await autocannon({
    url: url + path,
    connections: CONNECTIONS,
    duration: seconds,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    requests: [
      {
        setupRequest: (request) => ({ ...request, body: JSON.stringify(bodies[path](next++ % CONTACTS)) }),
      },
    ],
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}${path}: ${result.non2xx} answers were not 2xx, ${result.errors} failed`);
  return { rate: result.requests.average, p50: result.latency.p50, p99: result.latency.p99 };
}
