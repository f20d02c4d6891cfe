import { expect } from 'chai';
import type { Knex } from 'knex';
import { client } from '../support/api.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import { type ServiceProcess, startApi } from '../support/processes.ts';
import { storedContacts } from '../support/rows/contacts.ts';
import { queuedEvents, storedEvents } from '../support/rows/events.ts';
import { storedMails } from '../support/rows/mails.ts';
import { breakConnection } from '../support/rows/tables.ts';
import { storedExecutions, storedVisits } from '../support/rows/workflows.ts';
import { type OwnNamespace, ownNamespace, type ProcessStack, startProcessStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';
import { build, enable, makeTemplate } from '../support/workflow-building.ts';

const STEPS = ['change', 'decide', 'greet', 'call', 'pause', 'wait', 'out'];
/** Every record that an execution writes, by visit and status: each in a separate transaction. */
const RECORDS = [
  [1, 'COMPLETED'],
  [2, 'COMPLETED'],
  [3, 'COMPLETED'],
  [4, 'RUNNING'],
  [4, 'COMPLETED'],
  [5, 'WAITING'],
  [5, 'COMPLETED'],
  [6, 'WAITING'],
  [6, 'COMPLETED'],
  [7, 'COMPLETED'],
] as const;

/** The worker of one contact dies during the commit of a record, which then succeeds or is rolled back. */
interface KillPoint {
  key: number;
  email: string;
  visit: number;
  status: string;
  isCommitted: boolean;
}

const killPoints: KillPoint[] = RECORDS.flatMap(([visit, status], position) =>
  [true, false].map((isCommitted, n) => {
    const email = `${visit}-${status}-${isCommitted ? 'committed' : 'lost'}@example.com`.toLowerCase();
    return { key: 2 * position + n, email, visit, status, isCommitted };
  }),
);
const isEarly = ({ visit }: KillPoint) => visit < 4;
const isAfterWait = ({ visit, status }: KillPoint) => visit > 6 || (visit === 6 && status === 'COMPLETED');

const LOCKS = 9_731;
const workerConnections = `application_name = 'everpost-worker' and datname = current_database()`;

describe('executions', () => {
  let temporal: OwnNamespace;
  let stack: ProcessStack;
  let receiver: HttpReceiver;
  let api: ServiceProcess;
  let worker: ServiceProcess | undefined;
  const locks: Knex.Transaction[] = [];

  before(async () => {
    temporal = await ownNamespace();
    receiver = await startHttpReceiver();
    stack = await startProcessStack(temporal, { WEBHOOK_ALLOWED_HOSTS: receiver.host });
    api = stack.api;
  });
  afterEach(async () => {
    for (const lock of locks.splice(0)) if (!lock.isCompleted()) await lock.rollback();
  });
  after(async () => {
    await api?.kill();
    await worker?.kill();
    await stack?.end();
    await receiver?.stop();
    await temporal?.close();
  });

  const transaction = async () => {
    const trx = await stack.database.db.transaction();
    locks.push(trx);
    return trx;
  };
  const browser = () => client(api.url, { authorization: `Bearer ${stack.project.publicKey}` });
  const track = async (email: string, event: string, data: object) =>
    expect(await browser().post('/v1/track', { email, event, data })).to.have.status(200);
  const rows = async <Row>(sql: string, values: Knex.RawBinding[] = []): Promise<Row[]> =>
    (await stack.database.db.raw(sql, values)).rows;

  /** Makes the commit of each kill point's record wait for a lock. */
  async function blockCommits(): Promise<{
    waiting(): Promise<{ key: number; pid: number }[]>;
    release: () => unknown;
  }> {
    const { db } = stack.database;
    await db.raw(`
      create table kill_points (key integer, email text, visit integer, status text);
      create function block_commit() returns trigger language plpgsql as $$
      begin
        perform pg_advisory_xact_lock_shared(${LOCKS}, m.key)
        from executions e join contacts c on c.id = e.contact_id join kill_points m on m.email = c.email
        where e.id = new.execution_id and m.visit = new.visit and m.status = new.status;
        return null;
      end $$;
      create constraint trigger block_commit after insert or update on execution_steps
        deferrable initially deferred for each row execute function block_commit();
    `);
    await db('kill_points').insert(killPoints.map(({ key, email, visit, status }) => ({ key, email, visit, status })));
    const lock = await transaction();
    for (const { key } of killPoints) await lock.raw('select pg_advisory_xact_lock(?, ?)', [LOCKS, key]);
    return {
      waiting: () =>
        rows(`select objid::integer as key, pid from pg_locks join pg_database d on d.oid = database
              where locktype = 'advisory' and classid = ${LOCKS} and not granted and datname = current_database()`),
      release: () => lock.rollback(),
    };
  }

  async function buildWorkflow(): Promise<string> {
    const project = { ...stack.project, server: stack.server } as never;
    const { id } = await build(project, {
      steps: {
        change: { type: 'UPDATE_CONTACT', config: { data: { greeted: 'yes' }, subscribed: false } },
        decide: { type: 'CONDITION', config: { field: 'subscribed', operator: 'equals', value: false } },
        greet: { type: 'SEND_EMAIL', config: { templateId: await makeTemplate(project) } },
        call: { type: 'WEBHOOK', config: { url: `${receiver.url}/hook`, body: '{{ email }}' } },
        pause: { type: 'DELAY', config: { amount: 1, unit: 'seconds' } },
        wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought' } },
        out: { type: 'EXIT', config: { reason: 'done' } },
        astray: { type: 'EXIT', config: { reason: 'astray' } },
      },
      transitions: [
        ['change', 'decide'],
        ['decide', 'greet', 'yes'],
        ['decide', 'astray', 'no'],
        ['greet', 'call'],
        ['call', 'pause'],
        ['pause', 'wait'],
        ['wait', 'out'],
      ],
    });
    await enable(project, id);
    return id;
  }

  interface ExecutionState {
    id: string;
    email: string;
    status: string;
    visit: number;
    exit_reason: string | null;
    context: object;
  }
  const readStates = async (workflowId: string): Promise<Map<string, ExecutionState>> => {
    const found = await rows<ExecutionState>(
      `select e.id, c.email, e.status, e.visit, e.exit_reason, e.context from executions e
       join contacts c on c.id = e.contact_id where e.workflow_id = ?`,
      [workflowId],
    );
    expect(new Set(found.map(({ email }) => email)).size, 'one execution for each').to.equal(found.length);
    return new Map(found.map((one) => [one.email, one]));
  };
  /** Tracks the event that each execution waits for, once it waits. */
  const buy = (workflowId: string, buyers: KillPoint[]) => {
    const remaining = new Set(buyers.map(({ email }) => email));
    const round = async () => {
      for (const { email, status, visit } of (await readStates(workflowId)).values()) {
        if (status !== 'WAITING' || visit !== 6 || !remaining.delete(email)) continue;
        await track(email, 'bought', { thing: `tea for ${email}` });
      }
      return remaining.size === 0;
    };
    return eventually(round, { what: `${buyers.length} executions that wait for their event` });
  };

  it('take each step once when every worker is killed during and after the commit of each step', async () => {
    const { smtp, database } = stack;
    // Results of mails are written under the locks of many contacts: none are sent until all commits are blocked.
    smtp.misbehave({ at: 'connect', do: 'hang' });
    const workers = await Promise.all([stack.startWorker(), stack.startWorker()]);
    const id = await buildWorkflow();
    const { waiting, release } = await blockCommits();
    const late = killPoints.filter((killPoint) => !isEarly(killPoint));
    const allBlocked = (count: number) =>
      eventually(async () => new Set((await waiting()).map(({ key }) => key)).size === count, {
        what: `${count} commits`,
      });
    // Executions with many steps first: a blocked one occupies a slot of the worker.
    for (const { email } of late) await track(email, 'signed up', { source: email });
    await buy(id, killPoints.filter(isAfterWait));
    await allBlocked(late.length);
    for (const { email } of killPoints.filter(isEarly)) await track(email, 'signed up', { source: email });
    await allBlocked(killPoints.length);
    for (const victim of workers) expect(await victim.kill()).to.deep.equal({ code: null, signal: 'SIGKILL' });
    const lostKeys = new Set(killPoints.filter(({ isCommitted }) => !isCommitted).map(({ key }) => key));
    // A step that was blocked for long may have been tried again: its second transaction must not commit either.
    const areLost = async () => {
      const active = await rows<{ pid: number }>(
        `select pid from pg_stat_activity where ${workerConnections} and state = 'active'`,
      );
      const blocked = await waiting();
      const lost = blocked.filter(({ key }) => lostKeys.has(key));
      for (const { pid } of lost) await breakConnection(database.db, pid);
      return lost.length === 0 && active.every(({ pid }) => blocked.some((one) => one.pid === pid));
    };
    await eventually(areLost, { what: 'the rollback of the lost commits' });
    await release();
    const isOver = async () => (await rows(`select 1 from pg_stat_activity where ${workerConnections}`)).length === 0;
    await eventually(isOver, { what: 'the last commit of the dead workers' });
    const atKill = await readStates(id);
    for (const { email, visit, status, isCommitted } of killPoints) {
      const { id: executionId = '' } = atKill.get(email) ?? {};
      const record = await storedVisits(database.db, { executionId, visit, status }).first();
      expect(record !== undefined, `${email} when the workers are dead`).to.equal(isCommitted);
    }
    // A repeated change would overwrite this one.
    const isChanged = ({ visit, isCommitted }: KillPoint) => visit > 1 || isCommitted;
    const changed = killPoints.filter(isChanged).map(({ email }) => email);
    await database.db.raw(`update contacts set data = data || '{"greeted": "since"}' where email = any (?)`, [changed]);

    smtp.behave();
    worker = await stack.startWorker();
    await buy(
      id,
      killPoints.filter((killPoint) => !isAfterWait(killPoint)),
    );
    const end = await eventually(
      async () => {
        const all = await readStates(id);
        return [...all.values()].every(({ status }) => !['RUNNING', 'WAITING'].includes(status)) && all;
      },
      { what: 'the end of all executions' },
    );
    await smtp.received(killPoints.length);
    for (const killPoint of killPoints) {
      const { email, visit, status, isCommitted } = killPoint;
      const { id: executionId = '', ...state } = end.get(email) ?? {};
      const context = { source: email, thing: `tea for ${email}` };
      expect(state, email).to.deep.equal({ email, status: 'EXITED', visit: 7, exit_reason: 'done', context });
      const steps = await storedVisits(database.db, { executionId });
      const expected = STEPS.map((name, n) => ({ name, visit: n + 1, status: 'COMPLETED', attempt: 1 }));
      const recorded = steps.map(({ name, visit, status, attempt }) => ({ name, visit, status, attempt }));
      expect(recorded, email).to.deep.equal(expected);
      const contact = await storedContacts(database.db, { email }).first();
      expect(contact.data, email).to.include({ greeted: isChanged(killPoint) ? 'since' : 'yes' });
      const unsubscribed = { contactId: contact.id, name: 'contact.unsubscribed' };
      expect(await storedEvents(database.db, unsubscribed), email).to.have.length(1);
      expect(await storedMails(database.db, { executionId }), email).to.have.length(1);
      expect(smtp.mailsTo(email), email).to.have.length(1);
      // Only a call whose outcome was lost is repeated, with the same id.
      const calls = receiver.requests.filter(({ body }) => body === email).map(({ headers }) => headers['webhook-id']);
      const isCalledAgain = visit === 4 && status === 'COMPLETED' && !isCommitted;
      expect(calls, email).to.deep.equal(Array(isCalledAgain ? 2 : 1).fill(steps[3]?.id));
    }
    expect(smtp.mails).to.have.length(killPoints.length);
  });

  it('are started once by each tracked event that was answered before the API was killed', async () => {
    const { database, project, server } = stack;
    worker ??= await stack.startWorker();
    const { id } = await build(
      { ...project, server } as never,
      { steps: { out: { type: 'EXIT', config: { reason: 'done' } } } },
      // With re-entry allowed, only the number of events limits the executions.
      { name: 'Burst', eventName: 'burst', allowReentry: true },
    );
    await enable({ ...project, server } as never, id);
    // One contact is locked, so that the API dies with an unanswered call.
    const lockedEmail = 'locked@example.com';
    await track(lockedEmail, 'came', {});
    const lock = await transaction();
    await lock('contacts').where({ email: lockedEmail }).forUpdate();
    const answered: string[] = [];
    const burst = async (email: string) => {
      const answer = await browser()
        .post('/v1/track', { email, event: 'burst' })
        .catch(() => undefined);
      if (answer?.status === 200) answered.push(email);
    };
    const emails = [lockedEmail, ...Array.from({ length: 150 }, (_, n) => `burst${n}@example.com`)];
    const unanswered = burst(lockedEmail);
    const waits = `application_name = 'everpost-api' and datname = current_database() and wait_event_type = 'Lock'`;
    const isWaiting = async () => (await rows(`select 1 from pg_stat_activity where ${waits}`)).length > 0;
    await eventually(isWaiting, { what: 'a call that waits for the lock' });
    const calls = Promise.all([unanswered, ...emails.slice(1).map(burst)]);
    await eventually(() => answered.length >= 50, { what: 'fifty answers' });
    expect(await api.kill()).to.deep.equal({ code: null, signal: 'SIGKILL' });
    await calls;
    expect(answered).not.to.include(lockedEmail);
    await lock.rollback();
    const apiConnections = `application_name = 'everpost-api' and datname = current_database()`;
    const isOver = async () => (await rows(`select 1 from pg_stat_activity where ${apiConnections}`)).length === 0;
    await eventually(isOver, { what: 'the last statement of the dead API' });

    api = await startApi({ ...stack.env, PORT: String(api.port) });
    await burst('after@example.com');
    expect(answered).to.include('after@example.com');
    const isQuiet = async () =>
      (await queuedEvents(database.db)).length === 0 &&
      (await storedExecutions(database.db, { workflowId: id }).whereNot({ status: 'EXITED' })).length === 0;
    await eventually(isQuiet, { what: 'the end of all executions' });
    const counts = await rows<{ email: string; events: number; executions: number }>(
      `select c.email,
         (select count(*) from events e where e.contact_id = c.id and e.name = 'burst')::integer as events,
         (select count(*) from executions x where x.contact_id = c.id and x.workflow_id = ?)::integer as executions
       from contacts c where c.email = any (?)`,
      [id, [...emails, 'after@example.com']],
    );
    for (const { email, events, executions } of counts)
      expect({ events, executions }, email).to.deep.equal({ events: 1, executions: 1 });
    // An unanswered call may have been processed, and then completely: this one was.
    expect(counts.map(({ email }) => email)).to.include.members([...answered, lockedEmail]);
  });
});
