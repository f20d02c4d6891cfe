// Submissions wait in Postgres alone. Time passes by moving their stored times into the past.
import { expect } from 'chai';
import type { OtherFaultPoint } from '../../platform/fault-points.ts';
import { client } from '../support/api.ts';
import { type ServiceProcess, spawnWorker } from '../support/processes.ts';
import { moveSubmissions, storedSubmissions } from '../support/rows/forms.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

const KILLED = { code: null, signal: 'SIGKILL' };
const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;

describe('killing workers while submissions wait', function () {
  this.timeout(300_000);
  let temporal: OwnNamespace;
  let stack: Stack;
  let people = 0;

  before(async () => {
    temporal = await ownNamespace();
    // No name server answers there, and a failed lookup refuses nobody.
    stack = await startStack(temporal, { DNS_SERVERS: '127.0.0.1:9', RATE_LIMIT_PER_MINUTE: '0' });
    const from = `news@${stack.project.senderDomain}`;
    expect(await stack.server.post('/forms', { name: 'Newsletter', from })).to.have.status(201);
  });
  after(async () => {
    await stack?.end();
    await temporal?.close();
  });

  const submit = async (): Promise<string> => {
    const email = `p${people++}@example.com`;
    expect(await stack.server.post('/v1/subscribe', { form: 'newsletter', email })).to.have.status(200);
    return email;
  };
  const rowOf = async (email: string) =>
    (await storedSubmissions(stack.database.db, stack.project.id)).find((row) => row.email === email);
  const emailsOf = async (email: string): Promise<number> => {
    const row = await rowOf(email);
    return (await stack.database.db('emails').where({ submissionId: row?.id })).length;
  };
  const hours = (count: number) => moveSubmissions(stack.database.db, stack.project.id, -count * HOUR_MS);
  /** It may end before it is ready. */
  const crashing = (point: OtherFaultPoint) => spawnWorker({ ...stack.env, EVERPOST_FAULT_POINT: `${point}:1` });
  /** Runs the Schedule now instead of within a minute. */
  const runTimer = () =>
    eventually(
      () =>
        temporal.client.schedule
          .getHandle('forms/timer')
          .trigger()
          .then(
            () => true,
            () => false,
          ),
      { what: 'the Schedule', timeoutMs: 60_000 },
    );

  for (const [point, status, emails] of [
    ['submission-before-commit', 'RECEIVED', 0],
    ['submission-after-commit', 'PENDING', 1],
  ] as const)
    it(`sends one confirmation after a crash at ${point}`, async () => {
      const worker = await crashing(point);
      const email = await submit();
      expect(await worker.exited).to.deep.equal(KILLED);
      expect([(await rowOf(email))?.status, await emailsOf(email)]).to.deep.equal([status, emails]);
      const next = await stack.startWorker();
      await stack.smtp.received(1, { to: email });
      await eventually(async () => (await rowOf(email))?.status === 'PENDING', { what: 'the decision' });
      await next.stop();
      expect(await emailsOf(email)).to.equal(1);
      expect(stack.smtp.mailsTo(email)).to.have.length(1);
    });

  it('reminds once and expires once, across crashes and a day without a worker', async () => {
    const email = await submit();
    let worker: ServiceProcess = await stack.startWorker();
    await stack.smtp.received(1, { to: email });
    await runTimer();
    await worker.kill();
    expect(await emailsOf(email)).to.equal(1);

    // The reminder is due after 48 hours; no worker runs for a day more.
    await hours(2 * DAY_HOURS + DAY_HOURS);
    worker = await crashing('timer-before-commit');
    await runTimer();
    expect(await worker.exited).to.deep.equal(KILLED);
    expect([(await rowOf(email))?.remindedAt, await emailsOf(email)]).to.deep.equal([null, 1]);

    worker = await crashing('timer-after-commit');
    await runTimer();
    expect(await worker.exited).to.deep.equal(KILLED);
    expect(await emailsOf(email)).to.equal(2);

    worker = await stack.startWorker();
    await runTimer();
    await stack.smtp.received(2, { to: email });
    await hours(3 * DAY_HOURS);
    await runTimer();
    expect((await rowOf(email))?.status).to.equal('PENDING');
    await worker.kill();

    // It expires after 168 hours.
    await hours(2 * DAY_HOURS);
    worker = await crashing('timer-before-commit');
    await runTimer();
    expect(await worker.exited).to.deep.equal(KILLED);
    expect((await rowOf(email))?.status).to.equal('PENDING');
    worker = await stack.startWorker();
    await runTimer();
    await eventually(async () => (await rowOf(email))?.status === 'EXPIRED', { what: 'the expiry' });
    const link = /\/confirm\/[\w.-]+/.exec(
      stack.smtp.mailsTo(email)[1]?.raw.toString('latin1').replaceAll('=\r\n', '') ?? '',
    )?.[0];
    expect(await client(stack.api.url).get(link ?? 'none')).to.have.status(410);
    expect([await emailsOf(email), stack.smtp.mailsTo(email).length]).to.deep.equal([2, 2]);

    const { id } = (await rowOf(email)) ?? {};
    await hours(7 * DAY_HOURS);
    await runTimer();
    await eventually(async () => (await rowOf(email)) === undefined, { what: 'the erasure' });
    const erased = (await storedSubmissions(stack.database.db, stack.project.id)).find((row) => row.id === id);
    expect(erased).to.include({ email: null, status: 'EXPIRED', dueAt: null });
    await worker.stop();
  });
});
