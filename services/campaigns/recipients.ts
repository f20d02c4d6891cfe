import type { Db } from '../../db/connect.ts';
import { type CampaignCounts, countsOfCampaign } from '../../db/models/campaign-counts.ts';
import { statement } from '../../db/statement.ts';
import { openCursor, type SigningKeys, signCursor } from '../../platform/cursor.ts';
import { type CursorPage, cutPage } from '../paging.ts';
import { findCampaign } from './find.ts';
import { shownCounts, totalOf } from './view.ts';

export const recipientStates = ['PENDING', 'SENT', 'FAILED', 'SKIPPED', 'CANCELLED', 'UNKNOWN'] as const;
export type RecipientState = (typeof recipientStates)[number];

export interface Recipient {
  contactId: string;
  /** Null once the contact is deleted. */
  email: string | null;
  status: RecipientState;
  reason: string | null;
  emailId: string;
  attempts: number;
  sentAt: Date | null;
}

interface RecipientRow {
  id: string;
  contact_id: string;
  email: string | null;
  status: RecipientState;
  reason: string | null;
  attempts: number;
  sent_at: Date | null;
}

// What is left of a cancelled campaign ($5) is cancelled, before the rows say so. Null states: all of them.
const page = statement<RecipientRow>(
  'campaign-recipients',
  `select e.id, e.contact_id, coalesce(e.to_email, k.email) as email, e.state as status,
     case when e.status = 'PENDING' and $5 then 'campaign cancelled' else e.reason end as reason, e.attempts, e.sent_at
   from (
     select e.*, s.state
     from emails e
     cross join lateral (
       select case when e.status = 'PENDING' and $5 then 'CANCELLED' else recipient_state(e.status) end as state
     ) s
     where e.campaign_id = $1 and e.id > $2 and ($3::text is null or s.state = $3)
     order by e.id limit $4
   ) e
   left join contacts k on k.id = e.contact_id
   order by e.id`,
);

const FIRST = '00000000-0000-0000-0000-000000000000';

export interface RecipientsQuery {
  status?: RecipientState | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** Who got it, when, and why not; nobody before the audience is frozen. */
export async function listRecipients(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  id: string,
  { status, limit, cursor }: RecipientsQuery,
): Promise<CursorPage<Recipient>> {
  const campaign = await findCampaign(db, projectId, id);
  const boundTo = [projectId, 'recipients', id, status ?? ''];
  const after = cursor === undefined ? FIRST : openCursor(keys, boundTo, cursor);
  const rows = await page(db, [id, after, status ?? null, limit + 1, campaign.status === 'CANCELLED']);
  const counts = cursor === undefined ? shownCounts(campaign, await countsOfCampaign(db, id)) : undefined;
  const total = counts ? totalIn(counts, status) : 0;
  const cut = cutPage(rows, { limit, total, cursorAfter: (row) => signCursor(keys, boundTo, row.id) });
  return { ...cut, data: cut.data.map(recipientOf) };
}

const totalIn = (counts: CampaignCounts, status: RecipientState | undefined): number =>
  status ? counts[status.toLowerCase() as Lowercase<RecipientState>] : totalOf(counts);

const recipientOf = ({ id, contact_id, sent_at, email, status, reason, attempts }: RecipientRow): Recipient => ({
  contactId: contact_id,
  email,
  status,
  reason,
  emailId: id,
  attempts,
  sentAt: sent_at,
});
