import { expect } from 'chai';
import { activityKinds, readActivityCounts } from '../../../db/models/activity-counts.ts';
import { aggregateCounters } from '../../../db/models/counters.ts';
import {
  aggregateEventDeltas,
  countContactsOfEvent,
  readEventNames,
  readEventStats,
} from '../../../db/models/event-counts.ts';
import { newId } from '../../../platform/ids.ts';
import { aggregateEventCounts } from '../../../services/events/counts.ts';
import { deleteEvents } from '../../../services/events/remove.ts';
import { trackEvent } from '../../../services/events/track.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { addEvents, storedEvents } from '../../support/rows/events.ts';
import { addMailRows, setMails } from '../../support/rows/mails.ts';

const HOUR = 3_600_000;

describe('counts of activity', () => {
  let database: ConnectedDatabase;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());
  beforeEach(async () => {
    project = await makeProject(database.db);
  });

  const track = (n: number, event: string) =>
    trackEvent(database.db, project.access, { email: `u${n}@example.com`, event });
  const names = async () => {
    const { names } = await readEventNames(database.db, project.id, { limit: 100 });
    return Object.fromEntries(names.map(({ name, count }) => [name, count]));
  };
  const counted = async (): Promise<Record<string, number>> => {
    const rows = await database
      .db('events')
      .where({ projectId: project.id })
      .groupBy('name')
      .select('name')
      .count('* as count');
    return Object.fromEntries(rows.map(({ name, count }) => [String(name), Number(count)]));
  };

  it('are exact while events are written and deltas aggregated concurrently', async () => {
    let writing = true;
    const aggregating = (async () => {
      while (writing) await aggregateEventDeltas(database.db, 7);
    })();
    let known = 0;
    const reading = (async () => {
      while (writing) {
        const total = Object.values(await names()).reduce((sum, count) => sum + count, 0);
        expect(total).to.be.at.least(known);
        known = total;
      }
    })();
    await Promise.all(Array.from({ length: 300 }, (_, n) => track(n % 40, `e${n % 3}`)));
    writing = false;
    await Promise.all([aggregating, reading]);
    expect(await names()).to.deep.equal({ e0: 100, e1: 100, e2: 100 });
    await aggregateEventCounts(database.db);
    expect(await names()).to.deep.equal({ e0: 100, e1: 100, e2: 100 });
    expect(await database.db('eventDeltas').where({ projectId: project.id })).to.have.lengthOf(0);
    expect(await countContactsOfEvent(database.db, project.id, 'e1')).to.equal(40);
  });

  it('equal the stored events after a name was deleted while it was tracked', async () => {
    await Promise.all([
      ...Array.from({ length: 100 }, (_, n) => track(n % 10, n % 2 ? 'gone' : 'stays')),
      (async () => {
        for (let n = 0; n < 5; n++) {
          await deleteEvents(database.db, project.access, 'gone');
          await aggregateEventDeltas(database.db, 20);
        }
      })(),
    ]);
    expect(await names()).to.deep.equal(await counted());
    await aggregateEventCounts(database.db);
    expect(await names()).to.deep.equal(await counted());
    const contacts = new Set(
      (await storedEvents(database.db, { projectId: project.id, name: 'gone' })).map((e) => e.contactId),
    );
    expect(await countContactsOfEvent(database.db, project.id, 'gone')).to.equal(contacts.size);
  });

  it('count each contact once in any range up to now, in any order of aggregation', async () => {
    const now = Math.floor(Date.now() / HOUR) * HOUR;
    const contacts = [newId(), newId(), newId()];
    // The events of each contact, in hours ago.
    const history = [
      [0, 1, 30, 50],
      [26, 27, 700],
      [5, 5, 5],
    ];
    const rows = history.flatMap((hours, n) =>
      hours.map((ago) => ({
        id: newId(),
        projectId: project.id,
        contactId: contacts[n],
        name: 'visit',
        createdAt: new Date(now - ago * HOUR),
      })),
    );
    for (const row of rows.reverse()) {
      await addEvents(database.db, row);
      await aggregateEventDeltas(database.db, 1);
    }
    const to = new Date(now + HOUR);
    for (const since of [0, 1, 4, 5, 24, 26, 27, 28, 48, 60, 720]) {
      const { stats } = await readEventStats(database.db, project.id, { from: new Date(now - since * HOUR), to }, 10);
      const within = history.map((hours) => hours.filter((ago) => ago <= since).length);
      const expected = within.filter((count) => count > 0).length;
      const [found] = stats;
      expect({ since, contacts: found?.contacts ?? 0, count: found?.count ?? 0 }).to.deep.equal({
        since,
        contacts: expected,
        count: within.reduce((sum, count) => sum + count, 0),
      });
    }
  });

  it('increase and decrease with the states in the ledger', async () => {
    const range = { from: new Date(Date.now() - HOUR), to: new Date(Date.now() + HOUR) };
    const read = async () => {
      const days = await readActivityCounts(database.db, project.id, range, 'day');
      return Object.fromEntries(
        activityKinds.map((kind) => [kind, days.reduce((sum, { counts }) => sum + counts[kind], 0)]),
      );
    };
    const none = Object.fromEntries(activityKinds.map((kind) => [kind, 0]));
    const id = newId();
    await addMailRows(database.db, {
      id,
      projectId: project.id,
      contactId: newId(),
      status: 'SENT',
      sentAt: new Date(),
    });
    await setMails(database.db, { id }, { openedAt: new Date(), status: 'OPENED' });
    expect(await read()).to.deep.equal({ ...none, sent: 1, opened: 1 });
    await aggregateCounters(database.db, 1);
    await setMails(database.db, { id }, { openedAt: null, status: 'SENT' });
    expect(await read()).to.deep.equal({ ...none, sent: 1 });
    await aggregateCounters(database.db);
    expect(await read()).to.deep.equal({ ...none, sent: 1 });
  });

  it('do not block a writer while another one is uncommitted', async () => {
    const open = await database.db.transaction();
    await trackEvent(open, project.access, { email: 'open@example.com', event: 'same' });
    await track(1, 'same');
    expect(await names()).to.deep.equal({ same: 1 });
    await open.commit();
    expect(await names()).to.deep.equal({ same: 2 });
  });
});
