import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { aggregateEventCounts } from '../../../services/events/counts.ts';
import { listEvents } from '../../../services/events/list.ts';
import { listEventNames } from '../../../services/events/names.ts';
import { eventStats } from '../../../services/events/stats.ts';
import { trackEvent } from '../../../services/events/track.ts';
import { addMonth, addMonths, addWeeks, monthsOf } from '../../../services/retention/partitions.ts';
import { runRetention } from '../../../services/retention/run.ts';
import { removeOldWebhooks } from '../../../services/retention/webhooks.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { addAudit, storedAudit } from '../../support/rows/accounts.ts';
import { addSegment, storedContactChanges } from '../../support/rows/contacts.ts';
import { addEvents } from '../../support/rows/events.ts';
import { addMailRows, setMailsOf, storedAttachments, storedContents, storedMails } from '../../support/rows/mails.ts';
import { storedDeliveries, storedWebhookEvents } from '../../support/rows/webhooks.ts';

const NOW = new Date('2025-11-15T12:00:00Z');
const KEEP = { eventRetentionDays: 60, emailBodyRetentionDays: 60, consentRetentionDays: 1_095 };

describe('retention', () => {
  let database: ConnectedDatabase;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase();
    for (const month of ['2025-06-01', '2025-07-01', '2025-08-01', '2025-09-01', '2025-10-01', '2025-11-01'])
      for (const table of ['events', 'email_contents', 'email_bodies'] as const)
        await addMonth(database.db, table, month);
  });
  after(() => database.close());
  beforeEach(async () => {
    project = await makeProject(database.db);
  });

  const contactOf = async (email: string) =>
    (await trackEvent(database.db, project.access, { email, event: 'seed' })).contactId;

  const happened = (contactId: string, ...days: string[]) =>
    addEvents(
      database.db,
      days.map((day) => ({
        id: newId(),
        projectId: project.id,
        contactId,
        name: 'visit',
        createdAt: `${day}T10:00:00Z`,
      })),
    );

  const partitionOf = async (table: string, id: string): Promise<string> => {
    const key = table === 'email_contents' ? 'email_id' : 'id';
    const { rows } = await database.db.raw('select tableoid::regclass::text as part from ?? where ?? = ?', [
      table,
      key,
      id,
    ]);
    return rows[0]?.part;
  };

  /** Returns a UUIDv7 of that day, as mails have. */
  const idAt = async (day: string): Promise<string> => {
    const { rows } = await database.db.raw('select uuidv7(?::timestamptz - now()) as id', [`${day}T10:00:00Z`]);
    return rows[0].id;
  };

  async function mail(day: string, status: string, attachmentSet: string | null = null): Promise<string> {
    const id = await idAt(day);
    const createdAt = `${day}T10:00:00Z`;
    const projectId = project.id;
    const contactId = newId();
    await addMailRows(database.db, { id, projectId, contactId, status, createdAt });
    const content = { toEmail: 'a@example.com', fromEmail: 'b@example.com', subject: 'S', attachmentSet };
    await database.db('emailBodies').insert({ id, projectId, html: '<p>x</p>', createdAt });
    await database.db('emailContents').insert({ emailId: id, projectId, bodyId: id, ...content, createdAt });
    return id;
  }

  const bodies = async (...ids: string[]): Promise<string[]> => {
    const rows = await storedContents(database.db, {}).whereIn('emailId', ids).select('emailId');
    return rows.map(({ emailId }) => emailId);
  };

  it('stores events and bodies in the partition of their month', async () => {
    const id = await mail('2025-08-20', 'SENT');
    expect(await partitionOf('email_contents', id)).to.equal('email_contents_2025_08');
    const { eventId } = await trackEvent(database.db, project.access, { email: 'a@example.com', event: 'e' });
    expect(await partitionOf('events', eventId)).to.match(/^events_\d{4}_\d\d$/);
  });

  it('removes the consent records of contacts that were deleted long ago, and no others', async () => {
    const { db } = database;
    const insert = (erasedAt: Date | null) =>
      db.raw(
        `insert into consents (id, project_id, contact_id, address_hash, action, method, erased_at)
         values (uuidv7(), ?, uuidv7(), '\\x00', 'GRANTED', 'API', ?)`,
        [project.id, erasedAt],
      );
    for (const erasedAt of [null, new Date('2026-01-01'), new Date('2020-01-01')]) await insert(erasedAt);
    expect(await runRetention(db, KEEP, NOW)).to.include({ consents: 1 });
    expect(await runRetention(db, KEEP, NOW)).to.include({ consents: 0 });
  });

  it('removes wordings that no record has any more', async () => {
    const { db } = database;
    const addText = async (text: string): Promise<string> => {
      const id = newId();
      await db('consentTexts').insert({ id, projectId: project.id, hash: Buffer.from(text), text });
      return id;
    };
    const insert = (textId: string, erasedAt: Date | null) =>
      db('consents').insert({
        id: newId(),
        projectId: project.id,
        contactId: newId(),
        addressHash: Buffer.from('x'),
        action: 'GRANTED',
        method: 'API',
        textId,
        erasedAt,
      });
    const [shared, old] = [await addText('shared'), await addText('old')];
    await insert(shared, null);
    for (const textId of [shared, old]) await insert(textId, new Date('2020-01-01'));
    expect(await runRetention(db, KEEP, NOW)).to.include({ consents: 2 });
    expect(await db('consentTexts').where({ projectId: project.id }).pluck('id')).to.deep.equal([shared]);
  });

  it('removes what is left of submissions that ended long ago, but for a year after a decline', async () => {
    const { db } = database;
    const add = async (settled: string, columns: object = {}): Promise<string> => {
      const {
        rows: [{ id }],
      } = await db.raw('select (left(uuid_floor(?::timestamptz)::text, 13) || substr(?, 14))::uuid as id', [
        settled,
        newId(),
      ]);
      const common = { projectId: project.id, topicIds: [], addressHash: Buffer.from('x'), status: 'DECLINED' };
      await db('formSubmissions').insert({ id, ...common, settledAt: settled, ...columns });
      return id;
    };
    const old = await add('2020-01-01');
    const confirmed = await add('2020-01-02', { email: 'ann@example.com', status: 'CONFIRMED' });
    const recent = await add('2025-01-01');
    const left = () => db('formSubmissions').where({ projectId: project.id }).orderBy('id').pluck('id');
    expect(await left()).to.deep.equal([old, confirmed, recent]);
    expect(await runRetention(db, { ...KEEP, consentRetentionDays: 1 }, NOW)).to.include({ submissions: 1 });
    expect(await left()).to.deep.equal([confirmed, recent]);
  });

  it('adds the partitions of coming months once, and moves rows out of the default partition', async () => {
    const ann = await contactOf('ann@example.com');
    const row = {
      id: newId(),
      projectId: project.id,
      contactId: ann,
      name: 'later',
      createdAt: '2031-02-10T00:00:00Z',
    };
    await addEvents(database.db, row);
    expect(await partitionOf('events', row.id)).to.equal('events_default');
    const at = new Date('2031-01-15T00:00:00Z');
    expect(await addMonths(database.db, at)).to.equal(20);
    expect(await addMonths(database.db, at)).to.equal(0);
    expect(await partitionOf('events', row.id)).to.equal('events_2031_02');
    const added = await Promise.all([
      addMonth(database.db, 'events', '2033-01-01'),
      addMonth(database.db, 'events', '2033-01-01'),
    ]);
    expect(added.sort()).to.deep.equal([false, true]);
  });

  it('drops old months and removes other old events, and keeps the statistics', async () => {
    const ann = await contactOf('ann@example.com');
    const bob = await contactOf('bob@example.com');
    await addMonth(database.db, 'events', '2025-06-01');
    await happened(ann, '2020-01-01', '2025-06-10', '2025-09-15', '2025-09-20');
    await happened(bob, '2025-06-10', '2025-10-01');
    const keys: [string] = ['a secret of sixteen'];
    const list = () => listEvents(database.db, project.id, keys, { limit: 20, eventName: 'visit' });
    const all = { startDate: '2020-01-01', endDate: '2099-01-01' };
    const stats = async () => (await eventStats(database.db, project.id, all)).find(({ name }) => name === 'visit');
    const before = await stats();
    expect(before).to.include({ count: 6, uniqueContacts: 2 });
    expect((await list()).total).to.equal(6);

    expect(await runRetention(database.db, KEEP, NOW)).to.include({ events: 4 });
    const months = (await monthsOf(database.db, 'events')).map(({ table }) => table);
    expect(months).to.not.include('events_2025_06').and.not.include('events_2025_08');
    expect(months).to.include('events_2025_09');
    const { data, total } = await list();
    expect(data.map(({ createdAt }) => createdAt.toISOString().slice(0, 10))).to.deep.equal([
      '2025-10-01',
      '2025-09-20',
    ]);
    expect(total).to.equal(2);
    expect(await stats()).to.deep.equal(before);
    expect((await listEventNames(database.db, project.id)).find(({ name }) => name === 'visit')).to.include({
      count: 6,
    });
    expect(await runRetention(database.db, KEEP, NOW)).to.include({ events: 0 });
  });

  it('keeps all events when no retention is set', async () => {
    await happened(await contactOf('ann@example.com'), '2020-01-01');
    await aggregateEventCounts(database.db);
    expect(await runRetention(database.db, { ...KEEP, eventRetentionDays: undefined }, NOW)).to.include({ events: 0 });
  });

  it('drops the months of the audit log after 400 days, and revoked keys with them', async () => {
    const { db } = database;
    const daysAgo = (days: number) => new Date(NOW.getTime() - days * 86_400_000);
    const row = { projectId: project.id, actorType: 'SYSTEM', action: 'project.updated' };
    // 399 and 401 days ago is the same month. 500 days ago has no partition yet.
    const ages = [0, 399, 401, 500].map((days) => ({ ...row, id: newId(), at: daysAgo(days) }));
    await addAudit(db, ages);
    const key = (name: string, revokedAt: Date | null) => ({
      id: newId(),
      projectId: project.id,
      name,
      prefix: 'sk_',
      scopes: ['all'],
      revokedAt,
      keyHash: Buffer.from(newId()),
    });
    await db('scopedKeys').insert([key('used', null), key('late', daysAgo(399)), key('old', daysAgo(401))]);
    expect(await runRetention(db, KEEP, NOW)).to.include({ auditMonths: 1 });
    const kept = await storedAudit(db, { projectId: project.id, action: row.action }).pluck('id');
    expect(kept.sort()).to.deep.equal(
      ages
        .slice(0, 3)
        .map(({ id }) => id)
        .sort(),
    );
    const { rows } = await db.raw('select count(*)::integer as count from audit_log_default');
    expect(rows[0].count).to.equal(0);
    expect((await db('scopedKeys').where({ projectId: project.id }).pluck('name')).sort()).to.deep.equal([
      'late',
      'used',
    ]);
    expect(await runRetention(db, KEEP, NOW)).to.include({ auditMonths: 0 });
  });

  it('analyzes the parent table, which autovacuum does not', async () => {
    await contactOf('planner@example.com');
    await runRetention(database.db, KEEP, NOW);
    const { rows } = await database.db.raw(
      `select attname from pg_stats where tablename = 'events' and attname = 'name' and inherited`,
    );
    expect(rows).to.have.lengthOf(1);
  });

  it('records a change for tracked segments when a month of events is dropped', async () => {
    const ann = await contactOf('ann@example.com');
    await addMonth(database.db, 'events', '2025-07-01');
    await happened(ann, '2025-07-10');
    const segmentId = newId();
    const condition = { logic: 'AND', groups: [{ filters: [{ field: 'event.visit', operator: 'triggered' }] }] };
    const row = { id: segmentId, projectId: project.id, slug: 's', name: 'S', type: 'DYNAMIC', trackMembership: true };
    await addSegment(database.db, { ...row, condition: JSON.stringify(condition) });
    await database.db('segmentDependencies').insert({ projectId: project.id, dependency: 'event.visit', segmentId });
    await runRetention(database.db, KEEP, NOW);
    const changes = await storedContactChanges(database.db, project.id).select('contactId', 'dependencies');
    expect(changes).to.deep.include({ contactId: ann, dependencies: ['event.visit'] });
  });

  it('removes bodies and attachments of finished mail only', async () => {
    for (const month of ['2025-06-01', '2025-07-01', '2025-08-01'])
      for (const table of ['email_contents', 'email_bodies'] as const) await addMonth(database.db, table, month);
    const shared = newId();
    const own = newId();
    for (const setId of [shared, own])
      await database.db('emailAttachments').insert({
        setId,
        position: 0,
        filename: 'a.txt',
        contentType: 'text/plain',
        disposition: 'attachment',
        content: Buffer.from('x'),
      });
    const old = [
      await mail('2025-06-10', 'SENT', own),
      await mail('2025-07-10', 'FAILED', shared),
      await mail('2025-09-10', 'OPENED'),
      await mail('2020-01-01', 'CANCELLED'),
    ];
    const waiting = [
      await mail('2025-07-11', 'PENDING', shared),
      await mail('2025-07-12', 'PENDING'),
      await mail('2025-07-13', 'UNKNOWN'),
      await mail('2025-09-11', 'PENDING'),
    ];
    const fresh = await mail('2025-10-20', 'SENT');
    expect(await runRetention(database.db, KEEP, NOW)).to.include({ bodies: 4 });
    expect(await bodies(...old)).to.deep.equal([]);
    expect(await bodies(...waiting, fresh)).to.have.members([...waiting, fresh]);
    expect(await storedMails(database.db).whereIn('id', old)).to.have.lengthOf(4);
    const sets = await database.db('emailAttachments').whereIn('setId', [shared, own]).select('setId');
    expect(sets).to.deep.equal([{ setId: shared }]);

    await setMailsOf(database.db, waiting, { status: 'SENT' });
    expect(await runRetention(database.db, KEEP, NOW)).to.include({ bodies: 4 });
    expect(await bodies(...waiting, fresh)).to.deep.equal([fresh]);
    expect(await storedAttachments(database.db, shared)).to.have.lengthOf(0);
  });

  it('adds coming weeks of webhooks, and drops those that ended 30 days ago', async () => {
    const { db } = database;
    const at = (day: string) => new Date(`${day}T12:00:00Z`);
    expect(await addWeeks(db, at('2032-03-03'))).to.equal(6);
    expect(await addWeeks(db, at('2032-03-03'))).to.equal(0);
    const add = async (createdAt: Date) => {
      const id = newId();
      const eventId = newId();
      const projectId = newId();
      await db('webhookEvents').insert({ id: eventId, projectId, type: 'a', data: {}, createdAt });
      await db('webhookDeliveries').insert({ id, projectId, endpointId: newId(), eventId, type: 'a', createdAt });
      return id;
    };
    const old = await add(at('2032-03-03'));
    const kept = await add(at('2032-03-10'));
    const unsorted = await add(at('2032-01-01'));
    const left = async () =>
      (await storedDeliveries(db, {}).whereIn('id', [old, kept, unsorted]).pluck('id')) as string[];
    await removeOldWebhooks(db, at('2032-04-06'));
    // The week ends on 8 March, so on 6 April its last day is not old enough.
    expect(await left()).to.have.members([old, kept]);
    expect(await removeOldWebhooks(db, at('2032-04-08'))).to.be.at.least(2);
    expect(await left()).to.deep.equal([kept]);
    expect(await storedWebhookEvents(db, { createdAt: at('2032-03-03') })).to.deep.equal([]);
  });
});
