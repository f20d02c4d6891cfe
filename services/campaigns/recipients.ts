import type { Db } from '../../db/connect.ts';
import { type CampaignCounts, countsOfCampaign } from '../../db/models/campaign-counts.ts';
import { type Fragment, joined, sql } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { badRequest } from '../../platform/errors.ts';
import { LOWEST_ID } from '../../platform/ids.ts';
import { hasClicked, isOpened, isReceived, linkIds } from '../conditions/email-results.ts';
import { type CursorPage, cutPage } from '../paging.ts';
import { findCampaign } from './find.ts';
import { shownCounts, totalOf } from './view.ts';

export const recipientStates = ['PENDING', 'SENT', 'FAILED', 'SKIPPED', 'CANCELLED', 'UNKNOWN'] as const;
/** How many characters of a reason are compared: it is part of an address. */
export const COMPARED_REASON = 300;
export type RecipientState = (typeof recipientStates)[number];

/** What recipients did with an email that they received. Opens and clicks are those of people. */
export const recipientOutcomes = [
  'DELIVERED',
  'OPENED',
  'NOT_OPENED',
  'CLICKED',
  'NOT_CLICKED',
  'BOUNCED',
  'COMPLAINED',
  'UNSUBSCRIBED',
] as const;
export type RecipientOutcome = (typeof recipientOutcomes)[number];

export interface Recipient {
  contactId: string;
  /** Null once the contact is deleted. */
  email: string | null;
  status: RecipientState;
  reason: string | null;
  /** Until when a PENDING email is postponed, by `reason`. */
  postponedUntil: Date | null;
  emailId: string;
  attempts: number;
  sentAt: Date | null;
  /** By a person; a click counts as an open. */
  openedAt: Date | null;
  clickedAt: Date | null;
  bouncedAt: Date | null;
  /** The links that a person clicked. */
  links: string[];
}

export interface RecipientFilter {
  status?: RecipientState | undefined;
  outcome?: RecipientOutcome | undefined;
  /** A link's id, its address, or the beginning of an address and `*`. */
  link?: string | undefined;
  /** The first characters of it, exactly. */
  reason?: string | undefined;
  /** A part of the address. */
  search?: string | undefined;
}

export interface RecipientsQuery extends RecipientFilter {
  limit: number;
  cursor?: string | undefined;
}

