import { expect } from 'chai';
import { limitStatements, withStatementTimeout } from '../../db/bounds.ts';
import { connectDb, type Db, inTransaction } from '../../db/connect.ts';
import { Listener } from '../../db/listener.ts';
import { PinnedConnection } from '../../db/pinned-connection.ts';
import { statement } from '../../db/statement.ts';
import { isDatabaseUnavailable, isOutcomeUnknown, isStatementTimeout } from '../../platform/database-errors.ts';
import { createLogger } from '../../platform/logger.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts';
import { eventually } from '../support/waiting.ts';

const one = statement<{ one: number }>('silence-one', 'select 1 as one');

describe('waiting for Postgres', () => {
  let database: ConnectedDatabase;
  let proxy: PostgresProxy;
  let db: Db;

  beforeEach(async () => {
    database = await connectTestDatabase();
    proxy = await startPostgresProxy(database.url);
    const timeouts = { statementMs: 1_500, idleInTransactionMs: 3_000 };
    db = connectDb({ databaseUrl: proxy.url, poolSize: 3, timeouts });
  });
  afterEach(async () => {
    await db.destroy();
    await proxy.close();
    await database.close();
  });

  const errorOf = (work: PromiseLike<unknown>) =>
    Promise.resolve(work).then(
      () => undefined,
      (error: unknown) => error,
    );

  it('fails statements on silent connections and opens new ones, pooled, pinned and in a transaction', async () => {
    const pinned = new PinnedConnection(db);
    await pinned.take();
    await Promise.all([one(pinned, []), db.raw('select 1'), one(db, [])]);
    const trx = await db.transaction();
    await trx.raw('select 1');
    proxy.silence();
    const errors = await Promise.all([errorOf(trx.raw('select 2')), errorOf(one(pinned, [])), errorOf(one(db, []))]);
    await errorOf(trx.rollback());
    for (const error of errors) expect(isDatabaseUnavailable(error), String(error)).to.equal(true);
    pinned.release();
    await pinned.take();
    expect(await one(pinned, [])).to.deep.equal([{ one: 1 }]);
    pinned.release();
    expect(await one(db, [])).to.deep.equal([{ one: 1 }]);
    expect(await inTransaction(db, (trx) => one(trx, []))).to.deep.equal([{ one: 1 }]);
  });

  it('replaces the idle connections of the pool once one is silent', async () => {
    await Promise.all([
      db.raw('select pg_sleep(0.05)'),
      db.raw('select pg_sleep(0.05)'),
      db.raw('select pg_sleep(0.05)'),
    ]);
    proxy.silence();
    expect(isOutcomeUnknown(await errorOf(one(db, [])))).to.equal(true);
    for (let n = 0; n < 3; n++) expect(await one(db, [])).to.deep.equal([{ one: 1 }]);
  });

  it('cancels a slow statement with 57014 unless its transaction has a longer limit', async () => {
    const slow = (trx: Db) => trx.raw('select pg_sleep(2)');
    expect(isStatementTimeout(await errorOf(slow(db)))).to.equal(true);
    expect(isStatementTimeout(await errorOf(inTransaction(db, slow)))).to.equal(true);
    await inTransaction(withStatementTimeout(db, 60_000), slow);
    const withRestoredLimit = inTransaction(db, async (trx) => {
      await limitStatements(trx, 60_000);
      await slow(trx);
      await limitStatements(trx, 'default');
      await slow(trx);
    });
    expect(isStatementTimeout(await errorOf(withRestoredLimit))).to.equal(true);
    expect(isStatementTimeout(await errorOf(slow(db)))).to.equal(true);
  });

  it('ends a transaction that stays idle', async () => {
    const trx = await db.transaction();
    await trx.raw('create temporary table open_table (n integer)');
    await eventually(
      async () => {
        const open = await database
          .db('pg_stat_activity')
          .where({ application_name: 'everpost', state: 'idle in transaction' });
        return open.length === 0;
      },
      { what: 'the end of the transaction' },
    );
    expect(isDatabaseUnavailable(await errorOf(trx.raw('select 1')))).to.equal(true);
    await errorOf(trx.rollback());
    expect(await one(db, [])).to.deep.equal([{ one: 1 }]);
  });

  it('reconnects the listener and receives later notifications', async () => {
    const received: string[] = [];
    const listener = new Listener({ databaseUrl: proxy.url, log: createLogger('test', 'silent') });
    listener.on('everpost_wake', (payload) => received.push(payload));
    let resets = 0;
    listener.onReset(() => resets++);
    await listener.start();
    await eventually(() => listener.healthy, { what: 'a connection' });
    const connected = resets;
    proxy.silence();
    await eventually(() => resets > connected, { what: 'the loss to be detected' });
    await eventually(() => listener.healthy, { what: 'a new connection' });
    await database.db.raw("select pg_notify('everpost_wake', 'mail')");
    await eventually(() => received.includes('mail'));
    proxy.silence();
    await listener.stop();
  });
});
