import { expect } from 'chai';
import { inTransaction, wake } from '../../db/connect.ts';
import { Listener } from '../../db/listener.ts';
import { createLogger } from '../../platform/logger.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { breakConnectionsOf } from '../support/rows/tables.ts';
import { eventually } from '../support/waiting.ts';

const log = createLogger('test', 'silent');

describe('listening for notifications', () => {
  let database: ConnectedDatabase;
  let listener: Listener;
  let received: string[];
  let resets: number;

  beforeEach(async () => {
    database = await connectTestDatabase();
    received = [];
    resets = 0;
    listener = new Listener({ databaseUrl: database.url, log });
    listener.on('everpost_wake', (payload) => received.push(payload));
    listener.onReset(() => resets++);
    await listener.start();
  });
  afterEach(async () => {
    await listener.stop();
    await database.close();
  });

  it('is healthy while the connection answers heartbeats', async () => {
    await eventually(() => listener.healthy);
  });

  it('resets and reconnects when the connection is lost', async () => {
    const before = resets;
    await breakConnectionsOf(database.db, 'everpost-listener');
    await eventually(() => resets > before);
    await eventually(() => listener.healthy);
    wake(database.db, 'mail');
    await eventually(() => received.length > 0);
    expect(received).to.deep.equal(['mail']);
  });

  it('notifies after the commit of a transaction, and not after a rollback', async () => {
    await inTransaction(database.db, async (trx) => {
      wake(trx, 'control');
      await trx.raw('select pg_sleep(0.1)');
      expect(received).to.deep.equal([]);
    });
    await eventually(() => received.length > 0);
    expect(received).to.deep.equal(['control']);
    await inTransaction(database.db, async (trx) => {
      wake(trx, 'starts');
      throw new Error('roll back');
    }).catch(() => {});
    wake(database.db, 'events');
    await eventually(() => received.length > 1);
    expect(received).to.deep.equal(['control', 'events']);
  });

  it('coalesces 500 wake-ups into fewer than 5 notifications', async () => {
    for (let n = 0; n < 500; n++) wake(database.db, n % 2 ? 'mail' : 'starts');
    await eventually(() => received.join().includes('mail') && received.join().includes('starts'));
    expect(received.length).to.be.lessThan(5);
  });
});
