import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { SendRateLimit } from '../../services/emails/send-rate.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';

describe('the send rate', () => {
  let database: ConnectedDatabase;
  let db: Db;

  before(async () => {
    database = await connectTestDatabase();
    db = database.db;
  });
  after(() => database.close());
  beforeEach(() => db.raw('truncate send_rate'));

  /** Returns the sorted times at which concurrent workers were allowed to send. */
  const sendTimes = async (workers: SendRateLimit[], each: number): Promise<number[]> => {
    const at: number[] = [];
    const sendAll = async (worker: SendRateLimit) => {
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
    const workers = [1, 2, 3].map(() => new SendRateLimit(db, rate));
    const at = await sendTimes(workers, 20);
    expect(at).to.have.length(60);
    // Slots are 20 ms apart; a mail may be late but never early.
    at.forEach((time, n) => {
      expect(time - started).to.be.at.least((n / rate) * 1_000 - 25);
    });
  });

  it('reserves a separate slot for each worker on one shared timeline', async () => {
    await Promise.all([new SendRateLimit(db, 10).next(1), new SendRateLimit(db, 10).next(1)]);
    const [row] = await db('send_rate').select(db.raw('next_at > now() as ahead'));
    expect(row).to.deep.equal({ ahead: true });
    expect(await db('send_rate')).to.have.length(1);
  });

  it('does not save up unused slots after an idle hour', async () => {
    await db('send_rate').insert({ nextAt: new Date(Date.now() - 3_600_000) });
    const started = performance.now();
    await sendTimes([new SendRateLimit(db, 20)], 11);
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
    await new SendRateLimit(flaky, 1_000).next(1);
    expect(failures).to.be.below(0);
  });
});
