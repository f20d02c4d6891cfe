import { expect } from 'chai';
import { openSqlWorld, type SqlWorld } from '../../support/database-functions.ts';

describe('database functions of the audit log', () => {
  let world: SqlWorld;

  before(async () => {
    world = await openSqlWorld();
  });
  beforeEach(() => world.renew());
  after(() => world.close());

  const errorOf = (sql: string) =>
    world.rows(sql).then(
      () => 'none',
      ({ message }: Error) => message,
    );

  describe('refuse_audit_change', () => {
    it('refuses UPDATE, DELETE and TRUNCATE, in every partition', async () => {
      await world.addAuditRow();
      await world.addAuditRow({ at: '2040-01-01T00:00:00Z' });
      for (const sql of ["update audit_log set action = 'x'", 'delete from audit_log', 'truncate audit_log'])
        expect(await errorOf(sql)).to.include('the audit log is append-only');
      const partitions = await world.rows('select distinct tableoid::regclass::text as name from audit_log');
      expect(partitions).to.have.length(2);
      for (const { name } of partitions) {
        expect(await errorOf(`update ${name} set action = 'x'`)).to.include('append-only: UPDATE');
        expect(await errorOf(`delete from ${name}`)).to.include('append-only: DELETE');
      }
      expect(
        await world.value('select count(*)::integer from audit_log where project_id = ?', [world.projectId]),
      ).to.equal(2);
    });
  });
});
