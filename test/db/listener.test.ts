import { expect } from 'chai';
import { inTransaction, wake } from '../../db/connect.ts';
import { Listener } from '../../db/listener.ts';
import { createLogger } from '../../platform/logger.ts';
import { eventually } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

const log = createLogger('test', 'silent');

describe('listening for notices', () => {
  let world: World;
  let listener: Listener;
  let heard: string[];
  let resets: number;

  beforeEach(async () => {
    world = await openWorld();
    heard = [];
    resets = 0;
    listener = new Listener({ databaseUrl: world.url, log });
    listener.on('everpost_wake', (payload) => heard.push(payload));
    listener.onReset(() => resets++);
    await listener.start();
  });
  afterEach(async () => {
    await listener.stop();
    await world.close();
  });

  const cutOff = () =>
    world.db.raw("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'everpost-listener'");

  it('is healthy while the connection beats', () => {
    expect(listener.healthy).to.equal(true);
  });

  it('is not healthy from the moment the connection is lost, and comes back by itself', async () => {
    const before = resets;
    await cutOff();
    await eventually(() => resets > before);
    await eventually(() => listener.healthy);
    wake(world.db, 'mail');
    await eventually(() => heard.length > 0);
    expect(heard).to.deep.equal(['mail']);
  });

  it('wakes once the transaction is committed, and not when it is rolled back', async () => {
    await inTransaction(world.db, async (trx) => {
      wake(trx, 'control');
      await trx.raw('select pg_sleep(0.1)');
      expect(heard).to.deep.equal([]);
    });
    await eventually(() => heard.length > 0);
    expect(heard).to.deep.equal(['control']);
    await inTransaction(world.db, async (trx) => {
      wake(trx, 'starts');
      throw new Error('roll back');
    }).catch(() => {});
    wake(world.db, 'events');
    await eventually(() => heard.length > 1);
    expect(heard).to.deep.equal(['control', 'events']);
  });

  it('folds many wake-ups into few notices', async () => {
    for (let n = 0; n < 500; n++) wake(world.db, n % 2 ? 'mail' : 'starts');
    await eventually(() => heard.join().includes('mail') && heard.join().includes('starts'));
    expect(heard.length).to.be.lessThan(5);
  });
});
