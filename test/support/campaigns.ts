// Creates campaigns and recipients, and runs a campaign without Temporal by calling the activities of its workflow.
import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { Email } from '../../db/models/email.ts';
import { advanceCampaign, type NextStep } from '../../services/campaigns/advance.ts';
import { type CampaignInput, createCampaign } from '../../services/campaigns/save.ts';
import { sendCampaign } from '../../services/campaigns/send.ts';
import { type CampaignView, showCampaign, totalOf } from '../../services/campaigns/view.ts';
import type { ConnectedDatabase, TestProject } from './connected-database.ts';
import { type TestSender, type TestSenderOptions, testLimits, testSender } from './sending.ts';

export const limits = testLimits;

/** Adds contacts `p0@example.com`, `p1@example.com` …, subscribed by default. */
export async function addContacts(
  db: Db,
  project: TestProject,
  count: number,
  { subscribed = true, prefix = 'p' } = {},
): Promise<void> {
  await db.raw(
    `insert into contacts (id, project_id, email, subscribed, data)
     select uuidv7(), ?, ? || n || '@example.com', ?, jsonb_build_object('name', 'Name ' || n)
     from generate_series(0, ? - 1) n`,
    [project.id, prefix, subscribed, count],
  );
}

export async function makeCampaign(
  db: Db,
  project: TestProject,
  more: Partial<CampaignInput> = {},
): Promise<CampaignView['campaign']> {
  const { campaign } = await createCampaign(db, project.access, {
    name: 'Spring',
    subject: 'Hello {{ name }}',
    body: '<p>Hello {{ name }}</p>',
    from: { email: `news@${project.senderDomain}` },
    audienceType: 'ALL',
    ...more,
  });
  return campaign;
}

export async function startCampaign(db: Db, project: TestProject, more: Partial<CampaignInput> = {}) {
  const { id } = await makeCampaign(db, project, more);
  return (await sendCampaign(db, project.access, id, undefined)).campaign;
}

export interface CampaignWorker extends TestSender {
  advance(id: string, now?: Date): Promise<NextStep>;
  /** Sends until the campaign ends or waits with no mail that is due, and returns which of the two. */
  run(id: string): Promise<NextStep>;
}

export function campaignWorker(
  { db, url: databaseUrl }: Pick<ConnectedDatabase, 'db' | 'url'>,
  url: string,
  more: Partial<TestSenderOptions> = {},
): CampaignWorker {
  const sending = testSender(databaseUrl, { url, ...more });
  const advance = async (id: string, now = new Date()) => {
    const { generation } = await db('campaigns').where({ id }).first('generation');
    return advanceCampaign({ db, limits: more.limits ?? limits, now: () => now }, { campaignId: id, generation });
  };
  return {
    ...sending,
    advance,
    run: async (id) => {
      const next = await advance(id);
      if (next.kind === 'end') return next;
      await sending.send();
      return advance(id);
    },
  };
}

/** Returns the counts of a campaign, and asserts that they add up to its recipients. */
export async function standing(db: Db, project: TestProject, id: string): Promise<CampaignView['counts']> {
  const { counts, totalRecipients } = await showCampaign(db, project.id, id);
  expect(totalOf(counts)).to.equal(totalRecipients);
  return counts;
}

/** Returns the same counts, computed from the rows. */
export async function rowsOf(db: Db, id: string): Promise<Record<string, number>> {
  const rows: { state: string; count: number }[] = await db('emails')
    .where({ campaignId: id })
    .groupByRaw('1')
    .select(db.raw('recipient_state(status) as state'), db.raw('count(*)::integer as count'));
  return Object.fromEntries(rows.map(({ state, count }) => [state.toLowerCase(), count]));
}

export const recipientTo = async (db: Db, campaignId: string, address: string): Promise<Email> => {
  const row = await Email.query(db)
    .where({ campaignId })
    .whereIn('contactId', db('contacts').where({ email: address }).select('id'))
    .first();
  if (!row) throw new Error(`${address} is no recipient`);
  return row;
};
