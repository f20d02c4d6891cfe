import { join } from 'node:path';
import { expect } from 'chai';
import type { Knex } from 'knex';
import pg from 'pg';
import { connectDb, type Db } from '../../db/connect.ts';
import { changedFunctions, functionsAfterTables, functionsBeforeTables } from '../../db/functions.ts';
import { migrate, pendingMigrations } from '../../db/migrate.ts';
import { migrations } from '../../db/migrations/index.ts';
import { aggregateCounters } from '../../db/models/counters.ts';
import { startChild } from '../../dev/child.ts';
import { root } from '../../dev/root.ts';
import { newId } from '../../platform/ids.ts';
import { atEnd, runDirectory } from '../support/cleanup.ts';
import { makeProject } from '../support/connected-database.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';
import { eventually } from '../support/waiting.ts';

describe('migrations', () => {
  let database: TestDatabase;
  let db: Db;

  beforeEach(async () => {
    database = await createEmptyDatabase();
    db = connectDb({ databaseUrl: database.url, poolSize: 2 });
  });
  afterEach(async () => {
    await db.destroy();
    await database.drop();
  });

  it('are pending in an empty database, and none after they ran', async () => {
    const before = await pendingMigrations(db);
    const applied = await migrate(database.url);
    expect(before).to.deep.equal(applied);
    expect(await pendingMigrations(db)).to.deep.equal([]);
  });

  it('run once when four processes start them concurrently', async () => {
    const applied = await Promise.all([1, 2, 3, 4].map(() => migrate(database.url)));
    expect(applied.filter((names) => names.length > 0)).to.have.lengthOf(1);
  });

  it('run after a process died and left the lock row of knex locked', async () => {
    await migrate(database.url);
    await db('knex_migrations_lock').update({ isLocked: 1 });
    await migrate(database.url);
    expect(await db('knex_migrations_lock').select('isLocked')).to.deep.equal([{ isLocked: 0 }]);
  });

  it('refuse a database with an unknown migration and leave it unchanged', async () => {
    await migrate(database.url);
    await db('knex_migrations').insert({ name: '000-older', batch: 1, migrationTime: new Date() });
    await db('databaseFunctions').where({ name: 'workflow_id' }).update({ checksum: 'older' });
    const error = await migrate(database.url).catch((reason: Error) => reason);
    expect(error).to.be.instanceOf(Error);
    expect((error as Error).message).to.equal(
      'This database has migrations of another version of Everpost (000-older): start with an empty one, in development by npm start -- --fresh.',
    );
    expect(await pendingMigrations(db)).to.deep.equal(['function workflow_id']);
  });

  /** Makes the tables as they were before a migration. */
  const migrateBefore = async (name: string): Promise<void> => {
    for (const { sql } of functionsBeforeTables) await db.raw(sql);
    const migrationSource = {
      getMigrations: async () => Object.keys(migrations).filter((other) => other < name),
      getMigrationName: (other: string) => other,
      getMigration: async (other: string) => migrations[other] as Knex.Migration,
    };
    await db.migrate.latest({ migrationSource });
  };

  it('carry the counts of campaigns over, and show them to the version before', async () => {
    await migrateBefore('014-counters');
    const { id: projectId } = await makeProject(db);
    const id = newId();
    const texts = { name: 'n', subject: 's', body: 'b', fromEmail: 'a@b.example', audienceType: 'ALL' };
    await db('campaigns').insert({ id, projectId, ...texts });
    const zeros = { failed: 0, skipped: 0, cancelled: 0, unknown: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0 };
    const results = { ...zeros, hardBounced: 0, complained: 0, unsubscribed: 0 };
    await db('campaignCounts').insert({ campaignId: id, pending: 5, sent: 2, ...results, humanOpened: 1 });
    await db('campaignCountDeltas').insert({ campaignId: id, pending: -1, bounced: 1, hardBounced: 1 });
    await db('humanCampaignDeltas').insert({ campaignId: id, humanOpened: 1, humanClicked: 0 });
    await migrate(database.url);
    const counts = { pending: 4, sent: 2, bounced: 1, hardBounced: 1, humanOpened: 2 };
    const subject = `campaign/${id}`;
    expect(await db('counters').select('projectId', 'subject', 'part', 'counts')).to.deep.equal([
      { projectId, subject, part: '', counts },
    ]);
    // What the version before does: add changes, aggregate them, and read the sum.
    await db('campaignCountDeltas').insert({ campaignId: id, pending: -1, hardBounced: 1 });
    await db('humanCampaignDeltas').insert({ campaignId: id, humanOpened: 1, humanClicked: 0 });
    for (const table of ['campaign_count_deltas', 'human_campaign_deltas']) {
      const { rows } = await db.raw(
        `delete from ${table} where ctid = any (array(select d.ctid from ${table} d where true limit 9 for update)) returning *`,
      );
      expect(rows).to.deep.equal([]);
    }
    const { rows } = await db.raw(
      `select sum(pending)::integer as pending, sum(hard_bounced)::integer as hard_bounced,
         (select sum(human_opened)::integer from human_campaign_deltas where campaign_id = any (array[id])) as opened
       from (select campaign_id, pending, hard_bounced from campaign_counts
         union all select campaign_id, pending, hard_bounced from campaign_count_deltas) parts, (select ?::uuid as id) wanted
       where campaign_id = any (array[id]) group by id`,
      [id],
    );
    expect(rows).to.deep.equal([{ pending: 3, hard_bounced: 2, opened: 3 }]);
    await aggregateCounters(db);
    expect((await db('counters').first('counts')).counts).to.deep.equal({
      ...counts,
      pending: 3,
      hardBounced: 2,
      humanOpened: 3,
    });
  });

  it('carry the numbers of workflows over, and show them to the version before', async () => {
    await migrateBefore('017-workflow-counters');
    const { id: projectId } = await makeProject(db);
    const workflowId = newId();
    await db('workflows').insert({ id: workflowId, projectId, name: 'n', triggerConfig: {}, version: 1 });
    const nil = '00000000-0000-0000-0000-000000000000';
    const stepId = newId();
    const ofWorkflow = { projectId, workflowId, version: 1, stepId: nil, day: '2026-03-01' };
    await db('workflowCounts').insert([
      { ...ofWorkflow, name: 'started', count: 2 },
      { ...ofWorkflow, stepId, name: 'entered', count: 2 },
    ]);
    const deltas = [
      { ...ofWorkflow, names: ['started'], delta: 1 },
      { ...ofWorkflow, stepId, names: ['left', 'passed'], delta: 1 },
    ];
    await db('workflowCountDeltas').insert([...deltas, { ...deltas[0], workflowId: newId() }]);
    await migrate(database.url);
    const total = `workflow/${workflowId}`;
    const counters = async (subject: string) =>
      (await db('counters').where({ projectId, subject }).orderBy('part')).map(({ period, part, counts }) => ({
        at: period,
        [part]: counts,
      }));
    const [at, ever] = [new Date('2026-03-01T00:00:00Z'), Number.NEGATIVE_INFINITY];
    const ofStep = `1/${stepId}`;
    const first = [{ 1: { started: 3 } }, { [ofStep]: { entered: 2, left: 1, passed: 1 } }];
    expect(await counters(`${total}/days`)).to.deep.equal(first.map((one) => ({ at, ...one })));
    expect(await counters(total)).to.deep.equal(first.map((one) => ({ at: ever, ...one })));
    // What the version before does: add changes, aggregate them, and read the sum.
    await db('workflowCountDeltas').insert(deltas);
    const { rows: aggregated } = await db.raw(
      `delete from workflow_count_deltas where ctid = any (array(
         select d.ctid from workflow_count_deltas d where true limit 9 for update)) returning *`,
    );
    expect(aggregated).to.deep.equal([]);
    const { rows } = await db.raw(
      `select step_id, name, sum(count)::integer as count from (
         select version, step_id, day, name, count from workflow_counts where project_id = :projectId and workflow_id = :workflowId
         union all
         select version, step_id, day, unnest(names), delta from workflow_count_deltas
         where project_id = :projectId and workflow_id = :workflowId
       ) counted where day >= '2026-03-01' and day < '2026-03-02' group by 1, 2 order by 1, 2`,
      { projectId, workflowId },
    );
    expect(rows).to.deep.equal([
      { step_id: nil, name: 'started', count: 4 },
      { step_id: stepId, name: 'entered', count: 2 },
      { step_id: stepId, name: 'left', count: 2 },
      { step_id: stepId, name: 'passed', count: 2 },
    ]);
    await aggregateCounters(db);
    const second = [{ 1: { started: 4 } }, { [ofStep]: { entered: 2, left: 2, passed: 2 } }];
    expect(await counters(`${total}/days`)).to.deep.equal(second.map((one) => ({ at, ...one })));
    expect(await counters(total)).to.deep.equal(second.map((one) => ({ at: ever, ...one })));
  });

  it('count executions that were deleted before the feed subtracted them', async () => {
    await migrateBefore('008-removals');
    const projectId = newId();
    const hour = new Date('2026-01-01T10:00:00Z');
    const mails = { sent: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0, complained: 0 };
    await db('activityHours').insert({ projectId, hour, ...mails, workflowsStarted: 3, workflowsCompleted: 1 });
    await db('activityDeltas').insert({ projectId, kind: 'completed', at: new Date('2026-01-01T10:59:00Z'), delta: 1 });
    await migrate(database.url);
    expect(await db('removedExecutionHours').select()).to.deep.equal([
      { projectId, hour, started: '3', completed: '2' },
    ]);
  });

  it('count the emails that people opened or clicked before', async () => {
    await migrateBefore('024-people-opened');
    const { id: projectId } = await makeProject(db);
    const campaignId = newId();
    const templateId = newId();
    const texts = { name: 'n', subject: 's', body: 'b', fromEmail: 'a@b.example', audienceType: 'ALL' };
    await db('campaigns').insert({ id: campaignId, projectId, templateId, ...texts });
    const hour = new Date('2026-03-01T10:00:00Z');
    const day = new Date('2026-03-01T00:00:00Z');
    const zeros = { sent: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0, complained: 0, failed: 0 };
    await db('templateDays').insert({ projectId, day, templateId, ...zeros });
    for (const domain of ['a.example', 'other']) {
      await db('domainDays').insert({ projectId, day, domain, ...zeros });
      await db('campaignDomains').insert({ campaignId, domain, ...zeros });
    }
    const mail = (toEmail: string, times: object) => ({
      id: newId(),
      projectId,
      contactId: newId(),
      toEmail,
      campaignId,
      sourceType: 'CAMPAIGN',
      status: 'SENT',
      ...times,
    });
    await db('emails').insert([
      mail('one@a.example', { humanOpenedAt: new Date('2026-03-01T11:00:00Z'), humanClickedAt: hour }),
      mail('two@a.example', { humanClickedAt: hour, humanOpenedAt: null }),
      mail('three@b.example', { humanOpenedAt: hour, humanClickedAt: null }),
      mail('four@a.example', { humanOpenedAt: null, humanClickedAt: null }),
    ]);
    await migrate(database.url);
    expect(await db('counterDeltas').where({ subject: 'activity/hours' }).select('period', 'counts')).to.deep.equal([
      { period: hour, counts: { peopleOpened: 3 } },
    ]);
    expect(await db('templateDays').select('peopleOpened')).to.deep.equal([{ peopleOpened: '3' }]);
    const byDomain = [
      { domain: 'a.example', peopleOpened: '2' },
      { domain: 'other', peopleOpened: '1' },
    ];
    for (const table of ['domainDays', 'campaignDomains'])
      expect(await db(table).select('domain', 'peopleOpened').orderBy('domain')).to.deep.equal(byDomain);
  });

  it('carry the counts of activity over, and show them to the version before', async () => {
    await migrateBefore('018-activity-counters');
    const projectId = newId();
    const hour = new Date('2026-03-01T10:00:00Z');
    const later = new Date('2026-03-01T11:00:00Z');
    const zeros = { delivered: 0, opened: 0, clicked: 0, bounced: 0, complained: 0 };
    await db('activityHours').insert({
      projectId,
      hour,
      sent: 5,
      ...zeros,
      workflowsStarted: 3,
      workflowsCompleted: 1,
    });
    await db('activityDeltas').insert([
      { projectId, kind: 'sent', at: new Date('2026-03-01T10:30:00Z'), delta: 1 },
      { projectId, kind: 'refused', at: later, delta: 2 },
    ]);
    await db('humanActivityDeltas').insert({ projectId, kind: 'humanOpened', at: later, delta: 1 });
    await db('removedExecutionHours').insert({ projectId, hour, started: 1, completed: 0 });
    await migrate(database.url);
    const counters = async () =>
      Object.fromEntries(
        (await db('counters').where({ projectId })).map(({ subject, period, counts }) => [
          `${subject} ${period.toISOString()}`,
          counts,
        ]),
      );
    const first = { sent: 6, started: 3, completed: 1, startedRemoved: 1 };
    expect(await counters()).to.deep.equal({
      'activity/days 2026-03-01T00:00:00.000Z': { ...first, refused: 2, humanOpened: 1 },
      'activity/hours 2026-03-01T10:00:00.000Z': first,
      'activity/hours 2026-03-01T11:00:00.000Z': { refused: 2, humanOpened: 1 },
    });
    // What the version before does: add changes, aggregate them, and read the sum.
    await db.raw("insert into activity_deltas values (?, 'sent', '2026-03-01T10:59:00Z', 1)", [projectId]);
    await db('humanActivityDeltas').insert({ projectId, kind: 'humanOpened', at: later, delta: 1 });
    await db('counterDeltas').insert({ projectId, subject: 'activity/hours', period: later, counts: { opened: 4 } });
    await db.raw(
      `insert into removed_execution_hours as h (project_id, hour, started, completed) values (?, ?, 1, 1)
       on conflict (project_id, hour) do update set
         started = h.started + excluded.started, completed = h.completed + excluded.completed`,
      [projectId, hour],
    );
    const read = async () =>
      (
        await db.raw(
          `select sum(sent)::integer as sent, sum(opened)::integer as opened, sum(human)::integer as human from (
             select sent, opened, human_opened as human from activity_hours where project_id = :projectId
             union all
             select case when kind = 'sent' then delta end, case when kind = 'opened' then delta end, null
             from activity_deltas where project_id = :projectId
             union all
             select null, null, delta from human_activity_deltas where project_id = :projectId
           ) parts`,
          { projectId },
        )
      ).rows[0];
    expect(await read()).to.deep.equal({ sent: 7, opened: 4, human: 2 });
    for (const table of ['activity_deltas', 'human_activity_deltas'])
      expect(
        (
          await db.raw(
            `delete from only ${table} where ctid = any (array(select ctid from only ${table} limit 9)) returning project_id`,
          )
        ).rows,
      ).to.deep.equal([]);
    await aggregateCounters(db);
    expect(await read()).to.deep.equal({ sent: 7, opened: 4, human: 2 });
    const second = { sent: 7, started: 3, completed: 1, startedRemoved: 2, completedRemoved: 1 };
    expect(await counters()).to.deep.equal({
      'activity/days 2026-03-01T00:00:00.000Z': { ...second, refused: 2, humanOpened: 2, opened: 4 },
      'activity/hours 2026-03-01T10:00:00.000Z': second,
      'activity/hours 2026-03-01T11:00:00.000Z': { refused: 2, humanOpened: 2, opened: 4 },
    });
    // It erases the hours of a project, and this version the counters.
    const other = newId();
    await db('counters').insert({ projectId: other, subject: 'activity/hours', period: hour, counts: { sent: 1 } });
    await db('activityHours').where({ projectId }).delete();
    expect(await counters()).to.deep.equal({});
    expect(await db('activityHours').select('projectId')).to.deep.equal([{ projectId: other }]);
    await db('counters').where({ projectId: other }).delete();
    expect(await db('activityHours')).to.deep.equal([]);
  });

  it('copy positions and times of steps into the newest graph of a workflow, and drop the rows of steps', async () => {
    await migrate(database.url);
    await db('knex_migrations').whereIn('name', ['013-stored-graphs', '015-drop-graph-rows']).delete();
    await db.raw(
      'create table workflow_steps (id uuid, workflow_id uuid, position jsonb, created_at timestamptz, updated_at timestamptz)',
    );
    await db.raw('create table workflow_transitions (id uuid)');
    const { id: projectId } = await makeProject(db);
    const workflowId = newId();
    const stepId = newId();
    const name = 'Wait';
    const step = { id: stepId, type: 'DELAY', name, config: {}, templateId: null };
    await db('workflows').insert({ id: workflowId, projectId, name, triggerConfig: {}, version: 2 });
    for (const version of [1, 2])
      await db('workflowVersions').insert({ workflowId, version, graph: { steps: [step], transitions: [] } });
    const times = { createdAt: new Date('2026-01-01T10:00:00Z'), updatedAt: new Date('2026-01-02T10:00:00Z') };
    await db('workflowSteps').insert({ id: stepId, workflowId, position: { x: 3, y: 4 }, ...times });
    await migrate(database.url);
    const [older, newest] = await db('workflowVersions').orderBy('version').pluck('graph');
    expect(older.steps).to.deep.equal([{ ...step, position: { x: 0, y: 0 } }]);
    expect(newest.steps[0]).to.deep.include({ ...step, position: { x: 3, y: 4 } });
    expect(new Date(newest.steps[0].createdAt)).to.deep.equal(times.createdAt);
    expect(new Date(newest.steps[0].updatedAt)).to.deep.equal(times.updatedAt);
    expect(await db.schema.hasTable('workflow_steps')).to.equal(false);
  });

  describe('of a later version in the database', () => {
    const addMigration = (name: string) => db('knex_migrations').insert({ name, batch: 2, migrationTime: new Date() });

    beforeEach(() => migrate(database.url));

    it('leave nothing pending, whatever the functions are', async () => {
      await db('databaseFunctions').where({ name: 'workflow_id' }).update({ checksum: 'newer' });
      await db('databaseFunctions').where({ name: 'write_contact' }).delete();
      expect(await pendingMigrations(db)).to.deep.equal(['function workflow_id', 'function write_contact']);
      await addMigration('999-later');
      expect(await pendingMigrations(db)).to.deep.equal([]);
    });

    it('are left unchanged by migrate', async () => {
      await db('databaseFunctions').where({ name: 'workflow_id' }).update({ checksum: 'newer' });
      await db('databaseFunctions').insert({ name: 'later_function', checksum: 'newer' });
      await addMigration('999-later');
      const functions = () => db('databaseFunctions').orderBy('name').select('name', 'checksum');
      const before = await functions();
      expect(await migrate(database.url)).to.deep.equal([]);
      expect(await functions()).to.deep.equal(before);
    });

    it('do not hide a missing migration of this version', async () => {
      await addMigration('999-later');
      await db('knex_migrations').where({ name: '001-baseline' }).delete();
      expect(await pendingMigrations(db)).to.include('001-baseline');
      const error = await migrate(database.url).catch((reason: Error) => reason);
      expect((error as Error).message).to.contain('migrations of another version of Everpost (999-later)');
    });
  });

  describe('killed in the middle', () => {
    let blocker: pg.Client;

    beforeEach(async () => {
      blocker = new pg.Client({ connectionString: database.url });
      await blocker.connect();
    });
    afterEach(() => blocker.end());

    /** Makes migrate wait for an open transaction that creates something of the same name, and kills it there. */
    const killWhileBlocked = async (conflicting: string): Promise<void> => {
      await blocker.query('begin');
      await blocker.query(conflicting);
      const child = await startChild({
        name: 'migrate',
        command: process.execPath,
        args: ['--import', 'tsx', join(root, 'db/migrate.ts')],
        cwd: root,
        env: { ...process.env, DATABASE_URL: database.url },
        logFile: join(runDirectory(), 'migrate-killed.log'),
      });
      atEnd(async () => void (await child.kill()));
      await eventually(
        async () => {
          const { rows } = await db.raw(
            "select 1 from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'",
          );
          if (child.hasExited()) throw new Error(`migrate ended:\n${child.lastLines()}`);
          return rows.length > 0;
        },
        { what: 'migrate waiting for the lock' },
      );
      expect(await child.kill()).to.deep.equal({ code: null, signal: 'SIGKILL' });
      await blocker.query('rollback');
    };

    it('between two tables of the baseline are completed by the next run', async () => {
      await killWhileBlocked('create table workflows ()');
      expect(await migrate(database.url)).to.deep.equal(Object.keys(migrations));
      expect(await pendingMigrations(db)).to.deep.equal([]);
    });

    it('between two functions are completed by the next run', async () => {
      const { sql = '' } = functionsAfterTables.find(({ name }) => name === 'campaign_lock') ?? {};
      await killWhileBlocked(sql);
      expect(await pendingMigrations(db))
        .to.include('function campaign_lock')
        .and.not.include('001-baseline');
      expect(await migrate(database.url)).to.deep.equal([]);
      expect(await pendingMigrations(db)).to.deep.equal([]);
    });
  });

  describe('of functions', () => {
    const OTHER_TEXT =
      "create or replace function uuid_floor(at timestamptz) returns uuid language sql immutable strict parallel safe as 'select null::uuid'";
    const isOther = async () => {
      const { rows } = await db.raw('select uuid_floor(now()) is null as other');
      return rows[0].other;
    };
    const applied = () => db('databaseFunctions').orderBy('name').select('name', 'checksum', 'appliedAt');

    beforeEach(() => migrate(database.url));

    it('record the checksum of every file', async () => {
      const files = [...functionsBeforeTables, ...functionsAfterTables].map(({ name, checksum }) => [name, checksum]);
      expect((await applied()).map(({ name, checksum }) => [name, checksum])).to.have.deep.members(files);
    });

    it('apply a function again when its checksum differs, and only that one', async () => {
      const before = await applied();
      await db.raw(OTHER_TEXT);
      await db('databaseFunctions').where({ name: 'uuid_floor' }).update({ checksum: 'older' });
      expect(await migrate(database.url)).to.deep.equal([]);
      expect(await isOther()).to.equal(false);
      const after = await applied();
      expect(after.map(({ name, checksum }) => [name, checksum])).to.deep.equal(
        before.map(({ name, checksum }) => [name, checksum]),
      );
      const renewed = after.filter(({ appliedAt }, n) => appliedAt.getTime() !== before[n].appliedAt.getTime());
      expect(renewed.map(({ name }) => name)).to.deep.equal(['uuid_floor']);
    });

    it('apply no function again when its checksum is the same', async () => {
      const before = await applied();
      await db.raw(OTHER_TEXT);
      await migrate(database.url);
      expect(await isOther()).to.equal(true);
      expect(await applied()).to.deep.equal(before);
    });

    it('are pending when the checksum differs or is missing', async () => {
      await db('databaseFunctions').where({ name: 'data_keys' }).update({ checksum: 'older' });
      await db('databaseFunctions').where({ name: 'write_contact' }).delete();
      expect(await pendingMigrations(db)).to.deep.equal(['function data_keys', 'function write_contact']);
      await migrate(database.url);
      expect(await pendingMigrations(db)).to.deep.equal([]);
    });

    describe('whose file was deleted', () => {
      const create = async (name: string, sql: string) => {
        await db.raw(sql);
        await db('databaseFunctions').insert({ name, checksum: 'older' });
      };
      const exists = async (catalogue: string, column: string, name: string) =>
        (await db.raw(`select 1 from ${catalogue} where ${column} = ?`, [name])).rows.length > 0;

      it('drop the function with its overloads and triggers, the view, and their checksums', async () => {
        await create(
          'old_trigger',
          `create function old_trigger() returns trigger language plpgsql as 'begin return null; end';
           create trigger events_old after insert on events for each row execute function old_trigger()`,
        );
        await create(
          'old_overloaded',
          `create function old_overloaded(a integer) returns integer language sql as 'select 1';
           create function old_overloaded(a text) returns integer language sql as 'select 2'`,
        );
        await create('old_view', 'create view old_view as select 1 as one');
        expect(await pendingMigrations(db)).to.deep.equal([]);
        await migrate(database.url);
        expect(await exists('pg_proc', 'proname', 'old_trigger')).to.equal(false);
        expect(await exists('pg_trigger', 'tgname', 'events_old')).to.equal(false);
        expect(await exists('pg_proc', 'proname', 'old_overloaded')).to.equal(false);
        expect(await exists('pg_class', 'relname', 'old_view')).to.equal(false);
        expect((await applied()).map(({ name }) => name).filter((name) => name.startsWith('old_'))).to.deep.equal([]);
      });

      it('fail and drop nothing when an index needs the function', async () => {
        await create(
          'old_indexed',
          `create function old_indexed(a text) returns text language sql immutable as 'select a';
           create index contacts_old on contacts (old_indexed(email))`,
        );
        await create('old_other', "create function old_other() returns integer language sql as 'select 1'");
        const error = await migrate(database.url).catch((reason: Error) => reason);
        expect((error as Error).message).to.contain('cannot drop function old_indexed(text)');
        expect(await exists('pg_class', 'relname', 'contacts_old')).to.equal(true);
        expect(await exists('pg_proc', 'proname', 'old_other')).to.equal(true);
      });
    });

    it('apply a trigger again when it was dropped and its checksum differs', async () => {
      await db.raw('drop trigger contacts_count_added on contacts');
      await db('databaseFunctions').where({ name: 'count_added_contact' }).update({ checksum: 'older' });
      await migrate(database.url);
      const { rows } = await db.raw("select 1 from pg_trigger where tgname = 'contacts_count_added'");
      expect(rows).to.have.length(1);
    });
  });
});

describe('the files of db/functions', () => {
  it('are split into those that tables need, and the others with the views first', () => {
    const before = functionsBeforeTables.map(({ name }) => name);
    expect(before).to.deep.equal([
      'activity_type',
      'addresses_in',
      'cascade_depth',
      'contact_names',
      'data_keys',
      'json_time',
    ]);
    const after = functionsAfterTables.map(({ name }) => name);
    expect(after[0]).to.equal('execution_states');
    expect(new Set([...before, ...after]).size).to.equal(before.length + after.length);
  });

  it('count as changed when the database lacks them or has another checksum', () => {
    const files = ['a', 'b', 'c'].map((name) => ({ name, sql: '', checksum: `${name}1` }));
    const applied = [
      { name: 'a', checksum: 'a1' },
      { name: 'b', checksum: 'b0' },
      { name: 'removed', checksum: 'r1' },
    ];
    expect(changedFunctions(files, applied).map(({ name }) => name)).to.deep.equal(['b', 'c']);
    expect(changedFunctions(files, [])).to.deep.equal(files);
  });
});
