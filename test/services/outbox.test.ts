import { expect } from 'chai';
import { type Db, inTransaction } from '../../db/connect.ts';
import type { OutboxQueue } from '../../db/models/outbox-queue.ts';
import { newId } from '../../platform/ids.ts';
import { processTimings } from '../../platform/timings.ts';
import { claimOutboxMessages, renewOutboxClaim } from '../../services/outbox/claim.ts';
import { outboxDepth } from '../../services/outbox/depth.ts';
import { MAX_ATTEMPTS, resolveOutboxMessages, unparkOutboxMessages } from '../../services/outbox/resolve.ts';
import { type OutboxMessage, writeOutboxMessage } from '../../services/outbox/write.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { emptyOutbox, outboxMessages, setOutbox } from '../support/rows/outbox.ts';

/** So long that no claim runs out while a test works. */
const CLAIM_MS = 3_600_000;

const nothing = { done: [], failed: [], unreachable: [] };

describe('the outbox', () => {
  let database: ConnectedDatabase;
  let db: Db;

  before(async () => {
    database = await connectTestDatabase();
    db = database.db;
  });
  after(() => database.close());
  beforeEach(() => emptyOutbox(db));

  const start = (projectId: string, workflowId: string, queue: OutboxQueue = 'starts') =>
    writeOutboxMessage(db, {
      queue,
      projectId,
      workflowId,
      action: 'start',
      workflowType: 'probe',
      args: [1],
    } satisfies OutboxMessage);
  const claimed = async (queue: OutboxQueue = 'starts', limit = 100) =>
    (await claimOutboxMessages(db, queue, limit, CLAIM_MS)).map(({ workflowId }) => workflowId);
  const makeDue = () => setOutbox(db, { dueAt: db.fn.now() });
  const rows = () => outboxMessages(db);

  it('returns a message as it was written', async () => {
    const project = newId();
    await writeOutboxMessage(db, {
      queue: 'control',
      projectId: project,
      workflowId: 'w',
      action: 'signal',
      signal: 'lookAgain',
    });
    const [message] = await claimOutboxMessages(db, 'control', 10);
    expect(message).to.deep.include({ projectId: project, workflowId: 'w', action: 'signal', signal: 'lookAgain' });
  });

  it('returns no message of a transaction that was rolled back', async () => {
    const failing = inTransaction(db, async (trx) => {
      await writeOutboxMessage(trx, { queue: 'starts', projectId: newId(), workflowId: 'w', action: 'cancel' });
      throw new Error('changed my mind');
    });
    expect(await failing.catch((error: Error) => error.message)).to.equal('changed my mind');
    expect(await claimed()).to.deep.equal([]);
  });

  it('claims only messages of the given queue', async () => {
    await start(newId(), 'a', 'starts');
    await start(newId(), 'b', 'control');
    expect(await claimed('control')).to.deep.equal(['b']);
    expect(await claimed('starts')).to.deep.equal(['a']);
  });

  it('does not claim a message again before its lease ends', async () => {
    await start(newId(), 'a');
    expect(await claimed()).to.deep.equal(['a']);
    expect(await claimed()).to.deep.equal([]);
    await makeDue();
    expect(await claimed()).to.deep.equal(['a']);
  });

  it('returns messages of one Temporal workflow one at a time and in order', async () => {
    const project = newId();
    await start(project, 'w');
    await writeOutboxMessage(db, {
      queue: 'starts',
      projectId: project,
      workflowId: 'w',
      action: 'signal',
      signal: 'go',
    });
    await writeOutboxMessage(db, { queue: 'starts', projectId: project, workflowId: 'w', action: 'cancel' });
    const order: string[] = [];
    for (;;) {
      const messages = await claimOutboxMessages(db, 'starts', 10, CLAIM_MS);
      expect(messages).to.have.length.below(2);
      const [message] = messages;
      if (!message) break;
      expect(await claimed(), 'while one is claimed').to.deep.equal([]);
      order.push(message.action);
      await resolveOutboxMessages(db, { ...nothing, done: [message.id] });
    }
    expect(order).to.deep.equal(['start', 'signal', 'cancel']);
  });

  it('claims a message only after earlier ones of its Temporal workflow in another queue', async () => {
    const project = newId();
    await start(project, 'w', 'starts');
    await writeOutboxMessage(db, { queue: 'control', projectId: project, workflowId: 'w', action: 'cancel' });
    expect(await claimed('control')).to.deep.equal([]);
    const [first] = await claimOutboxMessages(db, 'starts', 10, CLAIM_MS);
    await resolveOutboxMessages(db, { ...nothing, done: [first?.id ?? ''] });
    expect(await claimed('control')).to.deep.equal(['w']);
  });

  it('claims messages of projects in round-robin', async () => {
    const big = newId();
    const small = newId();
    const tiny = newId();
    for (let n = 0; n < 50; n++) await start(big, `big-${n}`);
    for (let n = 0; n < 3; n++) await start(small, `small-${n}`);
    await start(tiny, 'tiny-0');
    expect(await claimed('starts', 6)).to.have.members(['big-0', 'big-1', 'big-2', 'small-0', 'small-1', 'tiny-0']);
    expect(await claimed('starts', 4)).to.have.members(['big-3', 'big-4', 'big-5', 'small-2']);
    expect(await claimed('starts', 100)).to.have.length(44);
  });

  it('gives each of four concurrent relays a full batch and no message twice', async () => {
    const projects = [newId(), newId(), newId()];
    for (let n = 0; n < 60; n++) await start(projects[n % 3] ?? '', `w-${n}`);
    const claims = await Promise.all(Array.from({ length: 4 }, () => claimed('starts', 15)));
    const all = claims.flat();
    expect(new Set(all).size, 'nothing twice').to.equal(all.length);
    expect(claims.map((claim) => claim.length)).to.deep.equal([15, 15, 15, 15]);
  });

  it('doubles the delay after every failure, and parks the message after the last attempt', async () => {
    await start(newId(), 'poison');
    const waits: number[] = [];
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const [message] = await claimOutboxMessages(db, 'starts', 1, CLAIM_MS);
      if (!message) throw new Error(`nothing to claim at attempt ${attempt}`);
      // In one transaction, because now() is constant in it.
      await inTransaction(db, async (trx) => {
        const parked = await resolveOutboxMessages(trx, {
          ...nothing,
          failed: [{ id: message.id, error: `no ${attempt}\0` }],
        });
        expect(parked).to.deep.equal(attempt === MAX_ATTEMPTS ? [message.id] : []);
        const [wait] = await trx('outbox').select(trx.raw('extract(epoch from due_at - now()) as seconds'));
        waits.push(Number(wait.seconds));
      });
      await makeDue();
    }
    expect(waits).to.deep.equal([1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
    expect(await claimed()).to.deep.equal([]);
    const [row] = await rows();
    expect(row).to.include({ attempts: MAX_ATTEMPTS, lastError: `no ${MAX_ATTEMPTS}` });
    const [depth] = await outboxDepth(db);
    expect(depth).to.include({ queue: 'starts', waiting: 0, parked: 1 });
  });

  it('does not claim later messages of a Temporal workflow with a parked one', async () => {
    const project = newId();
    await start(project, 'poison');
    await setOutbox(db, { parkedAt: db.fn.now() });
    await writeOutboxMessage(db, { queue: 'starts', projectId: project, workflowId: 'poison', action: 'cancel' });
    await start(project, 'healthy');
    expect(await claimed()).to.deep.equal(['healthy']);
  });

  it('makes the message of a relay that has died due again within seconds', async () => {
    await start(newId(), 'a');
    const wait = () =>
      inTransaction(db, async (trx) => {
        const [message] = await claimOutboxMessages(trx, 'starts', 1);
        const [row] = await trx('outbox').select(trx.raw('extract(epoch from due_at - now()) as seconds'));
        return { id: message?.id ?? '', seconds: Number(row.seconds) };
      });
    const { id, seconds } = await wait();
    expect(seconds).to.be.within(processTimings.outboxClaim.renew / 1_000, 10);
    await setOutbox(db, { dueAt: db.raw("now() + interval '1 hour'") });
    expect(await claimed(), 'while it is claimed').to.deep.equal([]);
    await makeDue();
    // Its claim has run out: a relay that still works on it does not take it back.
    await renewOutboxClaim(db, [id]);
    expect(await claimed()).to.deep.equal(['a']);
  });

  it('keeps a claim that its relay renews', async () => {
    await start(newId(), 'a');
    const [message] = await claimOutboxMessages(db, 'starts', 1, CLAIM_MS);
    await inTransaction(db, async (trx) => {
      // In one transaction, because now() is constant in it.
      await setOutbox(trx, { dueAt: trx.raw("now() + interval '1 second'") });
      await renewOutboxClaim(trx, [message?.id ?? '']);
      const [row] = await trx('outbox').select(trx.raw('extract(epoch from due_at - now()) as seconds'));
      expect(Number(row.seconds)).to.be.greaterThan(1);
    });
  });

  it('resets the attempts of an unparked message', async () => {
    await start(newId(), 'a');
    await start(newId(), 'b');
    await setOutbox(db, { parkedAt: db.fn.now(), attempts: MAX_ATTEMPTS });
    const [a, b] = await rows();
    expect(await unparkOutboxMessages(db, [a.id])).to.equal(1);
    expect(await claimed()).to.deep.equal(['a']);
    expect((await rows())[0]).to.include({ attempts: 0 });
    expect(await unparkOutboxMessages(db, [b.id])).to.equal(1);
    expect(await claimed()).to.deep.equal(['b']);
  });

  it('counts no attempt when Temporal is unreachable', async () => {
    await start(newId(), 'a');
    for (let round = 0; round < MAX_ATTEMPTS + 2; round++) {
      const [message] = await claimOutboxMessages(db, 'starts', 1, CLAIM_MS);
      await resolveOutboxMessages(db, { ...nothing, unreachable: [{ id: message?.id ?? '', error: 'ECONNREFUSED' }] });
      await makeDue();
    }
    expect((await rows())[0]).to.include({ attempts: 0, parkedAt: null, lastError: 'ECONNREFUSED' });
  });

  it('resolves done, failed and unreachable messages in one call', async () => {
    for (const name of ['done', 'failed', 'unreachable']) await start(newId(), name);
    const byName = new Map(
      (await claimOutboxMessages(db, 'starts', 3, CLAIM_MS)).map(({ id, workflowId }) => [workflowId, id]),
    );
    const named = (name: string) => byName.get(name) ?? '';
    await resolveOutboxMessages(db, {
      done: [named('done')],
      failed: [{ id: named('failed'), error: 'bad' }],
      unreachable: [{ id: named('unreachable'), error: 'unavailable' }],
    });
    const left = await outboxMessages(db).select('workflowId', 'attempts', 'lastError');
    expect(left).to.deep.equal([
      { workflowId: 'failed', attempts: 1, lastError: 'bad' },
      { workflowId: 'unreachable', attempts: 0, lastError: 'unavailable' },
    ]);
  });
});
