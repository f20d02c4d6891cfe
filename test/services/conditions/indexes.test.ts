import { expect } from 'chai';
import { sql } from '../../../db/sql.ts';
import { queryRows } from '../../../db/statement.ts';
import { newId } from '../../../platform/ids.ts';
import { toSql } from '../../../services/conditions/evaluate.ts';
import { requireCondition } from '../../../services/conditions/parse.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../../support/connected-database.ts';
import { NOW, tree } from './population.ts';

interface Plan {
  'Node Type': string;
  'Index Name'?: string;
  Plans?: Plan[];
}

/** The name of the index on a partition. */
const EVENTS_CONDITION = /^events_\w+_project_id_name_contact_id_created_at_idx$/;

describe('indexes for conditions', () => {
  let database: ConnectedDatabase;
  const projectId = newId();

  before(async () => {
    database = await connectTestDatabase();
    await database.db.raw(
      `insert into contacts (id, project_id, email, subscribed, data)
       select gen_random_uuid(), ?::uuid, 'user' || n || '@example.com', true,
         jsonb_build_object('city', 'city' || n % 1000, 'seats', n % 1000, 'profile', jsonb_build_object('tier', n % 1000))
         || case when n % 1000 = 0 then '{"rare": true, "since": "2026-03-30T10:00:00Z"}' else '{}' end::jsonb
       from generate_series(1, 20000) n`,
      [projectId],
    );
    await database.db.raw(
      `insert into events (id, project_id, contact_id, name, created_at)
       select gen_random_uuid(), project_id, id, 'event' || n, now() - make_interval(days => n)
       from contacts, generate_series(1, 2) n where project_id = ?::uuid`,
      [projectId],
    );
    await database.db.raw('vacuum analyze contacts, events');
  });
  after(() => database.close());

  async function indexesOf(...filters: object[]): Promise<string[]> {
    const { condition } = requireCondition(tree(...filters));
    const matching = toSql(condition, { projectId, now: NOW, segments: new Map(), timeZone: 'UTC', context: {} });
    const [row] = await queryRows<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      database.db,
      sql`explain (format json) select count(*) from contacts c where c.project_id = ${projectId} and ${matching}`,
    );
    const found: string[] = [];
    const walk = (plan: Plan) => {
      if (plan['Index Name']) found.push(plan['Index Name'].replace(EVENTS_CONDITION, 'events_condition'));
      plan.Plans?.forEach(walk);
    };
    if (row) walk(row['QUERY PLAN'][0].Plan);
    return found;
  }

  const served: [what: string, index: string, filter: object][] = [
    ['equals text', 'contacts_data', { field: 'data.city', operator: 'equals', value: 'city7' }],
    ['equals a number', 'contacts_data', { field: 'data.seats', operator: 'equals', value: 7 }],
    ['equals, nested', 'contacts_data', { field: 'data.profile.tier', operator: 'equals', value: 7 }],
    ['equals under any name', 'contacts_data', { field: `data.'; drop`, operator: 'equals', value: 7 }],
    ['in', 'contacts_data', { field: 'data.city', operator: 'in', value: ['city7', 'city8', 'nowhere'] }],
    ['in, nested', 'contacts_data', { field: 'data.profile.tier', operator: 'in', value: [7, 8] }],
    ['equals a day', 'contacts_data_keys', { field: 'data.since', operator: 'equals', value: '2026-03-30' }],
    ['exists', 'contacts_data_keys', { field: 'data.rare', operator: 'exists' }],
    ['exists, nested', 'contacts_data_keys', { field: 'data.rare.inner', operator: 'exists' }],
    [
      'email equals',
      'contacts_project_id_email_key',
      { field: 'email', operator: 'equals', value: 'user7@example.com' },
    ],
  ];
  for (const [what, index, filter] of served)
    it(`${what} uses ${index}`, async () => {
      expect(await indexesOf(filter)).to.include(index);
    });

  it('event operators use the index on name and contact', async () => {
    const few = { field: 'data.city', operator: 'equals', value: 'city7' };
    for (const operator of ['triggered', 'notTriggered'])
      expect(await indexesOf(few, { field: 'event1', operator })).to.include('events_condition');
    const often = { field: 'event1', operator: 'triggered', count: 3 };
    expect(await indexesOf(few, often)).to.include('events_condition');
  });
});
