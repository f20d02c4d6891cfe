import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { newId } from '../../platform/ids.ts';
import { makeProject, openWorld, type TestProject, type World } from '../support/world.ts';

describe('domain names in the database', () => {
  let world: World;
  let db: Db;
  let projects: TestProject[];

  before(async () => {
    world = await openWorld();
    ({ db } = world);
    projects = [await makeProject(db), await makeProject(db), await makeProject(db)];
  });
  after(() => world.close());

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
