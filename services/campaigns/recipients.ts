import type { Db } from '../../db/connect.ts';
import { type CampaignCounts, countsOfCampaign } from '../../db/models/campaign-counts.ts';
import { statement } from '../../db/statement.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
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

// Shows pending recipients of a cancelled campaign ($5) as CANCELLED before their rows are updated. $3 null: all states.
const readPage = statement<RecipientRow>(
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

const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

export interface RecipientsQuery {
  status?: RecipientState | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** Lists the recipients with their results. Empty before the audience is frozen. */
export async function listRecipients(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  id: string,
  { status, limit, cursor }: RecipientsQuery,
): Promise<CursorPage<Recipient>> {
  const campaign = await findCampaign(db, projectId, id);
  const boundTo = [projectId, 'recipients', id, status ?? ''];
  const after = cursor === undefined ? LOWEST_ID : openCursor(keys, boundTo, cursor);
  const rows = await readPage(db, [id, after, status ?? null, limit + 1, campaign.status === 'CANCELLED']);
  const counts = cursor === undefined ? shownCounts(campaign, await countsOfCampaign(db, id)) : undefined;
  const total = counts ? totalWith(counts, status) : 0;
  const cut = cutPage(rows, { limit, total, cursorAfter: (row) => signCursor(keys, boundTo, row.id) });
  return { ...cut, data: cut.data.map(recipientOf) };
}

const totalWith = (counts: CampaignCounts, status: RecipientState | undefined): number =>
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
