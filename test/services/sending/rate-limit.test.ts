import { expect } from 'chai';
import type { Db } from '../../../db/connect.ts';
import { RateLimit } from '../../../services/sending/rate-limit.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../../support/connected-database.ts';
import { emptyTables } from '../../support/rows/tables.ts';
import { eventually } from '../../support/waiting.ts';

describe('rate limit', () => {
  let database: ConnectedDatabase;
  let db: Db;

  before(async () => {
    database = await connectTestDatabase();
    db = database.db;
  });
  after(() => database.close());
  beforeEach(() => emptyTables(db, 'send_rates'));

  const limit = (perSecond: number, key = 'all') => new RateLimit(db, key, perSecond);

  /** Returns the sorted times at which concurrent workers were allowed to send. */
  const sendTimes = async (workers: RateLimit[], each: number): Promise<number[]> => {
    const at: number[] = [];
    const sendAll = async (worker: RateLimit) => {
      for (let n = 0; n < each; n++) {
        await worker.next(each - n);
        at.push(performance.now());
      }
    };
    await Promise.all(workers.map(sendAll));
    return at.sort((a, b) => a - b);
  };

  it('is enforced over several workers', async () => {
    const rate = 50;
    const started = performance.now();
    const workers = [1, 2, 3].map(() => limit(rate));
    const at = await sendTimes(workers, 20);
    expect(at).to.have.length(60);
    // Places are 20 ms apart; a mail may be late but never early.
    at.forEach((time, n) => {
      expect(time - started).to.be.at.least((n / rate) * 1_000 - 25);
    });
  });

  it('is enforced when it is asked without waiting', async () => {
    const rate = 100;
    const started = performance.now();
    const workers = [1, 2].map(() => limit(rate, 'domain/example.com'));
    const at: number[] = [];
    await eventually(
      () => {
        for (const worker of workers)
          if (worker.delay() === 0) {
            worker.take();
            at.push(performance.now());
          }
        return at.length >= 20;
      },
      { what: '20 places' },
    );
    at.forEach((time, n) => {
      expect(time - started).to.be.at.least((n / rate) * 1_000 - 25);
    });
  });

  it('reserves a separate place for each worker on one shared timeline', async () => {
    const first = limit(1 / 3_600);
    const second = limit(1 / 3_600);
    await first.next();
    await eventually(() => second.delay() > 1_000, { what: "the second worker's place" });
    expect(second.delay()).to.be.within(3_500_000, 3_600_000);
    expect(await db('send_rates')).to.have.length(1);
  });

  it('has a timeline for each key', async () => {
    // With one timeline, the second would wait for an hour.
    await limit(1 / 3_600, 'relay/a.example:25').next();
    await limit(1 / 3_600, 'relay/b.example:25').next();
    expect(await db('send_rates').pluck('key')).to.have.members(['relay/a.example:25', 'relay/b.example:25']);
  });

  it('names the time until the next place', async () => {
    const hourly = limit(1 / 3_600);
    await hourly.next();
    await eventually(() => hourly.delay() > 1_000, { what: 'the next place' });
    expect(hourly.delay()).to.be.within(3_500_000, 3_600_000);
    expect(hourly.estimate()).to.be.within(3_500_000, 3_600_000);
  });

  it('reserves nothing for an estimate', async () => {
    expect(limit(10).estimate()).to.equal(0);
    expect(await db('send_rates')).to.deep.equal([]);
  });

  it('reserves one place for one mail', async () => {
    await limit(1 / 3_600).next(1);
    const [row] = await db('send_rates').select(db.raw("next_at < now() + interval '1 hour' as one"));
    expect(row).to.deep.equal({ one: true });
  });

  it('does not save up unused places after an idle hour', async () => {
    await db('send_rates').insert({ key: 'all', nextAt: new Date(Date.now() - 3_600_000) });
    const started = performance.now();
    await sendTimes([limit(20)], 11);
    expect(performance.now() - started).to.be.at.least(450);
  });

  it('retries while the database is unavailable', async () => {
    let failures = 2;
    const flaky = new Proxy(db, {
      get: (target, name, receiver) => {
        if (name === 'client' && failures-- > 0) throw new Error('the database is unavailable');
        return Reflect.get(target, name, receiver);
      },
    });
    await new RateLimit(flaky, 'all', 1_000).next(1);
    expect(failures).to.be.below(0);
  });
});
