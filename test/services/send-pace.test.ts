import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { SendPace } from '../../services/emails/send-pace.ts';
import { openWorld, type World } from '../support/world.ts';

describe('the send rate', () => {
  let world: World;
  let db: Db;

  before(async () => {
    world = await openWorld();
    db = world.db;
  });
  after(() => world.close());
  beforeEach(() => db.raw('truncate send_rate'));

  /** When each of so many mails was given leave, by several workers at once. */
  const leaves = async (workers: SendPace[], each: number): Promise<number[]> => {
    const at: number[] = [];
    const lane = async (worker: SendPace) => {
      for (let n = 0; n < each; n++) {
        await worker.next(each - n);
        at.push(performance.now());
      }
    };
    await Promise.all(workers.map(lane));
    return at.sort((a, b) => a - b);
  };

  it('is kept by several workers together', async () => {
    const rate = 50;
    const started = performance.now();
    const workers = [1, 2, 3].map(() => new SendPace(db, rate));
    const at = await leaves(workers, 20);
    expect(at).to.have.length(60);
    // Places are 20 ms apart: however late anybody was, nobody was early.
    at.forEach((time, n) => {
      expect(time - started).to.be.at.least((n / rate) * 1_000 - 25);
    });
  });

  it('gives out one line of time: every mail has a place of its own on it', async () => {
    await Promise.all([new SendPace(db, 10).next(1), new SendPace(db, 10).next(1)]);
    const [row] = await db('send_rate').select(db.raw('next_at > now() as ahead'));
    expect(row).to.deep.equal({ ahead: true });
    expect(await db('send_rate')).to.have.length(1);
  });

  it('saves nothing up: who has sent nothing for a while does not send the more', async () => {
    await db('send_rate').insert({ nextAt: new Date(Date.now() - 3_600_000) });
    const started = performance.now();
    await leaves([new SendPace(db, 20)], 11);
    expect(performance.now() - started).to.be.at.least(450);
  });

  it('waits for a database that is away', async () => {
    let failures = 2;
    const flaky = new Proxy(db, {
      get: (target, name, receiver) => {
        if (name === 'client' && failures-- > 0) throw new Error('the database is away');
        return Reflect.get(target, name, receiver);
      },
    });
    await new SendPace(flaky, 1_000).next(1);
    expect(failures).to.be.below(0);
  });
});
