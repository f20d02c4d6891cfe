import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { heavyWork } from '../../services/access/heavy-work.ts';

/** The slots belong to a pool; nothing is read from it. */
const pool = (): Db => ({ client: { config: {} } }) as never;

describe('heavy work', () => {
  /** Calls that hold or wait for a slot until `end`. */
  function crowd(db: Db) {
    let end: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const calls: Promise<unknown>[] = [];
    const ask = (projectId: string, count: number) => {
      for (let n = 0; n < count; n++) calls.push(heavyWork(db, 'read', projectId, () => ended));
    };
    const finish = async () => {
      end();
      await Promise.all(calls);
    };
    return { ask, finish };
  }

  it('rejects a 101st call of a project at once with 429, and works on the others', async () => {
    const db = pool();
    const { ask, finish } = crowd(db);
    ask('one', 100);
    const refused = await heavyWork(db, 'read', 'one', async () => 'done').catch((error) => error);
    expect(refused).to.include({ status: 429 });
    const other = heavyWork(db, 'read', 'two', async () => 'done');
    await finish();
    expect(await other).to.equal('done');
  });

  it('rejects what is above the slots of a project while 400 calls wait', async () => {
    const db = pool();
    const { ask, finish } = crowd(db);
    for (const project of ['a', 'b', 'c', 'd']) ask(project, 100);
    const quiet = [1, 2, 3].map(() => heavyWork(db, 'read', 'quiet', async () => 'done'));
    const refused = await heavyWork(db, 'read', 'quiet', async () => 'done').catch((error) => error);
    expect(refused).to.include({ status: 429 });
    await finish();
    expect(await Promise.all(quiet)).to.deep.equal(['done', 'done', 'done']);
  });
});
