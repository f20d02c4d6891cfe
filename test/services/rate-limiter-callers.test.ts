import { expect } from 'chai';
import fc from 'fast-check';
import type { Listener } from '../../db/listener.ts';
import { newId } from '../../platform/ids.ts';
import {
  type RateCaller,
  type RateDecision,
  RateLimiter,
  type RateStore,
  rateStore,
} from '../../services/access/rate-limiter.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { patientListener, startListener } from '../support/listeners.ts';

/** The specified rule: what passes next, given what has passed. */
class Model {
  private passed: Record<RateCaller, number> = { public: 0, secret: 0, session: 0 };
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  take(caller: RateCaller): boolean {
    const { public: open, secret, session } = this.passed;
    const allowed = {
      public: open + secret < this.limit,
      secret: secret < this.limit && open + secret < 1.2 * this.limit,
      session: session < this.limit,
    }[caller];
    if (allowed) this.passed[caller]++;
    return allowed;
  }
}

describe('rate limit of public key, secret key and sessions', () => {
  let database: ConnectedDatabase;
  const listeners: Listener[] = [];

  before(async () => {
    database = await connectTestDatabase();
  });
  afterEach(() => stopAll());
  after(() => database.close());

  const stopAll = () => Promise.all(listeners.splice(0).map((listener) => listener.stop()));

  /** Processes wait for the tokens of others for an hour, however slow the machine is. */
  const startProcesses = (
    limit: number,
    count: number,
    { store = rateStore(database.db), maxWaitMs = 3_600_000 } = {},
  ): Promise<RateLimiter[]> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const listener = patientListener(database.url);
        listeners.push(listener);
        const limiter = new RateLimiter(limit, store, listener, { maxWaitMs });
        await startListener(listener);
        return limiter;
      }),
    );

  const take = async (limiters: RateLimiter[], project: string, caller: RateCaller, n = 0): Promise<RateDecision> => {
    const limiter = limiters[n % limiters.length];
    if (!limiter) throw new Error('there is no such process');
    return limiter.take(project, caller);
  };

  /** Sends all calls concurrently, spread over the processes, and counts those that pass. */
  const burst = async (limiters: RateLimiter[], project: string, callers: RateCaller[]) => {
    const decisions = await Promise.all(callers.map((caller, n) => take(limiters, project, caller, n)));
    const passed = (wanted: RateCaller) =>
      decisions.filter(({ allowed }, n) => allowed && callers[n] === wanted).length;
    return { public: passed('public'), secret: passed('secret'), session: passed('session') };
  };

  const calls = (caller: RateCaller, count: number): RateCaller[] => Array.from({ length: count }, () => caller);

  it('decides every call of a random sequence over up to three processes like the rule', async () => {
    const call = fc.tuple(
      fc.constantFrom<RateCaller>('public', 'secret', 'session'),
      fc.nat({ max: 2 }),
      fc.integer({ min: 1, max: 25 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 150 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(call, { minLength: 1, maxLength: 25 }),
        async (limit, count, runs) => {
          const limiters = await startProcesses(limit, count);
          const model = new Model(limit);
          const project = newId();
          for (const [caller, process, times] of runs)
            for (let n = 0; n < times; n++) {
              const { allowed } = await take(limiters, project, caller, process);
              expect(allowed, `${caller} on ${process}`).to.equal(model.take(caller));
            }
          await stopAll();
        },
      ),
      { numRuns: 25 },
    );
  });

  it('allows as many calls as the rule in concurrent bursts', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.tuple(fc.nat({ max: 150 }), fc.nat({ max: 150 })), { minLength: 1, maxLength: 6 }),
        async (limit, count, bursts) => {
          const limiters = await startProcesses(limit, count);
          const project = newId();
          const ceiling = Math.ceil(1.2 * limit);
          let open = 0;
          let secret = 0;
          for (const [publicCalls, secretCalls] of bursts) {
            const passed = await burst(limiters, project, mixed(publicCalls, secretCalls));
            open += passed.public;
            secret += passed.secret;
            expect(open, 'public').to.be.at.most(limit);
            expect(secret, 'secret').to.be.at.most(limit);
            expect(open + secret, 'all').to.be.at.most(ceiling);
            if (passed.public < publicCalls) expect(open + secret, 'a public call was refused').to.be.at.least(limit);
            if (passed.secret < secretCalls)
              expect(secret === limit || open + secret === ceiling, 'a secret call was refused').to.equal(true);
          }
          await stopAll();
        },
      ),
      { numRuns: 20 },
    );
  });

  const mixed = (publicCalls: number, secretCalls: number): RateCaller[] =>
    Array.from({ length: publicCalls + secretCalls }, (_, n) =>
      n % 2 === 0 ? (n / 2 < publicCalls ? 'public' : 'secret') : (n - 1) / 2 < secretCalls ? 'secret' : 'public',
    );

  for (const count of [1, 2])
    it(`reserves 0.2 N for the secret key in a flood of public calls on ${count} process(es)`, async () => {
      const limiters = await startProcesses(1000, count);
      const project = newId();
      expect(await burst(limiters, project, calls('public', 3000))).to.include({ public: 1000 });
      expect(await burst(limiters, project, calls('secret', 400))).to.include({ secret: 200 });
      expect(await burst(limiters, project, calls('session', 1100))).to.include({ session: 1000 });
    });

  it('allows N secret calls and then refuses the public key', async () => {
    const limiters = await startProcesses(300, 2);
    const project = newId();
    expect(await burst(limiters, project, calls('secret', 500))).to.include({ secret: 300 });
    expect(await burst(limiters, project, calls('public', 10))).to.include({ public: 0 });
  });

  it('reports the limit with the fewest calls left', async () => {
    const limiters = await startProcesses(10, 1);
    const project = newId();
    expect(await take(limiters, project, 'secret')).to.include({ limit: 10, remaining: 9 });
    expect(await take(limiters, project, 'public')).to.include({ limit: 10, remaining: 8 });
    for (let n = 0; n < 7; n++) await take(limiters, project, 'public');
    expect(await take(limiters, project, 'public')).to.include({ allowed: true, limit: 10, remaining: 0 });
    expect(await take(limiters, project, 'public')).to.include({ allowed: false, limit: 10, remaining: 0 });
    expect(await take(limiters, project, 'secret')).to.include({ allowed: true, limit: 12, remaining: 1 });
    expect(await take(limiters, project, 'secret')).to.include({ allowed: true, limit: 12, remaining: 0 });
    expect(await take(limiters, project, 'secret')).to.include({ allowed: false, limit: 12, remaining: 0 });
    expect(await take(limiters, project, 'session')).to.include({ allowed: true, limit: 10, remaining: 9 });
  });

  it('counts remaining down by one over both keys in one process', async () => {
    const limiters = await startProcesses(1000, 1);
    const project = newId();
    const remaining: number[] = [];
    for (let n = 0; n < 300; n++) {
      await take(limiters, project, 'secret');
      remaining.push((await take(limiters, project, 'public')).remaining);
    }
    expect(remaining).to.deep.equal(Array.from({ length: 300 }, (_, n) => 998 - 2 * n));
  });

  it('decides secret calls from memory again after a flood of public calls has ended', async () => {
    const project = newId();
    let statements = 0;
    const store = rateStore(database.db);
    const lease: RateStore['lease'] = (request) => {
      statements++;
      return store.lease(request);
    };
    const limiters = await startProcesses(10_000, 1, { store: { ...store, lease } });
    await burst(limiters, project, calls('public', 10_100));
    statements = 0;
    for (let n = 0; n < 1000; n++) expect((await take(limiters, project, 'secret')).allowed).to.equal(true);
    expect(statements).to.be.at.most(25);
  });

  it('grants the reserve of the secret key when a process with public tokens never answers', async () => {
    const project = newId();
    const silent = { healthy: true, on: () => {}, onReset: () => {} };
    const dead = new RateLimiter(100, rateStore(database.db), silent);
    await dead.take(project, 'public');
    const limiters = await startProcesses(100, 1, { maxWaitMs: 500 });
    await burst(limiters, project, calls('public', 200));
    expect(await burst(limiters, project, calls('secret', 50))).to.include({ secret: 20 });
  });
});
