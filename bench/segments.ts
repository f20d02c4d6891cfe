import type { Knex } from 'knex';
import type { Db } from '../db/connect.ts';
import type { Segment } from '../db/models/segment.ts';
import { newId } from '../platform/ids.ts';
import { pageOfMatching } from '../services/conditions/matching.ts';
import { updateContact } from '../services/contacts/save.ts';
import { applyContactChanges } from '../services/segments/changes.ts';
import { countMembers } from '../services/segments/count.ts';
import { createSegment } from '../services/segments/create.ts';
import { guarded } from '../services/segments/guard.ts';
import { membersOf } from '../services/segments/matching.ts';
import type { TestProject } from '../test/support/connected-database.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';
import { startWithContacts } from './segments-data.ts';
import { type HandWritten, questions, tree } from './segments-questions.ts';

const ROUNDS = 5;
const SEGMENTS = 200;
const CHANGES = 100;

export const segmentsBench: Bench = {
  name: 'segments',
  about:
    'conditions over a million contacts with 20 keys and ten million events, compared with the best SQL written by hand',
  async run(progress) {
    const { db, project } = await startWithContacts(progress);
    const measures: Measure[] = [];
    for (const [what, { condition, count, page }] of Object.entries(questions)) {
      const segment = { id: newId(), projectId: project.id, condition } as unknown as Segment;
      const total = await countMembers(db, segment);
      progress(`${what}: ${total} match`);
      measures.push(await compare(db, `${what}, count`, () => countMembers(db, segment), project, count));
      const first = await guarded(db, 'bench', async (trx) => {
        const members = await membersOf(trx, segment);
        const work = () => pageOfMatching(trx, members, { total, offset: 0, limit: 20 });
        return compare(db, `${what}, first page`, work, project, page);
      });
      measures.push(first);
    }
    measures.push(...(await applyingChanges(db, project, progress)));
    return measures;
  },
};

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now();
  await work();
  return performance.now() - started;
};

/** Alternates, so that a machine that slows down slows both. The first round fills caches. */
async function compare(
  db: Db,
  what: string,
  work: () => Promise<unknown>,
  project: TestProject,
  variants: HandWritten[],
): Promise<Measure> {
  const ours: number[] = [];
  const byHand = variants.map((): number[] => []);
  for (let round = -1; round < ROUNDS; round++) {
    const own = await timed(work);
    if (round >= 0) ours.push(own);
    for (const [n, variant] of variants.entries()) {
      const { text, values } = variant(project.id);
      const time = await timed(() => Promise.resolve(db.raw(text, values as Knex.RawBinding[])));
      if (round >= 0) byHand[n]?.push(time);
    }
  }
  return measure(what, 'ms', median(ours), Math.min(...byHand.map(median)), '<= 2');
}

/** Measures applying one contact's change, when few of the tracked segments depend on it and when all do. */
async function applyingChanges(db: Db, project: TestProject, progress: (line: string) => void): Promise<Measure[]> {
  for (let n = 0; n < SEGMENTS; n++)
    await createSegment(db, project.access, {
      name: `Tracked ${n}`,
      condition: trackedCondition(n),
      trackMembership: true,
    });
  progress(`${SEGMENTS} tracked segments`);
  const { rows } = await db.raw('select id from contacts order by random() limit ?', [CHANGES]);
  const ids = (rows as { id: string }[]).map(({ id }) => id);
  const measures: Measure[] = [];
  for (const [what, key] of Object.entries({
    'a change that 10 segments depend on': 'key3',
    'one that all depend on': 'plan',
  })) {
    const changes: number[] = [];
    const applications: number[] = [];
    for (const [n, id] of ids.entries()) {
      changes.push(await timed(() => updateContact(db, project.access, id, { data: { [key]: `value${100 + n}` } })));
      applications.push(await timed(() => applyContactChanges(db)));
    }
    measures.push(
      measure(`${what}: applying compared with changing`, 'ms', median(applications), median(changes), '<= 10'),
    );
  }
  await db.raw(
    `update contacts set data = data || '{"plan": "gone"}' where id in (select id from contacts limit 1000)`,
  );
  const many = await timed(() => applyContactChanges(db));
  const one = measures[1]?.ours ?? 0;
  measures.push(measure('1,000 changes applied, per contact, compared with one', 'ms', many / 1_000, one, '<= 1'));
  return measures;
}

/** Few contacts match: measures the cost of a segment that none enters or leaves. */
const trackedCondition = (n: number) =>
  tree(
    { field: 'data.plan', operator: 'equals', value: `plan${n}` },
    n % 20
      ? { field: 'data.seats', operator: 'greaterThan', value: n }
      : { field: 'data.key3', operator: 'equals', value: `x${n}` },
    ...(n % 5 ? [] : [{ field: `event${n % 40}`, operator: 'triggered', count: 2 }]),
  );
