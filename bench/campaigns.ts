import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectDb, type Db } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { freePort } from '../dev/ports.ts';
import { startPostgres } from '../dev/postgres.ts';
import { readSettings } from '../platform/settings.ts';
import { createCampaign } from '../services/campaigns/save.ts';
import { sendCampaign } from '../services/campaigns/send.ts';
import { addSigningKey, makeDomainKey } from '../services/domains/keys.ts';
import { addManagedDomain } from '../services/domains/managed.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import { makeProject, type TestProject } from '../test/support/connected-database.ts';
import { type Env, type ServiceProcess, startWorker } from '../test/support/processes.ts';
import { ownNamespace } from '../test/support/temporal-work.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';
import { freezing } from './campaigns-freeze.ts';
import { newsletterTemplate } from './newsletter.ts';
import { type PoolOrder, runPool } from './pool.ts';
import { startSink } from './sink.ts';

const SCALE = Number(process.env.EVERPOST_BENCH_SCALE ?? 1);
export const RECIPIENTS = Math.round(20_000 * SCALE);
const MANY = 10;
const ROUNDS = 5;
/** Of each side. */
export const CONNECTIONS = 20;
export const DOMAIN = 'bench.example';

interface Round {
  /** Mails a second, from the request to the last mail. */
  rate: number;
  /** Processor seconds of the sender and its children, per thousand mails. */
  cpu: number;
}

type Sink = Awaited<ReturnType<typeof startSink>>;

interface Setup {
  db: Db;
  sink: Sink;
  worker: ServiceProcess;
  /** Projects with few and with many contacts. */
  few: TestProject;
  many: TestProject;
}

export const campaignsBench: Bench = {
  name: 'campaigns',
  about: `a campaign to ${RECIPIENTS} and to ${RECIPIENTS * MANY} into a sink, compared with a nodemailer pool with prebuilt messages`,
  async run(progress) {
    const { databaseUrl, db, few, many } = await database(progress);
    const sink = await startSink();
    const temporal = await ownNamespace();
    atEnd(() => temporal.close());
    const env: Env = {
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SMTP_URL: sink.url,
      SMTP_MAX_CONNECTIONS: String(CONNECTIONS),
      LOG_LEVEL: 'warn',
    };
    const measures: Measure[] = [];
    for (const signed of [false, true]) {
      const worker = await startWorker({ ...env, DKIM_SIGNING: String(signed) });
      const setup: Setup = { db, sink, worker, few, many };
      measures.push(...(await rows(setup, signed, progress)));
      await worker.stop();
    }
    measures.push(...(await freezing(db, RECIPIENTS * 50, progress)));
    await db.destroy();
    return measures;
  },
};

async function rows(setup: Setup, signed: boolean, progress: (line: string) => void): Promise<Measure[]> {
  const rounds: { ours: Round[]; bare: Round[] } = { ours: [], bare: [] };
  await ours(setup, setup.few, RECIPIENTS);
  for (let round = 1; round <= ROUNDS; round++) {
    rounds.bare.push(await bare(setup.sink, signed));
    rounds.ours.push(await ours(setup, setup.few, RECIPIENTS));
    const mine = JSON.stringify(rounds.ours.at(-1));
    const theirs = JSON.stringify(rounds.bare.at(-1));
    progress(`${signed ? 'signed' : 'unsigned'}, round ${round} of ${ROUNDS}: ${mine} against ${theirs}`);
  }
  const of = (side: 'ours' | 'bare', key: keyof Round) => median(rounds[side].map((round) => round[key]));
  const what = signed ? 'campaign, signed' : 'campaign';
  const measures = [
    measure(what, 'mails/s', of('ours', 'rate'), of('bare', 'rate'), '>= 1.0'),
    measure(`${what}, time of the sender`, 's per 1,000', of('ours', 'cpu'), of('bare', 'cpu')),
  ];
  if (signed) return measures;
  const large = await ours(setup, setup.many, RECIPIENTS * MANY);
  progress(`to ${RECIPIENTS * MANY}: ${JSON.stringify(large)}`);
  const many = 'time per mail at ten times as many';
  return [...measures, measure(many, 'ms', 1_000 / large.rate, 1_000 / of('ours', 'rate'), '<= 1.2')];
}

async function database(progress: (line: string) => void) {
  const postgres = await startPostgres({
    dataDir: join(runDirectory(), 'bench-campaigns'),
    port: await freePort(),
    database: 'everpost',
    logFile: join(runDirectory(), 'bench-campaigns.log'),
  });
  atEnd(() => postgres.stop());
  await migrate(postgres.url);
  const db = connectDb({ databaseUrl: postgres.url, poolSize: 4 });
  const few = await audience(db, RECIPIENTS, DOMAIN);
  const many = await audience(db, RECIPIENTS * MANY, `many.${DOMAIN}`);
  await db.raw('vacuum analyze contacts');
  progress('the contacts are there');
  return { databaseUrl: postgres.url, db, few, many };
}

/** Creates a project with contacts, and a domain with a key. */
export async function audience(db: Db, count: number, name: string): Promise<TestProject> {
  const project = await makeProject(db);
  const domain = await addManagedDomain(db, project.id, name);
  await addSigningKey(db, domain.id, await makeDomainKey(readSettings({}, []).secretKeys));
  await db.raw(
    `insert into contacts (id, project_id, email, subscribed, data)
     select uuidv7(), ?, 'user' || n || '@d' || n % 20 || '.example.com', true, jsonb_build_object('name', 'Ann ' || n)
     -- One recipient domain never gets all connections, so there are several.
     from generate_series(1, ?::integer) n`,
    [project.id, count],
  );
  return { ...project, senderDomain: name };
}

/** Sends a campaign and waits until the sink has received it and all results are published. */
export async function ours(
  { db, sink, worker }: Pick<Setup, 'db' | 'sink' | 'worker'>,
  project: TestProject,
  recipients: number,
): Promise<Round> {
  const { campaign } = await createCampaign(db, project.access, {
    name: 'Spring',
    subject: 'News',
    body: newsletterTemplate,
    audienceType: 'ALL',
    type: 'HEADLESS',
    from: { email: `news@${project.senderDomain}`, name: 'News' },
  });
  const before = await sink.count();
  const cpu = cpuSeconds(worker.pid);
  const started = performance.timeOrigin + performance.now();
  await sendCampaign(db, project.access, campaign.id, undefined);
  const lastAt = await sink.reached(before + recipients);
  await until(async () => (await unfinished(db)) === 0);
  return {
    rate: recipients / ((lastAt - started) / 1_000),
    cpu: ((cpuSeconds(worker.pid) - cpu) / recipients) * 1_000,
  };
}

async function unfinished(db: Db): Promise<number> {
  const { rows } = await db.raw(
    `select (select count(*) from campaigns where status = 'SENDING') + (select count(*) from outgoing_mails)
       + (select count(*) from unpublished_email_results) as count`,
  );
  return Number(rows[0].count);
}

async function bare(sink: Sink, signed: boolean): Promise<Round> {
  const order = { isPrebuilt: true, connections: CONNECTIONS, mails: RECIPIENTS, content: 'newsletter' } as const;
  return runPool(sink, { ...order, ...(signed && key()) });
}

function key(): Pick<PoolOrder, 'dkim'> {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { dkim: { domainName: DOMAIN, keySelector: 'ep1', privateKey } };
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(50);
}

/** Returns the processor time of a process, its threads and children; ticks are hundredths of a second. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  const own = (Number(fields[11]) + Number(fields[12])) / 100;
  return children.reduce((sum, child) => sum + cpuSeconds(child), own);
}
