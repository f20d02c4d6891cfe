import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectDb } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { freePort } from '../dev/ports.ts';
import { startPostgres } from '../dev/postgres.ts';
import { newId } from '../platform/ids.ts';
import { createImport } from '../services/jobs/create.ts';
import { runSlice } from '../services/jobs/run.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import { makeProject } from '../test/support/connected-database.ts';
import { type Bench, measure, median } from './bench.ts';

const ROWS = Math.max(1_000, Math.round(100_000 * Number(process.env.EVERPOST_BENCH_SCALE ?? 1)));
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);

const rowsOf = (round: string): { email: string; plan: string; seats: number }[] =>
  Array.from({ length: ROWS }, (_, n) => ({
    email: `user.${n}@${round}.example.com`,
    plan: n % 3 ? 'free' : 'pro',
    seats: n % 50,
  }));

export const importBench: Bench = {
  name: 'import',
  about: `a CSV file of ${ROWS} rows through the import job, compared with a bare COPY of the same contacts into the same table`,
  async run(progress) {
    const postgres = await startPostgres({
      dataDir: join(runDirectory(), 'bench-import'),
      port: await freePort(),
      database: 'everpost',
      logFile: join(runDirectory(), 'bench-import.log'),
    });
    atEnd(() => postgres.stop());
    await migrate(postgres.url);
    const db = connectDb({ databaseUrl: postgres.url, poolSize: 4 });
    const rates: { ours: number[]; copy: number[] } = { ours: [], copy: [] };
    for (let round = 1; round <= ROUNDS; round++) {
      const project = await makeProject(db);
      const copied = rowsOf(`copy${round}`).map(
        ({ email, plan, seats }) =>
          `${newId()}\t${project.id}\t${email}\tt\t${JSON.stringify({ plan, seats }).replaceAll('\\', '\\\\')}`,
      );
      const file = join(runDirectory(), 'contacts.copy');
      writeFileSync(file, `${copied.join('\n')}\n`, { mode: 0o644 });
      let started = performance.now();
      await db.raw(`copy contacts (id, project_id, email, subscribed, data) from '${file}'`);
      rates.copy.push(perSecond(copied.length, started));

      const rows = rowsOf(`ours${round}`);
      const csv = `email,plan,seats\n${rows.map(({ email, plan, seats }) => `${email},${plan},${seats}`).join('\n')}\n`;
      started = performance.now();
      const jobId = await createImport(db, project.access, Buffer.from(csv));
      while (!(await runSlice(db, jobId, () => false)).ended);
      rates.ours.push(perSecond(rows.length, started));
      progress(`round ${round} of ${ROUNDS}`);
    }
    await db.destroy();
    return [measure(`import of ${ROWS} rows`, 'rows/s', median(rates.ours), median(rates.copy), '>= 0.5')];
  },
};

const perSecond = (count: number, started: number): number => (count / (performance.now() - started)) * 1000;
