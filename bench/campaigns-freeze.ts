import type { Db } from '../db/connect.ts';
import { freezeAudience } from '../services/campaigns/freeze.ts';
import { createCampaign } from '../services/campaigns/save.ts';
import { makeProject } from '../test/support/connected-database.ts';
import { type Measure, measure, median } from './bench.ts';

const ROUNDS = 3;

/** Measures freezing beside an INSERT … SELECT of the same rows, while other clients write contacts. */
export async function freezing(db: Db, recipients: number, progress: (line: string) => void): Promise<Measure[]> {
  const project = await makeProject(db);
  await db.raw(
    `insert into contacts (id, project_id, email, subscribed, data)
     select uuidv7(), ?, 'user' || n || '@example.com', true, '{"name": "Ann"}' from generate_series(1, ?::integer) n`,
    [project.id, recipients],
  );
  await db.raw('vacuum analyze contacts');
  const ours: number[] = [];
  const bare: number[] = [];
  let longest = 0;
  let longestBare = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    const { campaign } = await createCampaign(db, project.access, {
      name: 'Spring',
      subject: 'News',
      body: '<p>News</p>',
      audienceType: 'ALL',
      from: { email: `news@${project.senderDomain}` },
    });
    await db('campaigns').where({ id: campaign.id }).update({ status: 'SENDING' });
    const writer = writeContacts(db);
    ours.push(await timed(() => freezeAudience(db, campaign.id)));
    longest = Math.max(longest, await writer.stop());
    // The same rows into the same table: copied, deleted, inserted again.
    await db.raw('create table frozen as select * from emails where campaign_id = ?', [campaign.id]);
    await db.raw('delete from emails where campaign_id = ?', [campaign.id]);
    await db.raw('vacuum emails');
    const bareWriter = writeContacts(db);
    bare.push(await timed(() => db.raw('insert into emails select * from frozen')));
    longestBare = Math.max(longestBare, await bareWriter.stop());
    await db.raw('delete from emails where campaign_id = ?', [campaign.id]);
    await db.raw('drop table frozen');
    await db.raw('vacuum emails');
    progress(`freezing ${recipients}, round ${round} of ${ROUNDS}: ${ours.at(-1)} s against ${bare.at(-1)} s`);
  }
  return [
    measure(`freezing ${recipients}`, 's', median(ours), median(bare), '<= 1.5'),
    measure('the longest concurrent write of another project', 'ms', longest, longestBare),
  ];
}

async function timed(work: () => PromiseLike<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}

/** Writes contacts of another project one by one. `stop` returns how long the slowest took, in milliseconds. */
function writeContacts(db: Db): { stop(): Promise<number> } {
  let longest = 0;
  let stopped = false;
  const ended = (async () => {
    const project = await makeProject(db);
    for (let n = 0; !stopped; n++) {
      const start = performance.now();
      await db.raw(`insert into contacts (id, project_id, email, subscribed) values (uuidv7(), ?, ?, true)`, [
        project.id,
        `other${n}@example.com`,
      ]);
      longest = Math.max(longest, performance.now() - start);
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await ended;
      return longest;
    },
  };
}
