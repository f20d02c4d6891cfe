import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { newId } from '../../platform/ids.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';

describe('domain names in the database', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let projects: TestProject[];

  before(async () => {
    database = await connectTestDatabase();
    ({ db } = database);
    projects = [await makeProject(db), await makeProject(db), await makeProject(db)];
  });
  after(() => database.close());

  const add = (domain: string, index: number, columns: object = {}) =>
    db('domains').insert({ id: newId(), projectId: projects[index]?.id, domain, ...columns });

  it('rejects a second project that verifies the same name', async () => {
    await add('single.example', 0, { status: 'VERIFIED' });
    await add('single.example', 1);
    const second = await db('domains')
      .where({ domain: 'single.example' })
      .update({ status: 'VERIFIED' })
      .catch((error: Error) => error);
    expect(String(second)).to.include('domains_verified');
  });
});
