import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import * as domainNames from '../../db/migrations/032-domain-names.ts';
import * as resetAndHeaders from '../../db/migrations/033-reset-and-headers.ts';
import { newId } from '../../platform/ids.ts';
import { makeProject, openWorld, type TestProject, type World } from '../support/world.ts';

describe('the migrations of domain names and of what a reset keeps', () => {
  let world: World;
  let db: Db;
  let projects: TestProject[];

  before(async () => {
    world = await openWorld();
    ({ db } = world);
    projects = [await makeProject(db), await makeProject(db), await makeProject(db)];
  });
  after(() => world.close());

  const add = (domain: string, place: number, columns: object = {}) =>
    db('domains').insert({ id: newId(), projectId: projects[place]?.id, domain, ...columns });

  it('keep the verified or the oldest row of a name on the way back, and learn which were verified before', async () => {
    await add('contested.example', 0);
    await add('contested.example', 1, { status: 'VERIFIED' });
    await add('pending.example', 0, { createdAt: '2020-01-02' });
    await add('pending.example', 1, { createdAt: '2020-01-01', updatedAt: '2020-01-01' });
    await add('lost.example', 2, { createdAt: '2020-01-01', updatedAt: '2020-05-05' });
    await resetAndHeaders.down(db);
    await domainNames.down(db);
    const kept = await db('domains').whereIn('domain', ['contested.example', 'pending.example']).orderBy('domain');
    expect(kept.map(({ domain, projectId }) => [domain, projectId])).to.deep.equal([
      ['contested.example', projects[1]?.id],
      ['pending.example', projects[1]?.id],
    ]);
    await domainNames.up(db);
    await resetAndHeaders.up(db);
    const never = await db('domains').where({ everVerified: false }).pluck('domain');
    expect(never).to.deep.equal(['pending.example']);
  });

  it('let a name be verified by one project only, whichever way it is written', async () => {
    await add('single.example', 0, { status: 'VERIFIED' });
    await add('single.example', 1);
    const second = await db('domains')
      .where({ domain: 'single.example' })
      .update({ status: 'VERIFIED' })
      .catch((error: Error) => error);
    expect(String(second)).to.include('domains_verified');
  });
});
