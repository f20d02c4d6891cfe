import { expect } from 'chai';
import { activityKinds, aggregateActivityDeltas, readActivityCounts } from '../../../db/models/activity-counts.ts';
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
import { makeProject, openWorld, type TestProject, type World } from '../../support/world.ts';

const HOUR = 3_600_000;

describe('counts of activity', () => {
  let world: World;
  let project: TestProject;

  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());
  beforeEach(async () => {
    project = await makeProject(world.db);
  });

  const track = (n: number, event: string) =>
    trackEvent(world.db, project.access, { email: `u${n}@example.com`, event });
  const names = async () => {
    const { names } = await readEventNames(world.db, project.id, { limit: 100 });
    return Object.fromEntries(names.map(({ name, count }) => [name, count]));
  };
  const counted = async (): Promise<Record<string, number>> => {
    const rows = await world
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
      while (writing) await aggregateEventDeltas(world.db, 7);
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
    await aggregateEventCounts(world.db);
    expect(await names()).to.deep.equal({ e0: 100, e1: 100, e2: 100 });
    expect(await world.db('eventDeltas').where({ projectId: project.id })).to.have.lengthOf(0);
    expect(await countContactsOfEvent(world.db, project.id, 'e1')).to.equal(40);
  });

  it('equal the stored events after a name was deleted while it was tracked', async () => {
    await Promise.all([
      ...Array.from({ length: 100 }, (_, n) => track(n % 10, n % 2 ? 'gone' : 'stays')),
      (async () => {
        for (let n = 0; n < 5; n++) {
          await deleteEvents(world.db, project.access, 'gone');
          await aggregateEventDeltas(world.db, 20);
        }
      })(),
    ]);
    expect(await names()).to.deep.equal(await counted());
    await aggregateEventCounts(world.db);
    expect(await names()).to.deep.equal(await counted());
    const contacts = new Set(
      (await world.db('events').where({ projectId: project.id, name: 'gone' })).map((e) => e.contactId),
    );
    expect(await countContactsOfEvent(world.db, project.id, 'gone')).to.equal(contacts.size);
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
      await world.db('events').insert(row);
      await aggregateEventDeltas(world.db, 1);
    }
    const to = new Date(now + HOUR);
    for (const since of [0, 1, 4, 5, 24, 26, 27, 28, 48, 60, 720]) {
      const { stats } = await readEventStats(world.db, project.id, { from: new Date(now - since * HOUR), to }, 10);
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
      const days = await readActivityCounts(world.db, project.id, range, 'day');
      return Object.fromEntries(
        activityKinds.map((kind) => [kind, days.reduce((sum, { counts }) => sum + counts[kind], 0)]),
      );
    };
    const none = Object.fromEntries(activityKinds.map((kind) => [kind, 0]));
    const id = newId();
    await world
      .db('emails')
      .insert({ id, projectId: project.id, contactId: newId(), status: 'SENT', sentAt: new Date() });
    await world.db('emails').where({ id }).update({ openedAt: new Date(), status: 'OPENED' });
    expect(await read()).to.deep.equal({ ...none, sent: 1, opened: 1 });
    await aggregateActivityDeltas(world.db, 1);
    await world.db('emails').where({ id }).update({ openedAt: null, status: 'SENT' });
    expect(await read()).to.deep.equal({ ...none, sent: 1 });
    await aggregateEventCounts(world.db);
    expect(await read()).to.deep.equal({ ...none, sent: 1 });
  });

  it('do not block a writer while another one is uncommitted', async () => {
    const open = await world.db.transaction();
    await trackEvent(open, project.access, { email: 'open@example.com', event: 'same' });
    await track(1, 'same');
    expect(await names()).to.deep.equal({ same: 1 });
    await open.commit();
    expect(await names()).to.deep.equal({ same: 2 });
  });
});
