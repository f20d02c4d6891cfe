import type { Db } from '../db/connect.ts';
import { type Audience, countAudience } from '../services/campaigns/audience.ts';
import { createTopic } from '../services/topics/save.ts';
import type { TestProject } from '../test/support/connected-database.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';
import { startWithContacts } from './segments-data.ts';
import { tree } from './segments-questions.ts';

const ROUNDS = 5;

export const topicsBench: Bench = {
  name: 'topics',
  about: 'the audience of a topic over a million contacts, compared with that of a field',
  async run(progress) {
    const { db, project } = await startWithContacts(progress, { events: 0 });
    const filtered = tree({ field: 'data.locale', operator: 'equals', value: 'en' });
    const ofField: Partial<Audience> = { audienceType: 'FILTERED', audienceCondition: filtered };
    const measures: Measure[] = [];
    for (const [what, defaultState, state, share] of [
      ['a topic that a third has joined', 'UNSUBSCRIBED', 'SUBSCRIBED', 3],
      ['a topic that everybody gets and a tenth has left', 'SUBSCRIBED', 'UNSUBSCRIBED', 10],
    ] as const) {
      const { topic } = await createTopic(db, project.access, { name: what, defaultState });
      await choose(db, project, topic.id, state, share);
      const topicOnly: Partial<Audience> = { audienceType: 'ALL', topicId: topic.id };
      measures.push(await compare(db, project, what, topicOnly, ofField, progress));
    }
    return measures;
  },
};

/** Every so many contacts have chosen. Without records of consent, which no audience reads. */
async function choose(db: Db, project: TestProject, topicId: string, state: string, share: number): Promise<void> {
  await db.raw(
    `insert into contact_topics (contact_id, topic_id, project_id, state, default_state)
     select id, ?, project_id, ?, 'UNSUBSCRIBED'
     from (select id, project_id, row_number() over (order by id) as number from contacts where project_id = ?) c
     where number % ? = 0`,
    [topicId, state, project.id, share],
  );
  await db.raw('vacuum analyze contact_topics, topics, topic_defaults');
}

/** Alternates, so that a machine that slows down slows both. The first round fills caches. */
async function compare(
  db: Db,
  project: TestProject,
  what: string,
  ours: Partial<Audience>,
  other: Partial<Audience>,
  progress: (line: string) => void,
): Promise<Measure> {
  const times: [number[], number[]] = [[], []];
  for (let round = -1; round < ROUNDS; round++)
    for (const [n, audience] of [ours, other].entries()) {
      const started = performance.now();
      const base = {
        projectId: project.id,
        type: 'MARKETING',
        segmentId: null,
        audienceCondition: null,
        topicId: null,
      };
      const count = await countAudience(db, { ...base, ...audience } as Audience);
      if (count === undefined) throw new Error('Counting took too long.');
      if (round >= 0) times[n]?.push(performance.now() - started);
      else progress(`${n === 0 ? what : 'the field'}: ${count}`);
    }
  return measure(`${what}, count`, 'ms', median(times[0]), median(times[1]), '<= 1.5');
}
