import { expect } from 'chai';
import type { Knex } from 'knex';
import type { Db } from '../../db/connect.ts';
import { Job } from '../../db/models/job.ts';
import { newId } from '../../platform/ids.ts';
import { SYSTEM_PROJECT_ID } from '../../services/system/project.ts';
import { person } from '../support/accounts.ts';
import { type ApiProject, createProjectWithClients } from '../support/api.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';
import { build, enable } from '../support/workflow-building.ts';

/** One set of a retry, and some more. */
const SET = 500;
const FAILED = 510;
const SUBJECT = 'The campaign "Spring" was paused automatically';

describe('killing the worker', () => {
  let temporal: OwnNamespace | undefined;
  let stack: Stack | undefined;
  let project: ApiProject | undefined;
  let lock: Knex.Transaction | undefined;

  const running = () => {
    if (!stack || !project) throw new Error('not started');
    return { ...stack, project, db: stack.database.db };
  };

  before(async () => {
    temporal = await ownNamespace();
    stack = await startStack(temporal);
    project = await createProjectWithClients(stack.database.db, stack.api.url);
  });
  after(async () => {
    if (lock && !lock.isCompleted()) await lock.rollback();
    await stack?.end();
    await temporal?.close();
  });

  /** Starts a worker, waits until it waits for the lock that `take` has taken, kills it, and releases the lock. */
  async function killAt(db: Db, take: (trx: Knex.Transaction) => Promise<unknown>): Promise<void> {
    lock = await db.transaction();
    await take(lock);
    const worker = await running().startWorker();
    const trx = lock;
    const isWaiting = async () => {
      const { rows } = await trx.raw(
        'select 1 from pg_stat_activity where pg_backend_pid() = any (pg_blocking_pids(pid)) limit 1',
      );
      return rows.length > 0;
    };
    await eventually(isWaiting, { what: 'a worker that waits' });
    await worker.kill();
    await lock.rollback();
  }

  it('while it writes mail about a notification: each member gets it once', async () => {
    const { db, api, smtp, project } = running();
    for (let n = 0; n < 3; n++) await person({ db, url: api.url }, { project: project.id, role: 'MEMBER' });
    const from = `news@${project.senderDomain}`;
    const draft = { name: 'Spring', subject: 's', body: 'b', from, audienceType: 'ALL' };
    const { id } = (await project.server.post('/campaigns', draft)).body.data;
    await db('campaigns').where({ id }).update({ paused: true, pausedBy: 'AUTO_PAUSE', pauseReason: 'bounces' });
    const due = () =>
      db('notifications as n')
        .join('users as u', 'u.id', 'n.userId')
        .where({ 'n.projectId': project.id, mailDue: true })
        .orderBy('n.id')
        .pluck('u.email');
    const members = await due();
    expect(members).to.have.length(4);
    const written = () => db('emailContents').where({ projectId: SYSTEM_PROJECT_ID }).whereIn('toEmail', members);

    // The mails before the last one are written, and not committed.
    const last = { id: newId(), projectId: SYSTEM_PROJECT_ID, email: members.at(-1), subscribed: true };
    await killAt(db, (trx) => trx('contacts').insert(last));
    await eventually(async () => (await due()).length === 4 && (await written()).length === 0);

    const worker = await running().startWorker();
    const received = () =>
      members.map((email) => smtp.mailsTo(email).filter(({ raw }) => raw.includes(SUBJECT)).length);
    await eventually(async () => (await due()).length === 0 && received().every((count) => count > 0));
    expect((await written()).map(({ toEmail }) => toEmail).sort()).to.deep.equal([...members].sort());
    expect(received()).to.deep.equal([1, 1, 1, 1]);
    await worker.kill();
  });

  it('between two sets of a bulk retry: every failed execution is retried once', async () => {
    const { db, project } = running();
    const built = await build(project, { steps: { out: { type: 'EXIT', config: { reason: 'over' } } } });
    await enable(project, built.id);
    await db.raw(
      `with people as (
         insert into contacts (id, project_id, email, subscribed)
         select uuidv7(), ?, 'failed' || n || '@example.com', true from generate_series(1, ?::integer) n returning id
       )
       insert into executions (id, project_id, workflow_id, version, contact_id, status, current_step_id, after_position,
         once_per_contact, error, completed_at)
       select uuidv7(), ?, w.id, w.valid_version, p.id, 'FAILED', ?, 0, false, 'no answer', now()
       from people p, workflows w where w.id = ?`,
      [project.id, FAILED, project.id, built.steps.out ?? '', built.id],
    );
    const ids: string[] = await db('executions').where({ workflowId: built.id }).orderBy('id').pluck('id');
    const answer = await project.server.post(`/workflows/${built.id}/executions/retry-failed`, { error: 'no answer' });
    expect(answer).to.have.status(202);
    const job = () => Job.query(db).findById(answer.body.jobId).throwIfNotFound();

    await killAt(db, (trx) =>
      trx('executions')
        .where({ id: ids.at(-1) })
        .forUpdate(),
    );
    expect(await job()).to.include({ status: 'RUNNING', processed: SET });

    const worker = await running().startWorker();
    await eventually(async () => (await job()).status === 'COMPLETED', { what: 'the end of the job' });
    expect((await job()).result).to.include({ requested: FAILED, changed: FAILED, unchanged: 0, failed: 0 });
    const ended = () => db('executions').where({ workflowId: built.id, status: 'EXITED' });
    await eventually(async () => (await ended()).length === FAILED, { what: 'the end of all executions' });
    expect(new Set((await ended()).map(({ generation }) => generation))).to.deep.equal(new Set([2]));
    const { rows } = await db.raw(
      'select count(*)::integer as count from execution_steps where execution_id = any (?::uuid[])',
      [ids],
    );
    expect(rows[0].count).to.equal(FAILED);
    await worker.kill();
  });
});
