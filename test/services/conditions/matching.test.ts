import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { countMatching, matchingContacts, pageOfMatching } from '../../../services/conditions/matching.ts';
import { requireCondition } from '../../../services/conditions/parse.ts';
import { resolveCondition } from '../../../services/conditions/resolve.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../../support/connected-database.ts';
import { analyzeTables } from '../../support/rows/tables.ts';
import { tree } from './population.ts';

describe('pages of matching contacts', () => {
  let database: ConnectedDatabase;
  const projectId = newId();

  before(async () => {
    database = await connectTestDatabase();
    // The newest 12,000 are free, the 6,000 before them pro; every tenth is unsubscribed, and two share each timestamp.
    await database.db.raw(
      `insert into contacts (id, project_id, email, subscribed, data, created_at)
       select gen_random_uuid(), ?::uuid, 'user' || n || '@example.com', n % 10 > 0,
         jsonb_build_object('plan', case when n > 12000 then 'pro' else 'free' end, 'rare', n % 1000),
         now() - make_interval(secs => n / 2)
       from generate_series(1, 18000) n`,
      [projectId],
    );
    await analyzeTables(database.db, 'contacts');
  });
  after(() => database.close());

  const cases: [what: string, filter: object][] = [
    ['many, near the start', { field: 'data.plan', operator: 'equals', value: 'free' }],
    ['many, beyond the scan limit', { field: 'data.plan', operator: 'equals', value: 'pro' }],
    ['nearly all', { field: 'data.rare', operator: 'notEquals', value: 7 }],
    ['few', { field: 'data.rare', operator: 'equals', value: 7 }],
    ['none', { field: 'data.rare', operator: 'equals', value: -1 }],
  ];
  for (const [what, filter] of cases)
    it(`returns the correct pages when the matches are ${what}`, async () => {
      const resolved = await resolveCondition(database.db, projectId, requireCondition(tree(filter)));
      const matching = await matchingContacts(database.db, projectId, resolved);
      const expected = await database
        .db('contacts')
        .where({ projectId })
        .orderBy([
          { column: 'createdAt', order: 'desc' },
          { column: 'id', order: 'desc' },
        ])
        .then((rows) =>
          rows.filter(({ data }) => passes(data, filter as { field: string; operator: string; value: unknown })),
        );
      const total = await countMatching(database.db, matching);
      expect(total).to.equal(expected.length);
      for (const offset of [0, 20, Math.max(0, total - 10), total]) {
        const page = await pageOfMatching(database.db, matching, { total, offset, limit: 20 });
        expect(page.map(({ id }) => id)).to.deep.equal(expected.slice(offset, offset + 20).map(({ id }) => id));
      }
    });

  const passes = (
    data: Record<string, unknown>,
    { field, operator, value }: { field: string; operator: string; value: unknown },
  ) => (data[field.slice('data.'.length)] === value) === (operator === 'equals');
});
