// What a row of each large table takes on disk, indexes included, with few and with many of them.
import { join } from 'node:path';
import { connectDb, type Db } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { freePort } from '../dev/ports.ts';
import { startPostgres } from '../dev/postgres.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import { type Bench, measure } from './bench.ts';
import { fillForPages } from './pages-data.ts';

const SCALE = Number(process.env.EVERPOST_BENCH_SCALE ?? 1);
const SMALL = 10_000;
const LARGE = Math.max(2 * SMALL, Math.round(1_000_000 * SCALE));
const TABLES = ['contacts', 'events', 'emails', 'executions', 'execution_steps'] as const;

type Sizes = Record<(typeof TABLES)[number], { rows: number; bytes: number }>;

export const growthBench: Bench = {
  name: 'growth',
  about: `bytes per row with ${LARGE} contacts, ten times as many events and the rest in proportion, compared with ${SMALL}`,
  async run(progress) {
    const small = await fill(SMALL, progress);
    const large = await fill(LARGE, progress);
    return TABLES.map((table) => {
      const { rows } = large[table];
      return measure(`${table} (${rows} rows)`, 'bytes per row', perRow(large[table]), perRow(small[table]), '<= 1.2');
    });
  },
};

const perRow = ({ rows, bytes }: { rows: number; bytes: number }): number => bytes / Math.max(1, rows);

async function fill(contacts: number, progress: (line: string) => void): Promise<Sizes> {
  const postgres = await startPostgres({
    dataDir: join(runDirectory(), `growth-${contacts}`),
    port: await freePort(),
    database: 'everpost',
    logFile: join(runDirectory(), `growth-${contacts}.log`),
  });
  atEnd(() => postgres.stop());
  await migrate(postgres.url);
  const db = connectDb({ databaseUrl: postgres.url, poolSize: 2, name: 'bench' });
  await fillForPages(db, contacts, (line) => progress(`${contacts} contacts: ${line}`));
  const entries = await Promise.all(TABLES.map(async (table) => [table, await sizeOf(db, table)] as const));
  await db.destroy();
  await postgres.stop();
  return Object.fromEntries(entries) as Sizes;
}

/** With all partitions, indexes and values that are stored apart. */
async function sizeOf(db: Db, table: string): Promise<{ rows: number; bytes: number }> {
  const { rows: sizes } = await db.raw(
    `select sum(pg_total_relation_size(relid))::float8 as bytes
     from (select relid from pg_partition_tree(:table::regclass) union select :table::regclass) as part`,
    { table },
  );
  const { rows: counts } = await db.raw('select count(*)::integer as count from ??', [table]);
  return { rows: counts[0].count, bytes: sizes[0].bytes };
}
