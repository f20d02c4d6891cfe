import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectDb, type Db } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { aggregateCounters } from '../db/models/counters.ts';
import { freePort } from '../dev/ports.ts';
import { startPostgres } from '../dev/postgres.ts';
import { type Client, client } from '../test/support/api.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import { makeProject } from '../test/support/connected-database.ts';
import { startApi } from '../test/support/processes.ts';
import { insertWaiting } from '../test/support/waiting-executions.ts';
import { type Built, build } from '../test/support/workflow-building.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';
import { withoutIndexes } from './events-data.ts';

/** For a quick run: EVERPOST_BENCH_SCALE=0.01 */
const SCALE = Number(process.env.EVERPOST_BENCH_SCALE ?? 1);
const SMALL = 1_000;
const LARGE = Math.max(SMALL, Math.round(1_000_000 * SCALE));
const WAITING = Math.max(100, Math.round(10_000 * SCALE));
const BATCH = 100_000;
const ROUNDS = 40;
const PUBLICATIONS = 5;

interface Target {
  db: Db;
  projectId: string;
  server: Client;
  logFile: string;
}

export const workflowVersionsBench: Bench = {
  name: 'publish',
  about: `the numbers of a workflow with ${LARGE} finished executions compared with ${SMALL}; publishing with ${WAITING} waiting executions compared with a bare UPDATE`,
  async run(progress) {
    const logFile = join(runDirectory(), 'bench-publish.log');
    const postgres = await startPostgres({
      dataDir: join(runDirectory(), 'bench-publish'),
      port: await freePort(),
      database: 'everpost',
      settings: { shared_buffers: '512MB', max_wal_size: '4GB', log_line_prefix: '%a ' },
      logFile,
    });
    atEnd(() => postgres.stop());
    await migrate(postgres.url);
    const db = connectDb({ databaseUrl: postgres.url, poolSize: 2 });
    atEnd(() => db.destroy());
    const project = await makeProject(db);
    const api = await startApi({ DATABASE_URL: postgres.url, RATE_LIMIT_PER_MINUTE: '1000000000', LOG_LEVEL: 'warn' });
    const server = client(api.url, { authorization: `Bearer ${project.secretKey}` });
    const target = { db, projectId: project.id, server, logFile };
    return [...(await stats(target, progress)), ...(await publishing(target, progress))];
  },
};

const steps = {
  wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought', timeout: { amount: 3, unit: 'days' } } },
  ask: { type: 'CONDITION', config: { field: 'data.plan', operator: 'equals', value: 'pro' } },
  mark: { type: 'UPDATE_CONTACT', config: { data: { seen: true } } },
  out: { type: 'EXIT' },
};
const makeWorkflow = (server: Client): Promise<Built> =>
  build(
    { server },
    {
      steps,
      transitions: [
        ['wait', 'ask'],
        ['ask', 'mark', 'yes'],
        ['ask', 'out', 'no'],
        ['mark', 'out'],
      ],
    },
  );

async function stats({ db, projectId, server }: Target, progress: (line: string) => void): Promise<Measure[]> {
  const workflows: Built[] = [];
  for (const count of [SMALL, LARGE]) {
    const workflow = await makeWorkflow(server);
    await withoutIndexes(db, () => insertFinished(db, projectId, workflow, count, progress), [
      'executions',
      'execution_steps',
    ]);
    for (const sum of counts) await db.raw(sum, [workflow.id]);
    await aggregateCounters(db);
    const { started, exited } = (await server.get(`/workflows/${workflow.id}/stats`)).body.executions;
    if (started !== count || exited !== count) throw new Error(`${started} started and ${exited} exited, not ${count}`);
    workflows.push(workflow);
  }
  await db.raw('vacuum analyze');
  const range = `?startDate=${new Date(Date.now() - 30 * 86_400_000).toISOString()}`;
  const measures: Measure[] = [];
  for (const [what, query] of [
    ['stats', ''],
    ['stats of 30 days', range],
  ] as const) {
    const small: number[] = [];
    const large: number[] = [];
    for (let round = 0; round < ROUNDS; round++)
      for (const [n, times] of [small, large].entries())
        times.push(await timed(() => server.get(`/workflows/${workflows[n]?.id}/stats${query}`)));
    measures.push(
      measure(`${what}: ${LARGE} finished executions to ${SMALL}`, 'ms', median(large), median(small), '<= 2'),
    );
  }
  return measures;
}

async function timed(work: () => Promise<{ status: number }>): Promise<number> {
  const started = performance.now();
  const { status } = await work();
  if (status !== 200) throw new Error(`The answer was ${status}.`);
  return performance.now() - started;
}

/** Inserts executions of the last year that have ended, with their steps. Their contacts do not exist. */
async function insertFinished(
  db: Db,
  projectId: string,
  { id, steps: ids }: Built,
  count: number,
  progress: (line: string) => void,
): Promise<void> {
  for (let from = 1; from <= count; from += BATCH) {
    const to = Math.min(from + BATCH - 1, count);
    await db.raw(
      insertExecutions,
      [projectId, id, count, from, to, ids.wait, ids.ask, ids.mark, ids.out].map((value) => value ?? null),
    );
    progress(`${to} of ${count} finished executions`);
  }
}

