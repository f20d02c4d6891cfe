// Lists that are too long to be counted. See docs/decisions/list-totals.md.
import { expect } from 'chai';
import { sql } from '../../db/sql.ts';
import { countList, MAX_COUNTED } from '../../services/paging.ts';
import { type ApiProject, describeApi } from '../support/api.ts';

describeApi('long lists', (api) => {
  let project: ApiProject;

  before(async () => {
    project = await api.project();
  });

  const suppress = (from: number, to: number) =>
    api.db.raw(
      `insert into suppressions (id, project_id, address_hash, email, reason)
       select uuidv7(), ?, address_hash(?, 'user' || n || '@example.com'), 'user' || n || '@example.com', 'MANUAL'
       from generate_series(?::integer, ?::integer) n`,
      [project.id, project.id, from, to],
    );
  const list = async (query = '') => (await project.server.get(`/suppressions?limit=1${query}`)).body;

  it('are counted up to 20,000 rows, and estimated beyond', async () => {
    await suppress(1, MAX_COUNTED);
    const counted = await list();
    expect(counted).to.have.all.keys('data', 'cursor', 'hasMore', 'total');
    expect(counted.total).to.equal(MAX_COUNTED);
    await suppress(MAX_COUNTED + 1, MAX_COUNTED + 10_000);
    await api.db.raw('analyze suppressions');
    const estimated = await list();
    expect(estimated).to.include({ totalEstimated: true, hasMore: true });
    // The planner looks at a sample of the table.
    expect(estimated.total).to.be.within(MAX_COUNTED + 1, MAX_COUNTED * 2);
    const next = await list(`&cursor=${encodeURIComponent(estimated.cursor)}`);
    expect(next).to.include({ total: 0 }).and.not.have.property('totalEstimated');
    expect(await list('&search=user29999@')).to.include({ total: 1 });
    expect(await list('&search=USER2999')).to.include({ total: 11 });
  });

  for (const [text, found] of [
    ['100%', ['100%@example.com']],
    ['a_b', ['a_b@example.com']],
    ['\\', ['back\\slash@example.com']],
  ] as const)
    it(`are searched for ${text} as it is written`, async () => {
      const emails = [
        '100%@example.com',
        '1000@example.com',
        'a_b@example.com',
        'axb@example.com',
        'back\\slash@example.com',
      ];
      const other = await api.project();
      for (const email of emails)
        await api.db.raw(
          `insert into suppressions (id, project_id, address_hash, email, reason)
           values (uuidv7(), :id, address_hash(:id, :email), :email, 'MANUAL')`,
          { id: other.id, email },
        );
      const { data } = (await other.server.get(`/suppressions?search=${encodeURIComponent(text)}`)).body;
      expect(data.map(({ email }: { email: string }) => email)).to.deep.equal(found);
    });

  it('never show fewer rows than were counted', async () => {
    const above = (least: number) => sql`select n from generate_series(1, 100) n where n > ${least}`;
    expect(await countList(api.db, above(60), 40)).to.deep.equal({ total: 40 });
    const { total, totalEstimated } = await countList(api.db, above(59), 40);
    expect(totalEstimated).to.equal(true);
    expect(total).to.be.at.least(41);
  });
});
