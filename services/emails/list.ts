import type { Db } from '../../db/connect.ts';
import type { EmailStatus } from '../../db/models/email.ts';
import { type Fragment, joined, sql, sqlText } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { type CursorPage, countList, cutPage, type ListTotal, UNCOUNTED } from '../paging.ts';
import { type RangeQuery, readRange } from '../range.ts';
import { CONTENT, type EmailRecord, type EmailRow, IN_FLIGHT, recordOf, SHOWN } from './email-record.ts';

export interface EmailsQuery extends RangeQuery {
  limit: number;
  cursor?: string | undefined;
  status?: EmailStatus | undefined;
  /** Only mail that policy keeps from being sent, or only other mail. */
  blocked?: boolean | undefined;
  /** The address of a contact, in lower case. */
  email?: string | undefined;
  contactId?: string | undefined;
  campaignId?: string | undefined;
  templateId?: string | undefined;
  workflowId?: string | undefined;
}

/** Lists mails, the newest first. UUIDv7 ids increase with time. */
export async function listEmails(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  asked: EmailsQuery,
): Promise<CursorPage<EmailRecord>> {
  const { limit, cursor } = asked;
  const boundTo = [projectId, 'emails'];
  const filters = filtersOf(projectId, asked);
  const states = asked.status ? conditionsOf(projectId, asked.status) : [sql`true`];
  const parts = states.map((state) => sql`${filters} and ${state}`);
  const after = cursor === undefined ? sql`` : sql`and e.id < ${openCursor(keys, boundTo, cursor)}`;
  const [rows, total] = await Promise.all([
    page(db, parts, after, limit + 1),
    cursor === undefined ? count(db, parts) : UNCOUNTED,
  ]);
  const cut = cutPage(rows, { limit, ...total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
  return { ...cut, data: cut.data.map(recordOf) };
}

// Builds the SQL per set of filters, because one generic plan would read the whole project. `parts` share no mail. Cuts the
// page with index scans before rows and contents are joined.
function page(db: Db, parts: Fragment[], after: Fragment, limit: number): Promise<EmailRow[]> {
  const cuts = parts.map(
    (part) => sql`(select e.id from emails e where ${part} ${after} order by e.id desc limit ${limit})`,
  );
  return queryRows<EmailRow>(
    db,
    sql`select ${sqlText(SHOWN)} from (${joined(cuts, ' union all ')}) cut join emails e on e.id = cut.id ${sqlText(CONTENT)}
        order by e.id desc limit ${limit}`,
  );
}

/** An index-only scan for most filters. */
function count(db: Db, parts: Fragment[]): Promise<ListTotal> {
  const selected = parts.map((part) => sql`select 1 from emails e where ${part}`);
  return countList(db, joined(selected, ' union all '));
}

function filtersOf(projectId: string, asked: EmailsQuery): Fragment {
  const { from, to } = readRange(asked);
  const conditions = [sql`e.project_id = ${projectId}`];
  if (asked.blocked !== undefined) conditions.push(asked.blocked ? BLOCKED : sql`not (${BLOCKED})`);
  if (asked.email)
    conditions.push(
      sql`e.contact_id = (select c.id from contacts c where c.project_id = ${projectId} and c.email = ${asked.email})`,
    );
  if (asked.contactId) conditions.push(sql`e.contact_id = ${asked.contactId}`);
  if (asked.campaignId) conditions.push(sql`e.campaign_id = ${asked.campaignId}`);
  if (asked.templateId) conditions.push(sql`e.template_id = ${asked.templateId}`);
  if (asked.workflowId) conditions.push(sql`e.workflow_id = ${asked.workflowId}`);
  // Ids approximate the time up to clock skew, so they narrow the index scan.
  if (from)
    conditions.push(sql`e.created_at >= ${from} and e.id >= uuid_floor(${from}::timestamptz - ${MAX_CLOCK_SKEW})`);
  if (to) conditions.push(sql`e.created_at < ${to} and e.id < uuid_floor(${to}::timestamptz + ${MAX_CLOCK_SKEW})`);
  return joined(conditions, ' and ');
}

/** As the index `emails_blocked` has it. */
const BLOCKED = sql`e.blocked_domain is not null and e.status = 'PENDING'`;
const MAX_CLOCK_SKEW = sql`interval '1 day'`;

/** Conditions for the shown status, any of them: pending mail of a cancelled campaign is CANCELLED. */
function conditionsOf(projectId: string, status: EmailStatus): Fragment[] {
  const pending = sql`e.status = 'PENDING'`;
  const inCancelled = sql`e.campaign_id = any (array(
    select k.id from campaigns k where k.project_id = ${projectId} and k.status = 'CANCELLED'))`;
  if (status === 'PENDING')
    return [sql`${pending} and (e.campaign_id is null or not ${inCancelled}) and not ${sqlText(IN_FLIGHT)}`];
  // As `IN_FLIGHT`, and found from the few mails in flight.
  if (status === 'SENDING')
    return [
      sql`${pending} and e.campaign_id is null and e.id = any (array(
        select o.email_id from outgoing_mails o
        where o.project_id = ${projectId} and o.campaign_id is null and o.started_at is not null))`,
    ];
  if (status === 'CANCELLED') return [sql`e.status = 'CANCELLED'`, sql`${pending} and ${inCancelled}`];
  return [sql`e.status = ${status}`];
}
