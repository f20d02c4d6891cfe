import { expect } from 'chai';
import type { Knex } from 'knex';
import { client } from '../support/api.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import { type ServiceProcess, startApi } from '../support/processes.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';
import { build, enable, makeTemplate } from '../support/workflow-building.ts';

// What a worker has died with is noticed by Temporal when its time is up; for a webhook that is the longest.
const PATIENCE = { timeoutMs: 90_000 };
const WAY = ['change', 'decide', 'greet', 'call', 'pause', 'wait', 'out'];
/** Every record that an execution writes on its way, by visit and status: each is a transaction of its own. */
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

/** Where the worker of one contact dies: in the commit of a record, which then happens all the same, or does not. */
interface Moment {
  key: number;
  email: string;
  visit: number;
  status: string;
  isKept: boolean;
}

const moments: Moment[] = RECORDS.flatMap(([visit, status], place) =>
  [true, false].map((isKept, n) => {
    const email = `${visit}-${status}-${isKept ? 'kept' : 'lost'}@example.com`.toLowerCase();
    return { key: 2 * place + n, email, visit, status, isKept };
  }),
);
const isEarly = ({ visit }: Moment) => visit < 4;
const isBehindWait = ({ visit, status }: Moment) => visit > 6 || (visit === 6 && status === 'COMPLETED');

const LOCKS = 9_731;
const workersConnections = `application_name = 'everpost-worker' and datname = current_database()`;

