import { expect } from 'chai';
import type { SigningKeys } from '../../../platform/crypto/signed-token.ts';
import { listActivity } from '../../../services/activity/feed.ts';
import { activityStats } from '../../../services/activity/stats.ts';
import { aggregateEventCounts } from '../../../services/events/counts.ts';
import { listEvents, listEventsOfContact } from '../../../services/events/list.ts';
import { listEventNames } from '../../../services/events/names.ts';
import { eventStats } from '../../../services/events/stats.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { addContactSeries, storedContacts } from '../../support/rows/contacts.ts';

const keys: SigningKeys = ['a secret of sixteen'];
const EVENTS = 30_000;

describe('activity of a project with many events', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let contactId: string;

  before(async () => {
    // One connection, so that its statistics include all reads.
    database = await connectTestDatabase(1);
    project = await makeProject(database.db);
    await addContactSeries(database.db, project.id, 300, { prefix: 'u' });
    await database.db.raw(
      `insert into events (id, project_id, contact_id, name, data)
       select uuidv7(), project_id, id, (array['a', 'b', 'email.sent', 'email.open', 'c'])[1 + n % 5], '{"isFirst": false}'
       from contacts, generate_series(1, ${EVENTS / 300}) n where project_id = ?`,
      [project.id],
    );
    await aggregateEventCounts(database.db);
    await database.db.raw('vacuum analyze');
    contactId = (await storedContacts(database.db, { projectId: project.id }).first('id')).id;
  });
  after(() => database.close());

  /** Returns the rows of events read by sequential scans and by indexes. */
  async function read(): Promise<{ scanned: number; found: number }> {
    await database.db.raw('select pg_stat_force_next_flush()');
    const { rows } = await database.db.raw(
      `select coalesce(sum(seq_tup_read), 0)::integer as scanned, coalesce(sum(idx_tup_fetch), 0)::integer as found
       from pg_stat_user_tables where relname like 'events\\_%'`,
    );
    return rows[0];
  }

  const pages: [what: string, work: () => Promise<unknown>][] = [
    ['the feed', () => listActivity(database.db, project.id, keys, { limit: 20 })],
    ['the feed of some types', () => listActivity(database.db, project.id, keys, { limit: 20, types: ['email.sent'] })],
    [
      'the feed of types that never happened',
      () => listActivity(database.db, project.id, keys, { limit: 20, types: ['email.bounced'] }),
    ],
    ['all events', () => listEvents(database.db, project.id, keys, { limit: 20 })],
    ['events of a name', () => listEvents(database.db, project.id, keys, { limit: 20, eventName: 'b' })],
    ['names', () => listEventNames(database.db, project.id)],
    ['statistics', () => eventStats(database.db, project.id, {})],
    ['totals', () => activityStats(database.db, project.id, {})],
  ];
  for (const [what, work] of pages)
    it(`reads at most a page of each type for ${what}`, async () => {
      const before = await read();
      await work();
      const after = await read();
      expect(after.scanned - before.scanned).to.equal(0);
      expect(after.found - before.found).to.be.at.most(22 * 11);
    });

  it('reads only the events of the contact', async () => {
    const before = await read();
    await listEventsOfContact(database.db, project.id, keys, contactId, { limit: 20 });
    const after = await read();
    expect(after.scanned - before.scanned).to.equal(0);
    expect(after.found - before.found).to.be.within(20, (EVENTS / 300) * 2);
  });
});
