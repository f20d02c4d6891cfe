import type { Db } from '../../db/connect.ts';
import type { EmailStatus } from '../../db/models/email.ts';
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

/** A condition on `emails e` and its parameters. */
type Condition = [sql: string, ...values: unknown[]];

/** Lists mails, the newest first. UUIDv7 ids increase with time. */
export async function listEmails(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  query: EmailsQuery,
): Promise<CursorPage<EmailRecord>> {
  const { limit, cursor } = query;
  const boundTo = [projectId, 'emails'];
  const filters = filtersOf(projectId, query);
  const afterCursor: Condition[] =
    cursor === undefined ? [] : [['e.id < ?', openCursor(keys, boundTo, cursor) as string]];
  const [rows, total] = await Promise.all([
    page(db, [...filters, ...afterCursor], limit + 1),
    cursor === undefined ? count(db, filters) : UNCOUNTED,
  ]);
  const cut = cutPage(rows, { limit, ...total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
  return { ...cut, data: cut.data.map(recordOf) };
}

// Builds the SQL per set of filters, because one generic plan would read the whole project.
async function page(db: Db, conditions: Condition[], limit: number): Promise<EmailRow[]> {
  const { where, values } = joined(conditions);
  // Cuts the page with an index scan before rows and contents are joined.
  const cut = `select e.id from emails e where ${where} order by e.id desc limit ?`;
  const { rows } = await db.raw(
    `select ${SHOWN} from (${cut}) cut join emails e on e.id = cut.id ${CONTENT} order by e.id desc`,
    [...values, limit],
  );
  return rows;
}

// An index-only scan for every filter.
async function count(db: Db, conditions: Condition[]): Promise<ListTotal> {
  const { where, values } = joined(conditions);
  return countList(db, `select 1 from emails e where ${where}`, values);
}

function joined(conditions: Condition[]): { where: string; values: (string | Date)[] } {
  return {
    where: conditions.map(([sql]) => `(${sql})`).join(' and '),
    values: conditions.flatMap(([, ...values]) => values as (string | Date)[]),
  };
}

function filtersOf(projectId: string, query: EmailsQuery): Condition[] {
  const { from, to } = readRange(query);
  const conditions: Condition[] = [['e.project_id = ?', projectId]];
  if (query.status) conditions.push(hasStatus(query.status));
  if (query.blocked !== undefined) conditions.push([query.blocked ? BLOCKED : `not (${BLOCKED})`]);
  if (query.email)
    conditions.push([
      'e.contact_id = (select c.id from contacts c where c.project_id = ? and c.email = ?)',
      projectId,
      query.email,
    ]);
  if (query.contactId) conditions.push(['e.contact_id = ?', query.contactId]);
  if (query.campaignId) conditions.push(['e.campaign_id = ?', query.campaignId]);
  if (query.templateId) conditions.push(['e.template_id = ?', query.templateId]);
  if (query.workflowId) conditions.push(['e.workflow_id = ?', query.workflowId]);
  // Ids approximate the time up to clock skew, so they narrow the index scan.
  if (from)
    conditions.push([`e.created_at >= ? and e.id >= uuid_floor(?::timestamptz - ${MAX_CLOCK_SKEW})`, from, from]);
  if (to) conditions.push([`e.created_at < ? and e.id < uuid_floor(?::timestamptz + ${MAX_CLOCK_SKEW})`, to, to]);
  return conditions;
}

/** As the index `emails_blocked` has it. */
const BLOCKED = `e.blocked_domain is not null and e.status = 'PENDING'`;
const MAX_CLOCK_SKEW = "interval '1 day'";

/** Filters by the shown status: pending mail of a cancelled campaign is CANCELLED. */
function hasStatus(status: EmailStatus): Condition {
  const campaignCancelled = `exists (select 1 from campaigns k where k.id = e.campaign_id and k.status = 'CANCELLED')`;
  if (status === 'PENDING') return [`e.status = 'PENDING' and not ${campaignCancelled} and not ${IN_FLIGHT}`];
  if (status === 'SENDING') return [`e.status = 'PENDING' and ${IN_FLIGHT}`];
  if (status === 'CANCELLED') return [`e.status = 'CANCELLED' or e.status = 'PENDING' and ${campaignCancelled}`];
  return ['e.status = ?', status];
}