describe('executions', function () {
  this.timeout(240_000);
  let temporal: OwnNamespace;
  let stack: Stack;
  let receiver: HttpReceiver;
  let api: ServiceProcess;
  let worker: ServiceProcess | undefined;
  const locks: Knex.Transaction[] = [];

  before(async () => {
    temporal = await ownNamespace();
    receiver = await startHttpReceiver();
    stack = await startStack(temporal, { WEBHOOK_ALLOWED_HOSTS: receiver.host });
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
    const trx = await stack.world.db.transaction();
    locks.push(trx);
    return trx;
  };
  const browser = () => client(api.url, { authorization: `Bearer ${stack.project.publicKey}` });
  const track = async (email: string, event: string, data: object) =>
    expect(await browser().post('/v1/track', { email, event, data })).to.have.status(200);
  const rows = async <Row>(sql: string, values: Knex.RawBinding[] = []): Promise<Row[]> =>
    (await stack.world.db.raw(sql, values)).rows;

  /** Whoever commits the record of a moment waits for a lock in that commit. */
  async function standStill(): Promise<{ waiting(): Promise<{ key: number; pid: number }[]>; release: () => unknown }> {
    const { db } = stack.world;
    await db.raw(`
      create table moments (key integer, email text, visit integer, status text);
      create function stand_still() returns trigger language plpgsql as $$
      begin
        perform pg_advisory_xact_lock_shared(${LOCKS}, m.key)
        from executions e join contacts c on c.id = e.contact_id join moments m on m.email = c.email
        where e.id = new.execution_id and m.visit = new.visit and m.status = new.status;
        return null;
      end $$;
      create constraint trigger stand_still after insert or update on execution_steps
        deferrable initially deferred for each row execute function stand_still();
    `);
    await db('moments').insert(moments.map(({ key, email, visit, status }) => ({ key, email, visit, status })));
    const lock = await transaction();
    for (const { key } of moments) await lock.raw('select pg_advisory_xact_lock(?, ?)', [LOCKS, key]);
    return {
      waiting: () =>
        rows(`select objid::integer as key, pid from pg_locks join pg_database d on d.oid = database
              where locktype = 'advisory' and classid = ${LOCKS} and not granted and datname = current_database()`),
      release: () => lock.rollback(),
    };
  }

  async function buildWay(): Promise<string> {
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

  interface Standing {
    id: string;
    email: string;
    status: string;
    visit: number;
    exit_reason: string | null;
    context: object;
  }
  const standings = async (workflowId: string): Promise<Map<string, Standing>> => {
    const found = await rows<Standing>(
      `select e.id, c.email, e.status, e.visit, e.exit_reason, e.context from executions e
       join contacts c on c.id = e.contact_id where e.workflow_id = ?`,
      [workflowId],
    );
    expect(new Set(found.map(({ email }) => email)).size, 'one execution for each').to.equal(found.length);
    return new Map(found.map((one) => [one.email, one]));
  };
  /** The event that each waits for, once it waits. */
  const buy = (workflowId: string, buyers: Moment[]) => {
    const left = new Set(buyers.map(({ email }) => email));
    const round = async () => {
      for (const { email, status, visit } of (await standings(workflowId)).values()) {
        if (status !== 'WAITING' || visit !== 6 || !left.delete(email)) continue;
        await track(email, 'bought', { thing: `tea for ${email}` });
      }
      return left.size === 0;
    };
    return eventually(round, { ...PATIENCE, what: `${buyers.length} who wait for their event` });
  };

  it('take each step once when every worker is killed in and after the commit of each of them', async () => {
    const { smtp, world } = stack;
    // Results of mails are written under the locks of many contacts: none until all stand where they shall.
    smtp.misbehave({ at: 'connect', do: 'hang' });
    const workers = await Promise.all([stack.startWorker(), stack.startWorker()]);
    const id = await buildWay();
    const { waiting, release } = await standStill();
    const late = moments.filter((moment) => !isEarly(moment));
    const allStand = (count: number) =>
      eventually(async () => (await waiting()).length === count && waiting(), {
        ...PATIENCE,
        what: `${count} commits`,
      });
    // Those with a long way first: whoever stands keeps a worker's slot.
    for (const { email } of late) await track(email, 'signed up', { source: email });
    await buy(id, moments.filter(isBehindWait));
    await allStand(late.length);
    for (const { email } of moments.filter(isEarly)) await track(email, 'signed up', { source: email });
    const standing = await allStand(moments.length);
    for (const victim of workers) expect(await victim.kill()).to.deep.equal({ code: null, signal: 'SIGKILL' });
    const lost = new Set(moments.filter(({ isKept }) => !isKept).map(({ key }) => key));
    for (const { key, pid } of standing) if (lost.has(key)) await world.db.raw('select pg_terminate_backend(?)', [pid]);
    const areLost = async () => (await waiting()).every(({ key }) => !lost.has(key));
    await eventually(areLost, { what: 'the end of what shall be lost' });
    await release();
    const isOver = async () => (await rows(`select 1 from pg_stat_activity where ${workersConnections}`)).length === 0;
    await eventually(isOver, { what: 'the last commit of the dead workers' });
    const atKill = await standings(id);
    for (const { email, visit, status, isKept } of moments) {
      const { id: executionId = '' } = atKill.get(email) ?? {};
      const record = await world.db('execution_steps').where({ executionId, visit, status }).first();
      expect(record !== undefined, `${email} when the workers are dead`).to.equal(isKept);
    }
    // A change that was made again would undo this one.
    const isChanged = ({ visit, isKept }: Moment) => visit > 1 || isKept;
    const changed = moments.filter(isChanged).map(({ email }) => email);
    await world.db.raw(`update contacts set data = data || '{"greeted": "since"}' where email = any (?)`, [changed]);

    smtp.behave();
    worker = await stack.startWorker();
    await buy(
      id,
      moments.filter((moment) => !isBehindWait(moment)),
    );
    const end = await eventually(
      async () => {
        const all = await standings(id);
        return [...all.values()].every(({ status }) => !['RUNNING', 'WAITING'].includes(status)) && all;
      },
      { ...PATIENCE, what: 'the end of all' },
    );
    await smtp.received(moments.length, PATIENCE);
    for (const moment of moments) {
      const { email, visit, status, isKept } = moment;
      const { id: executionId = '', ...place } = end.get(email) ?? {};
      const context = { source: email, thing: `tea for ${email}` };
      expect(place, email).to.deep.equal({ email, status: 'EXITED', visit: 7, exit_reason: 'done', context });
      const steps = await world.db('execution_steps').where({ executionId }).orderBy('visit');
      const taken = WAY.map((name, n) => ({ name, visit: n + 1, status: 'COMPLETED', attempt: 1 }));
      const told = steps.map(({ name, visit, status, attempt }) => ({ name, visit, status, attempt }));
      expect(told, email).to.deep.equal(taken);
      const contact = await world.db('contacts').where({ email }).first();
      expect(contact.data, email).to.include({ greeted: isChanged(moment) ? 'since' : 'yes' });
      const unsubscribed = { contactId: contact.id, name: 'contact.unsubscribed' };
      expect(await world.db('events').where(unsubscribed), email).to.have.length(1);
      expect(await world.db('emails').where({ executionId }), email).to.have.length(1);
      expect(smtp.mailsTo(email), email).to.have.length(1);
      // Only a call whose outcome was lost is made again, under its own id.
      const calls = receiver.requests.filter(({ body }) => body === email).map(({ headers }) => headers['webhook-id']);
      const isCalledAgain = visit === 4 && status === 'COMPLETED' && !isKept;
      expect(calls, email).to.deep.equal(Array(isCalledAgain ? 2 : 1).fill(steps[3]?.id));
    }
    expect(smtp.mails).to.have.length(moments.length);
  });

  it('are started once by each event whose track was answered when the API is killed in mid-burst', async () => {
    const { world, project, server } = stack;
    worker ??= await stack.startWorker();
    const { id } = await build(
      { ...project, server } as never,
      { steps: { out: { type: 'EXIT', config: { reason: 'done' } } } },
      // Whoever is done may come again: nothing but the count of the events keeps it at one.
      { name: 'Burst', eventName: 'burst', allowReentry: true },
    );
    await enable({ ...project, server } as never, id);
    // One contact is locked, so that the API certainly dies with a call that it has not answered.
    const held = 'held@example.com';
    await track(held, 'came', {});
    const lock = await transaction();
    await lock('contacts').where({ email: held }).forUpdate();
    const answered: string[] = [];
    const burst = async (email: string) => {
      const answer = await browser()
        .post('/v1/track', { email, event: 'burst' })
        .catch(() => undefined);
      if (answer?.status === 200) answered.push(email);
    };
    const emails = [held, ...Array.from({ length: 150 }, (_, n) => `burst${n}@example.com`)];
    const unanswered = burst(held);
    const waits = `application_name = 'everpost-api' and datname = current_database() and wait_event_type = 'Lock'`;
    const isWaiting = async () => (await rows(`select 1 from pg_stat_activity where ${waits}`)).length > 0;
    await eventually(isWaiting, { ...PATIENCE, what: 'a call that waits for the lock' });
    const calls = Promise.all([unanswered, ...emails.slice(1).map(burst)]);
    await eventually(() => answered.length >= 50, { ...PATIENCE, what: 'fifty answers' });
    expect(await api.kill()).to.deep.equal({ code: null, signal: 'SIGKILL' });
    await calls;
    expect(answered).not.to.include(held);
    await lock.rollback();
    const itsConnections = `application_name = 'everpost-api' and datname = current_database()`;
    const isOver = async () => (await rows(`select 1 from pg_stat_activity where ${itsConnections}`)).length === 0;
    await eventually(isOver, { what: 'the last statement of the dead API' });

    api = await startApi({ ...stack.env, PORT: String(api.port) });
    await burst('after@example.com');
    expect(answered).to.include('after@example.com');
    const isQuiet = async () =>
      (await world.db('event_queue')).length === 0 &&
      (await world.db('executions').where({ workflowId: id }).whereNot({ status: 'EXITED' })).length === 0;
    await eventually(isQuiet, { ...PATIENCE, what: 'the end of all' });
    const counts = await rows<{ email: string; events: number; executions: number }>(
      `select c.email,
         (select count(*) from events e where e.contact_id = c.id and e.name = 'burst')::integer as events,
         (select count(*) from executions x where x.contact_id = c.id and x.workflow_id = ?)::integer as executions
       from contacts c where c.email = any (?)`,
      [id, [...emails, 'after@example.com']],
    );
    for (const { email, events, executions } of counts)
      expect({ events, executions }, email).to.deep.equal({ events: 1, executions: 1 });
    // What was not answered may have been done, and whole: this one was.
    expect(counts.map(({ email }) => email)).to.include.members([...answered, held]);
  });
});
