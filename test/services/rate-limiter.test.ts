import { expect } from 'chai';
import type { Listener } from '../../db/listener.ts';
import { newId } from '../../platform/ids.ts';
import { RateLimiter, type RateStore, rateStore } from '../../services/access/rate-limiter.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { patientListener, startListener } from '../support/listeners.ts';
import { breakConnectionsOf } from '../support/rows/tables.ts';
import { eventually } from '../support/waiting.ts';

interface Process {
  limiter: RateLimiter;
  listener: Listener;
  /** The number of statements sent. */
  statements(): number;
}

describe('rate limit over several processes', () => {
  let database: ConnectedDatabase;
  /** The clock of all limiters, in milliseconds. */
  let now = 0;
  const options = { maxWaitMs: 3_600_000, clock: () => now };
  const listeners: Listener[] = [];

  before(async () => {
    database = await connectTestDatabase();
  });
  afterEach(async () => {
    await Promise.all(listeners.splice(0).map((listener) => listener.stop()));
  });
  after(() => database.close());

  async function startProcess(limit: number): Promise<Process> {
    const listener = patientListener(database.url);
    let sent = 0;
    const store = rateStore(database.db);
    const counted =
      <In, Out>(send: (input: In) => Out) =>
      (input: In): Out => {
        sent++;
        return send(input);
      };
    const counting = {
      lease: counted(store.lease),
      returnTokens: counted(store.returnTokens),
      requestReturns: counted(store.requestReturns),
    };
    const limiter = new RateLimiter(limit, counting, listener, options);
    listeners.push(listener);
    await startListener(listener);
    return { limiter, listener, statements: () => sent };
  }

  const processes = (count: number, limit: number) =>
    Promise.all(Array.from({ length: count }, () => startProcess(limit)));

  /** The process that gets request n. */
  async function oneByOne(
    all: Process[],
    project: string,
    requests: number,
    to: (n: number) => number,
  ): Promise<number> {
    let passed = 0;
    for (let n = 0; n < requests; n++) if ((await all[to(n)]?.limiter.take(project, 'public'))?.allowed) passed++;
    return passed;
  }

  async function together(all: Process[], project: string, each: number): Promise<number> {
    const decisions = await Promise.all(
      all.flatMap(({ limiter }) => Array.from({ length: each }, () => limiter.take(project, 'public'))),
    );
    return decisions.filter(({ allowed }) => allowed).length;
  }

  for (const count of [1, 2, 3])
    for (const limit of [1, 7, 100, 1000]) {
      it(`allows exactly ${limit} requests in round-robin over ${count} processes`, async () => {
        const all = await processes(count, limit);
        expect(await oneByOne(all, newId(), limit + 50, (n) => n % count)).to.equal(limit);
      });

      it(`allows exactly ${limit} requests of a burst over ${count} processes`, async () => {
        const all = await processes(count, limit);
        expect(await together(all, newId(), limit + 10)).to.equal(limit);
      });
    }

  it('allows exactly the limit when one process gets 60 and the other the rest', async () => {
    const all = await processes(2, 1000);
    expect(await oneByOne(all, newId(), 1100, (n) => (n < 60 ? 0 : 1))).to.equal(1000);
  });

  it('allows exactly the limit when three processes get a few each and one a burst', async () => {
    const all = await processes(3, 300);
    const project = newId();
    const first = await oneByOne(all, project, 9, (n) => n % 3);
    const rest = await together(all.slice(2), project, 500);
    expect(first + rest).to.equal(300);
  });

  it('allows exactly the limit in repeated bursts', async () => {
    const all = await processes(3, 500);
    const project = newId();
    let passed = 0;
    for (let round = 0; round < 12; round++) passed += await together(all, project, 20);
    expect(passed).to.equal(500);
  });

  it('counts remaining down by one per request to 0 in a single process', async () => {
    const [{ limiter } = await startProcess(250)] = await processes(1, 250);
    const project = newId();
    const remaining: number[] = [];
    for (let n = 0; n < 250; n++) remaining.push((await limiter.take(project, 'public')).remaining);
    expect(remaining).to.deep.equal(Array.from({ length: 250 }, (_, n) => 249 - n));
    expect(await limiter.take(project, 'public')).to.include({ allowed: false, remaining: 0, limit: 250 });
  });

  it('counts remaining down by one in a burst', async () => {
    const { limiter } = await startProcess(1000);
    const project = newId();
    const decisions = await Promise.all(Array.from({ length: 40 }, () => limiter.take(project, 'public')));
    expect(decisions.map(({ remaining }) => remaining)).to.deep.equal(Array.from({ length: 40 }, (_, n) => 999 - n));
  });

  it('queries the database for few of a thousand requests', async () => {
    const { limiter, statements } = await startProcess(100_000);
    const project = newId();
    for (let n = 0; n < 1000; n++) await limiter.take(project, 'public');
    expect(statements()).to.be.at.most(10);
  });

  it('queries the database about fifty times up to a limit of a thousand, and never beyond it', async () => {
    const { limiter, statements } = await startProcess(1000);
    const project = newId();
    for (let n = 0; n < 1001; n++) await limiter.take(project, 'public');
    const reached = statements();
    expect(reached).to.be.at.most(60);
    for (let n = 0; n < 500; n++) expect((await limiter.take(project, 'public')).allowed).to.equal(false);
    expect(statements()).to.equal(reached);
  });

  it('refuses from memory in every process once all tokens are spent', async () => {
    const all = await processes(2, 100);
    const project = newId();
    await oneByOne(all, project, 110, (n) => n % 2);
    const reached = all.map(({ statements }) => statements());
    await oneByOne(all, project, 100, (n) => n % 2);
    expect(all.map(({ statements }) => statements())).to.deep.equal(reached);
  });

  it('limits projects separately', async () => {
    const { limiter } = await startProcess(2);
    const one = newId();
    const other = newId();
    for (let n = 0; n < 3; n++) await limiter.take(one, 'public');
    expect((await limiter.take(one, 'public')).allowed).to.equal(false);
    expect(await limiter.take(other, 'public')).to.include({ allowed: true, remaining: 1 });
  });

  it('opens a new window in all processes with the first request after the old one', async () => {
    const project = newId();
    await (await startProcess(50)).limiter.take(project, 'public');
    const all = await processes(2, 50);
    const { limiter } = all[0] as Process;
    // 49 of the old window, some of them leased in advance.
    expect(await oneByOne(all, project, 60, (n) => n % 2)).to.equal(49);
    expect(await limiter.take(project, 'public')).to.include({ allowed: false });
    await passMinute(project);
    const first = await limiter.take(project, 'public');
    expect(first).to.include({ allowed: true, remaining: 49, limit: 50 });
    expect(first.resetSeconds).to.equal(60);
    expect(await oneByOne(all, project, 60, (n) => n % 2)).to.equal(49);
  });

  it('spends no tokens of an old window in the new one', async () => {
    const project = newId();
    const { limiter } = await startProcess(1000);
    expect((await limiter.take(project, 'public')).allowed).to.equal(true);
    expect(await granted(project), 'with some in hand').to.be.above(50);
    await passMinute(project);
    const other = await startProcess(1000);
    await other.limiter.take(project, 'public');
    expect(await oneByOne([other, { ...other, limiter }], project, 1100, (n) => n % 2)).to.equal(999);
  });

  it('reports the remaining seconds of the window, at least one', async () => {
    const project = newId();
    await (await startProcess(5)).limiter.take(project, 'public');
    await makeOlder(project, 40);
    const { resetSeconds } = await (await startProcess(5)).limiter.take(project, 'public');
    expect(resetSeconds).to.be.within(1, 20);
    await makeOlder(project, 19.9);
    expect((await (await startProcess(5)).limiter.take(project, 'public')).resetSeconds).to.be.at.least(1);
  });

  it('leases one token at a time while no notifications arrive', async () => {
    const deaf = patientListener(database.url);
    const limiter = new RateLimiter(1000, rateStore(database.db), deaf);
    const project = newId();
    for (let n = 0; n < 5; n++) expect((await limiter.take(project, 'public')).remaining).to.equal(999 - n);
    expect(await granted(project)).to.equal(5);
  });

  it('returns its tokens when the listening connection is cut', async () => {
    const { limiter } = await startProcess(1000);
    const project = newId();
    await limiter.take(project, 'public');
    await breakConnectionsOf(database.db, 'everpost-listener');
    await eventually(async () => (await granted(project)) === 1, { what: 'the tokens to come back' });
  });

  it('allows nothing while the database is unavailable, and recovers', async () => {
    const { listener } = await startProcess(10);
    const store = rateStore(database.db);
    let unavailable = true;
    const flaky: RateStore = {
      ...store,
      lease: async (request) => {
        if (unavailable) throw new Error('unavailable');
        return store.lease(request);
      },
    };
    const limiter = new RateLimiter(10, flaky, listener);
    const project = newId();
    const failed = await Promise.allSettled([
      limiter.take(project, 'public'),
      limiter.take(project, 'public'),
      limiter.take(project, 'public'),
    ]);
    expect(failed.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected', 'rejected']);
    unavailable = false;
    expect(await limiter.take(project, 'public')).to.include({ allowed: true, remaining: 9 });
  });

  const makeOlder = (project: string, seconds: number) =>
    database
      .db('rate_windows')
      .where({ project_id: project })
      .update({
        opened_at: database.db.raw(`opened_at - make_interval(secs => ?)`, [seconds]),
      });

  /** Lets the window end in the database and in all processes. */
  const passMinute = async (project: string): Promise<void> => {
    await makeOlder(project, 61);
    now += 61_000;
  };

  const granted = async (project: string): Promise<number> =>
    (await database.db('rate_windows').where({ project_id: project }).first()).granted;
});