// A third times out after three days; the others wait for a minute to three days.
const insertExecutions = `
  with given as (select ?::uuid as project_id, ?::uuid as workflow_id, ?::integer as executions),
  inserted as (
    insert into executions (id, project_id, workflow_id, version, contact_id, status, visit, after_position,
      once_per_contact, exit_reason, started_at, completed_at, created_at, updated_at)
    select uuidv7(at - now()), project_id, workflow_id, 1, gen_random_uuid(), 'EXITED', 4, 0, true, null, at,
      at + case when n % 3 = 0 then interval '3 days' else make_interval(secs => 60 * exp(random() * ln(4320))) end, at, at
    from given cross join generate_series(?::integer, ?::integer) n
      cross join lateral (select now() - interval '4 days'
        - make_interval(secs => (given.executions - n) * (360 * 86400.0 / given.executions)) as at) time
    returning id, project_id, started_at, completed_at
  )
  insert into execution_steps (id, project_id, execution_id, visit, step_id, type, name, status, branch, started_at,
    completed_at)
  select uuidv7(e.started_at - now()), e.project_id, e.id, visit, step_id, type, type, 'COMPLETED', branch,
    case when visit = 1 then e.started_at else e.completed_at end, e.completed_at
  from inserted e cross join lateral (values
    (1, ?::uuid, 'WAIT_FOR_EVENT', case when e.completed_at - e.started_at < interval '3 days' then 'event' else 'timeout' end),
    (2, ?::uuid, 'CONDITION', 'yes'), (3, ?::uuid, 'UPDATE_CONTACT', null), (4, ?::uuid, 'EXIT', null)
  ) as step (visit, step_id, type, branch)`;

// What the triggers, which are off, and housekeeping would have counted.
const counts = [
  `insert into counter_deltas (project_id, subject, period, part, counts)
   select project_id, 'workflow/' || workflow_id || '/days', day, version, jsonb_object_agg(name, count) from (
     select e.project_id, e.workflow_id, date_trunc('day', counted.at, 'UTC') as day, e.version::text, counted.name,
       count(*) as count
     from executions e, lateral (values ('started', e.started_at), (lower(e.status), e.completed_at)) as counted (name, at)
     where e.workflow_id = ? group by 1, 2, 3, 4, 5
   ) counted group by 1, 2, 3, 4`,
  `insert into counter_deltas (project_id, subject, period, part, counts)
   select project_id, 'workflow/' || workflow_id || '/days', day, part, jsonb_object_agg(name, count) from (
     select e.project_id, e.workflow_id, date_trunc('day', counted.at, 'UTC') as day, e.version || '/' || s.step_id as part,
       counted.name, count(*) as count
     from execution_steps s join executions e on e.id = s.execution_id,
       lateral (values ('entered', s.started_at), ('left', s.completed_at), ('passed', s.completed_at),
         ('time:' || time_bucket(s.completed_at - s.started_at), s.completed_at),
         ('branch:' || s.branch, s.completed_at)) as counted (name, at)
     where e.workflow_id = ? and counted.name is not null group by 1, 2, 3, 4, 5
   ) counted group by 1, 2, 3, 4`,
];

/** Publishes again and again; all executions move to each version. */
async function publishing(target: Target, progress: (line: string) => void): Promise<Measure[]> {
  const { db, projectId, server } = target;
  const { id, steps: ids } = await makeWorkflow(server);
  const { version } = (await server.get(`/workflows/${id}`)).body;
  await insertWaiting(db, { projectId, workflowId: id, version, stepId: ids.wait, count: WAITING });
  await db.raw('vacuum analyze executions');
  const prepare = async (): Promise<object> => {
    const { graph, revision } = (await server.get(`/workflows/${id}/draft`)).body;
    const saved = await server.put(`/workflows/${id}/draft`, { graph, expectedRevision: revision });
    return { expectedRevision: saved.body.revision, migrate: 'POSSIBLE' };
  };
  const publish = async (body: object): Promise<void> => {
    const published = await server.post(`/workflows/${id}/publish`, body);
    if (published.body.movedCount !== WAITING) throw new Error(`Published: ${JSON.stringify(published.body)}`);
  };
  const times: { ours: number[]; bare: number[] } = { ours: [], bare: [] };
  for (let round = 0; round < PUBLICATIONS; round++) {
    const body = await prepare();
    times.ours.push(await seconds(() => publish(body)));
    times.bare.push(
      await seconds(() =>
        db.raw('update executions set version = version, updated_at = now() where workflow_id = ?', [id]),
      ),
    );
    progress(`published ${round + 1} times`);
  }
  const body = await prepare();
  const statements = await statementsOf(target, () => publish(body));
  return [
    measure(
      `publish with ${WAITING} waiting executions, and a bare UPDATE`,
      's',
      median(times.ours),
      median(times.bare),
    ),
    measure('statements of that, and executions', 'statements', statements, WAITING, '<= 0.02'),
  ];
}

async function seconds(work: () => PromiseLike<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

/** Returns how many statements the API executes meanwhile. */
async function statementsOf({ db, logFile }: Target, work: () => Promise<unknown>): Promise<number> {
  const logStatements = async (which: string) => {
    await db.raw(`alter system set log_statement = '${which}'`);
    await db.raw('select pg_reload_conf()');
    // Applies to the connections of the API before their next statement.
    await db.raw('select pg_sleep(0.5)');
  };
  const before = readFileSync(logFile, 'utf8').length;
  await logStatements('all');
  await work();
  await logStatements('none');
  const lines = readFileSync(logFile, 'utf8').slice(before).split('\n');
  return lines.filter((line) => /^everpost-api LOG: +(statement|execute)/.test(line)).length;
}
