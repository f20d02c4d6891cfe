import { expect } from 'chai';
import { connectFunctionTestDatabase, type FunctionTestDatabase } from '../../support/database-functions.ts';

describe('database functions of the audit log', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  const errorOf = (sql: string) =>
    database.rows(sql).then(
      () => 'none',
      ({ message }: Error) => message,
    );

  describe('refuse_audit_change', () => {
    it('refuses UPDATE, DELETE and TRUNCATE, in every partition', async () => {
      await database.addAuditRow();
      await database.addAuditRow({ at: '2040-01-01T00:00:00Z' });
      for (const sql of ["update audit_log set action = 'x'", 'delete from audit_log', 'truncate audit_log'])
        expect(await errorOf(sql)).to.include('the audit log is append-only');
      const partitions = await database.rows('select distinct tableoid::regclass::text as name from audit_log');
      expect(partitions).to.have.length(2);
      for (const { name } of partitions) {
        expect(await errorOf(`update ${name} set action = 'x'`)).to.include('append-only: UPDATE');
        expect(await errorOf(`delete from ${name}`)).to.include('append-only: DELETE');
      }
      expect(
        await database.value('select count(*)::integer from audit_log where action = ? and project_id = ?', [
          'project.disabled',
          database.projectId,
        ]),
      ).to.equal(2);
    });
  });
});
