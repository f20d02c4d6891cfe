import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectDb, type Db, wake } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { freePort } from '../dev/ports.ts';
import { startPostgres } from '../dev/postgres.ts';
import { readSettings } from '../platform/settings.ts';
import { addSigningKey, makeDomainKey } from '../services/domains/keys.ts';
import { addManagedDomain } from '../services/domains/managed.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import { makeProject } from '../test/support/connected-database.ts';
import { type Env, type ServiceProcess, startWorker } from '../test/support/processes.ts';
import { ownNamespace } from '../test/support/temporal-work.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';
import { receiptTemplate } from './mail-text.ts';
import { type PoolOrder, runPool } from './pool.ts';
import { type Sink, startSink, until } from './sink.ts';

const MAILS = Math.round(20_000 * Number(process.env.EVERPOST_BENCH_SCALE ?? 1));
const ROUNDS = 3;
const CONNECTIONS = 10;
const DOMAIN = 'bench.example';
/** One recipient domain never gets all connections, so there are several. */
const RECIPIENT_DOMAIN = "'@d' || n % 20 || '.example.com'";

const sides = ['ours', 'bare', 'prebuilt'] as const;
type Side = (typeof sides)[number];

interface Round {
  /** Mails a second. */
  rate: number;
  /** Processor milliseconds of the sender, per mail. */
  cpu: number;
}

export const deliveryBench: Bench = {
  name: 'delivery',
  about: `${MAILS} transactional mails from the ledger into a sink, compared with a nodemailer pool that builds them and with one that has them prebuilt`,
  async run(progress) {
    const { databaseUrl, db, projectId } = await database();
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
      const rounds: Record<Side, Round[]> = { ours: [], bare: [], prebuilt: [] };
      await ours(db, projectId, sink, worker, MAILS);
      // Statistics as on a table that has been in use.
      await db.raw('vacuum analyze');
      for (let round = 1; round <= ROUNDS; round++) {
        rounds.bare.push(await bare(sink, { isPrebuilt: false, signed }));
        if (!signed) rounds.prebuilt.push(await bare(sink, { isPrebuilt: true, signed }));
        rounds.ours.push(await ours(db, projectId, sink, worker, MAILS));
        const rates = sides.map((side) => `${side} ${Math.round(rounds[side].at(-1)?.rate ?? 0)}`).join(', ');
        progress(`${signed ? 'signed' : 'unsigned'}, round ${round} of ${ROUNDS}, mails/s: ${rates}`);
      }
      await worker.stop();
      const of = (side: Side, key: keyof Round) => median(rounds[side].map((round) => round[key]));
      const what = signed ? 'delivery, signed' : 'delivery';
      measures.push(
        measure(what, 'mails/s', of('ours', 'rate'), of('bare', 'rate'), '>= 0.8'),
        measure(`${what}, time of the sender`, 'ms', of('ours', 'cpu'), of('bare', 'cpu')),
      );
      if (!signed)
        measures.push(
          measure(
            'delivery, against prebuilt messages',
            'mails/s',
            of('ours', 'rate'),
            of('prebuilt', 'rate'),
            '>= 0.6',
          ),
        );
    }
    await db.destroy();
    return measures;
  },
};

async function database(): Promise<{ databaseUrl: string; db: Db; projectId: string }> {
  const postgres = await startPostgres({
    dataDir: join(runDirectory(), 'bench-delivery'),
    port: await freePort(),
    database: 'everpost',
    logFile: join(runDirectory(), 'bench-delivery.log'),
  });
  atEnd(() => postgres.stop());
  await migrate(postgres.url);
  const db = connectDb({ databaseUrl: postgres.url, poolSize: 2 });
  const { id } = await makeProject(db);
  const domain = await addManagedDomain(db, id, DOMAIN);
  await addSigningKey(db, domain.id, await makeDomainKey(readSettings({}, []).secretKeys));
  return { databaseUrl: postgres.url, db, projectId: id };
}

/** Inserts the mails in one statement and waits until the sink has received them all. */
async function ours(db: Db, projectId: string, sink: Sink, worker: ServiceProcess, mails: number): Promise<Round> {
  const before = await sink.count();
  const cpu = cpuSeconds(worker.pid);
  await db.raw(
    `with mail as materialized (
       select uuidv7() as id, uuidv7() as contact_id, n from generate_series(1, ?::integer) n
     ),
     contact as (
       insert into contacts (id, project_id, email, subscribed, data)
       select contact_id, ?, contact_id || ${RECIPIENT_DOMAIN}, true, jsonb_build_object('name', 'Ann ' || n) from mail
     ),
     body as (insert into email_bodies (id, project_id, html) select id, ?, ? from mail),
     content as (
       insert into email_contents (email_id, project_id, body_id, to_email, from_email, from_name, subject)
       select id, ?, id, contact_id || ${RECIPIENT_DOMAIN}, 'shop@${DOMAIN}', 'Shop', 'Your receipt ' || n from mail
     )
     insert into emails (id, project_id, contact_id) select id, ?, contact_id from mail`,
    [mails, projectId, projectId, receiptTemplate, projectId, projectId],
  );
  const started = performance.timeOrigin + performance.now();
  wake(db, 'mail');
  const lastAt = await sink.reached(before + mails);
  // Persisting results and publishing events belongs to the work as well.
  await until(async () => (await unfinished(db)) === 0);
  return { rate: mails / ((lastAt - started) / 1000), cpu: ((cpuSeconds(worker.pid) - cpu) / mails) * 1000 };
}

async function unfinished(db: Db): Promise<number> {
  const { rows } = await db.raw(
    `select (select count(*) from outgoing_mails) + (select count(*) from unpublished_email_results) as count`,
  );
  return Number(rows[0].count);
}

function bare(sink: Sink, { isPrebuilt, signed }: { isPrebuilt: boolean; signed: boolean }): Promise<Round> {
  const order = { isPrebuilt, connections: CONNECTIONS, mails: MAILS, content: 'receipt' } as const;
  return runPool(sink, { ...order, ...(signed && { dkim: dkim() }) });
}

function dkim(): PoolOrder['dkim'] {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { domainName: DOMAIN, keySelector: 'ep1', privateKey };
}

/** Returns the processor time of a process and its threads; ticks are hundredths of a second. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
