import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase } from '../../support/database-functions.ts';

describe('database functions of partitions', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  const floor = async (at: string | null) => (await database.value('select uuid_floor(?)', [at])) as string | null;

  describe('uuid_floor', () => {
    it('is the smallest UUIDv7 of its millisecond', async () => {
      expect(await floor('1970-01-01T00:00:00Z')).to.equal('00000000-0000-0000-0000-000000000000');
      expect(await floor('2026-11-15T12:00:00.123Z')).to.equal(
        `${Date.parse('2026-11-15T12:00:00.123Z')
          .toString(16)
          .padStart(12, '0')
          .replace(/(.{8})(.{4})/, '$1-$2')}-0000-0000-000000000000`,
      );
      expect(await floor('2026-11-15T12:00:00.1239Z')).to.equal(await floor('2026-11-15T12:00:00.123Z'));
      expect(await floor(null)).to.equal(null);
    });

    it('separates the ids made before a moment from those made after it', async () => {
      const before = newId();
      const now = (await floor(new Date(Date.now() + 5000).toISOString())) ?? '';
      expect(before < now).to.equal(true);
      expect(newId() > ((await floor(new Date(Date.now() - 5000).toISOString())) ?? '')).to.equal(true);
    });
  });

  describe('add_month_partition', () => {
    const add = (table: string, month: string) => database.value('select add_month_partition(?, ?)', [table, month]);
    const partitionsOf = (table: string, column: string) =>
      database.rows(
        `select tableoid::regclass::text as partition, count(*)::integer as rows from ${table}
         where project_id = ? group by 1, ${column} order by ${column}`,
        [database.projectId],
      );

    it('moves the events of the month out of the default partition, by UTC', async () => {
      const times = [
        '2031-01-31T23:59:59.999Z',
        '2031-02-01T00:00:00.000Z',
        '2031-02-28T23:59:59.999Z',
        '2031-03-01T00:00:00.000Z',
      ];
      for (const createdAt of times)
        await database
          .db('events')
          .insert({ id: newId(), projectId: database.projectId, contactId: newId(), name: 'later', createdAt });
      expect(await add('events', '2031-02-01')).to.equal(true);
      expect(await partitionsOf('events', 'created_at')).to.deep.equal([
        { partition: 'events_default', rows: 1 },
        { partition: 'events_2031_02', rows: 1 },
        { partition: 'events_2031_02', rows: 1 },
        { partition: 'events_default', rows: 1 },
      ]);
    });

    it('moves contents by the time in the id of their mail, and takes later ones', async () => {
      const addContent = async (at: string) =>
        database.db('emailContents').insert({
          emailId: await floor(at),
          projectId: database.projectId,
          toEmail: 'ada@example.com',
          fromEmail: 'news@example.com',
          subject: 'Hello',
          bodyId: await floor(at),
        });
      await addContent('2031-02-01T00:00:00Z');
      await addContent('2031-03-01T00:00:00Z');
      expect(await add('email_contents', '2031-02-01')).to.equal(true);
      await addContent('2031-02-28T23:59:59.999Z');
      expect(await partitionsOf('email_contents', 'email_id')).to.deep.equal([
        { partition: 'email_contents_2031_02', rows: 1 },
        { partition: 'email_contents_2031_02', rows: 1 },
        { partition: 'email_contents_default', rows: 1 },
      ]);
    });

    it('moves rows of the audit log, whose default partition refuses deletions afterwards', async () => {
      for (const at of ['2031-02-28T23:59:59.999Z', '2031-03-01T00:00:00Z']) await database.addAuditRow({ at });
      expect(await add('audit_log', '2031-02-01')).to.equal(true);
      // The first row is that of the project's creation.
      expect((await partitionsOf('audit_log', 'at')).slice(1)).to.deep.equal([
        { partition: 'audit_log_2031_02', rows: 1 },
        { partition: 'audit_log_default', rows: 1 },
      ]);
      for (const table of ['audit_log_2031_02', 'audit_log_default'])
        expect(await database.rows(`delete from ${table}`).catch(({ message }: Error) => message)).to.include(
          'append-only',
        );
    });

    it('returns false when the partition exists, also when two processes add it at once', async () => {
      expect(await Promise.all([add('events', '2031-05-01'), add('events', '2031-05-01')])).to.have.members([
        true,
        false,
      ]);
      expect(await add('events', '2031-05-01')).to.equal(false);
    });

    it('gives the partition all indexes of the table', async () => {
      await add('events', '2031-06-01');
      const indexes = (table: string) =>
        database.value('select count(*)::integer from pg_indexes where tablename = ?', [table]);
      expect(await indexes('events_2031_06')).to.equal(await indexes('events'));
    });
  });

  describe('add_week_partition', () => {
    const add = (monday: string) => database.value('select add_week_partition(?, ?)', ['webhook_events', monday]);

    it('moves the rows of the week out of the default partition, by UTC', async () => {
      for (const createdAt of [
        '2031-02-02T23:59:59.999Z',
        '2031-02-03T00:00:00Z',
        '2031-02-09T23:59:59.999Z',
        '2031-02-10T00:00:00Z',
      ])
        await database
          .db('webhookEvents')
          .insert({ id: newId(), projectId: database.projectId, type: 'a', data: {}, createdAt });
      expect(await add('2031-02-03')).to.equal(true);
      const rows = await database.rows(
        'select tableoid::regclass::text as partition from webhook_events where project_id = ? order by created_at',
        [database.projectId],
      );
      expect(rows.map(({ partition }) => partition)).to.deep.equal([
        'webhook_events_default',
        'webhook_events_2031_02_03',
        'webhook_events_2031_02_03',
        'webhook_events_default',
      ]);
    });

    it('returns false when the partition exists, also when two processes add it at once', async () => {
      expect(await Promise.all([add('2031-03-03'), add('2031-03-03')])).to.have.members([true, false]);
      expect(await add('2031-03-03')).to.equal(false);
    });
  });
});
