import type { Db } from '../connect.ts';
import { statement } from '../statement.ts';
import type { Campaign } from './campaign.ts';
import { countedWhere } from './counters.ts';

// Counts the recipients of campaigns by state. `count_changed_emails` appends the deltas. See
// docs/decisions/campaign-ledger.md.

/** Each recipient counts in one of the first six; the others are the results of mails. */
const names = [
  'pending',
  'sent',
  'failed',
  'skipped',
  'cancelled',
  'unknown',
  'delivered',
  'opened',
  'clicked',
  // By people; the two before include machines.
  'humanOpened',
  'humanClicked',
  // Opened or clicked by a person.
  'peopleOpened',
  'bounced',
  'hardBounced',
  // Refused recipients: FAILED, and counted in the two before.
  'refused',
  'complained',
  'unsubscribed',
  // Left the campaign's topic, not all email.
  'topicUnsubscribed',
] as const;

export type CampaignCounts = Record<(typeof names)[number], number>;

export const noCampaignCounts = (): CampaignCounts =>
  Object.fromEntries(names.map((name) => [name, 0])) as CampaignCounts;

const read = statement<{ id: string; name: string; count: number }>(
  'campaign-counts',
  `select substr(subject, 10) as id, name, sum(count)::integer as count
   from ${countedWhere("project_id = $1 and subject = any (array(select 'campaign/' || id from unnest($2::uuid[]) as id))")}
   group by 1, 2`,
);

/** Leaves out campaigns of which nothing is counted. */
export async function readCampaignCounts(
  db: Db,
  projectId: string,
  ids: string[],
): Promise<Map<string, CampaignCounts>> {
  const found = new Map<string, CampaignCounts>();
  if (ids.length === 0) return found;
  for (const { id, name, count } of await read(db, [projectId, ids]))
    found.set(id, { ...(found.get(id) ?? noCampaignCounts()), [name]: count });
  return found;
}

export async function countsOfCampaign(
  db: Db,
  { id, projectId }: Pick<Campaign, 'id' | 'projectId'>,
): Promise<CampaignCounts> {
  return (await readCampaignCounts(db, projectId, [id])).get(id) ?? noCampaignCounts();
}

const addFrozen = statement(
  'campaign-counts-frozen',
  `insert into counter_deltas (project_id, subject, counts)
   values ($1, 'campaign/' || $2::uuid,
     jsonb_strip_nulls(jsonb_build_object('pending', $3::integer, 'skipped', nullif($4::integer, 0))))`,
);

/** How many recipients were inserted in which state. */
export type FrozenCounts = Pick<CampaignCounts, 'pending' | 'skipped'>;

/** Counts recipients that were inserted, in the transaction that inserts them. */
export async function countRecipients(
  trx: Db,
  { id, projectId }: Pick<Campaign, 'id' | 'projectId'>,
  { pending, skipped }: FrozenCounts,
): Promise<void> {
  await addFrozen(trx, [projectId, id, pending, skipped]);
}