interface RecipientRow extends Omit<Recipient, 'emailId'> {
  id: string;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Lists the recipients with their results. Empty before the audience is frozen. */
export async function listRecipients(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  id: string,
  { limit, cursor, ...filter }: RecipientsQuery,
): Promise<CursorPage<Recipient>> {
  requireSensible(filter);
  const campaign = await findCampaign(db, projectId, id);
  const { status, outcome, link, reason, search } = filter;
  const boundTo = [projectId, 'recipients', id, status ?? '', outcome ?? '', link ?? '', reason ?? '', search ?? ''];
  const after = cursor === undefined ? LOWEST_ID : openCursor(keys, boundTo, cursor);
  const isCancelled = campaign.status === 'CANCELLED';
  const recipients = { projectId, id, isCancelled, filter };
  const rows = await readMatchingRecipients(db, recipients, after as string, limit + 1);
  let total = 0;
  if (cursor === undefined && (outcome ?? link ?? reason ?? search) !== undefined)
    total = await countRecipients(db, recipients);
  else if (cursor === undefined) total = totalWith(shownCounts(campaign, await countsOfCampaign(db, campaign)), status);
  return cutPage(rows, { limit, total, cursorAfter: (row) => signCursor(keys, boundTo, row.emailId) });
}

export interface Recipients {
  projectId: string;
  id: string;
  /** Pending recipients of a cancelled campaign are shown as CANCELLED before their rows are updated. */
  isCancelled: boolean;
  filter: RecipientFilter;
}

/** Returns the recipients after this id, in the order of their ids. */
export async function readMatchingRecipients(
  db: Db,
  { projectId, id, isCancelled, filter }: Recipients,
  after: string,
  limit: number,
): Promise<Recipient[]> {
  const rows = await queryRows<RecipientRow>(
    db,
    sql`select e.id, e.contact_id, coalesce(e.to_email, k.email) as email, e.state as status,
          case when e.status = 'PENDING' and ${isCancelled} then 'campaign cancelled' else e.reason end as reason,
          case when not ${isCancelled} then postponed_until(e.status, e.reason, e.due_at) end as postponed_until,
          e.attempts, e.sent_at, least(e.human_opened_at, e.human_clicked_at) as opened_at,
          e.human_clicked_at as clicked_at, e.bounced_at,
          array(
            select l.link_id from campaign_link_clicks l
            where e.clicked_at is not null and l.project_id = ${projectId} and l.campaign_id = ${id} and l.email_id = e.id
              and coalesce(l.human, e.human_clicked_at is not null)
            order by l.first_at, l.link_id
          ) as links
        from (
          ${matching(projectId, id, isCancelled, filter)} and e.id > ${after} order by e.id limit ${limit}
        ) e
        left join contacts k on k.id = e.contact_id and k.project_id = ${projectId}
        order by e.id`,
  );
  return rows.map(({ id: emailId, ...row }) => ({ ...row, emailId }));
}

async function countRecipients(db: Db, { projectId, id, isCancelled, filter }: Recipients): Promise<number> {
  const [row] = await queryRows<{ count: number }>(
    db,
    sql`select count(*)::integer as count from (${matching(projectId, id, isCancelled, filter)}) found`,
  );
  return row?.count ?? 0;
}

/** The recipients that match, with the alias `e` and their state. */
export function matching(projectId: string, id: string, isCancelled: boolean, filter: RecipientFilter): Fragment {
  const { status, outcome, link, reason, search } = filter;
  const conditions = [sql`e.project_id = ${projectId} and e.campaign_id = ${id}`];
  if (status) conditions.push(sql`s.state = ${status}`);
  if (outcome) conditions.push(outcomeSql[outcome]);
  if (outcome === 'NOT_CLICKED' && link === undefined) conditions.push(sql`e.human_clicked_at is null`);
  if (link !== undefined) {
    const clicked = clickedLink(projectId, id, link);
    conditions.push(outcome === 'NOT_CLICKED' ? sql`not ${clicked}` : clicked);
  }
  if (reason !== undefined) conditions.push(sql`left(e.reason, ${COMPARED_REASON}) = ${reason}`);
  if (search)
    conditions.push(
      sql`e.contact_id in (select id from contacts where project_id = ${projectId} and email like ${containing(search)})`,
    );
  return sql`select e.*, s.state from emails e
    cross join lateral (
      select case when e.status = 'PENDING' and ${isCancelled} then 'CANCELLED' else recipient_state(e.status) end as state
    ) s
    where ${joined(conditions, ' and ')}`;
}

const outcomeSql: Record<RecipientOutcome, Fragment> = {
  DELIVERED: sql`e.delivered_at is not null`,
  OPENED: isOpened,
  NOT_OPENED: sql`${isReceived} and not ${isOpened}`,
  CLICKED: sql`e.human_clicked_at is not null`,
  // With a link it is about that link: see `matching`.
  NOT_CLICKED: isReceived,
  BOUNCED: sql`e.bounced_at is not null`,
  COMPLAINED: sql`e.complained_at is not null`,
  UNSUBSCRIBED: sql`e.unsubscribed_at is not null`,
};

function clickedLink(projectId: string, id: string, link: string): Fragment {
  const ids = UUID.test(link) ? sql`select ${link}::uuid` : linkIds(projectId, link);
  return hasClicked(projectId, sql`${id}::uuid`, ids);
}

const containing = (search: string): string => `%${search.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;

export function requireSensible({ outcome, link }: RecipientFilter): void {
  if (link !== undefined && outcome !== undefined && outcome !== 'CLICKED' && outcome !== 'NOT_CLICKED')
    throw badRequest('"link" goes with the outcome CLICKED or NOT_CLICKED.');
}

const totalWith = (counts: CampaignCounts, status: RecipientState | undefined): number =>
  status ? counts[status.toLowerCase() as Lowercase<RecipientState>] : totalOf(counts);
