import type { Db } from '../../db/connect.ts';
import type { EmailStatus } from '../../db/models/email.ts';
import { openCursor, type SigningKeys, signCursor } from '../../platform/cursor.ts';
import { type CursorPage, cutPage } from '../paging.ts';
import { type RangeQuery, readRange } from '../range.ts';
import { CONTENT, type EmailRecord, type EmailRow, recordOf, SHOWN } from './email-record.ts';

export interface EmailsQuery extends RangeQuery {
  limit: number;
  cursor?: string | undefined;
  status?: EmailStatus | undefined;
  contactId?: string | undefined;
  campaignId?: string | undefined;
  templateId?: string | undefined;
  workflowId?: string | undefined;
}

/** A condition on `emails e` and what stands in its gaps. */
type Condition = [sql: string, ...values: unknown[]];

/** The newest first; ids grow with time. */
export async function listEmails(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  query: EmailsQuery,
): Promise<CursorPage<EmailRecord>> {
  const { limit, cursor } = query;
  const boundTo = [projectId, 'emails'];
  const filters = filtersOf(projectId, query);
  const place: Condition[] = cursor === undefined ? [] : [['e.id < ?', openCursor(keys, boundTo, cursor) as string]];
  const [rows, total] = await Promise.all([
    page(db, [...filters, ...place], limit + 1),
    cursor === undefined ? count(db, filters) : 0,
  ]);
  const cut = cutPage(rows, { limit, total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
  return { ...cut, data: cut.data.map(recordOf) };
}

// Written for each set of filters: a plan that must fit all of them would read the whole project for any.
async function page(db: Db, conditions: Condition[], limit: number): Promise<EmailRow[]> {
  const { where, values } = joined(conditions);
  // The page is cut from an index, before rows and contents are looked up.
  const cut = `select e.id from emails e where ${where} order by e.id desc limit ?`;
  const { rows } = await db.raw(
    `select ${SHOWN} from (${cut}) cut join emails e on e.id = cut.id ${CONTENT} order by e.id desc`,
    [...values, limit],
  );
  return rows;
}

// From an index alone, whichever filter there is; of the largest projects that still is the longest part of a list.
async function count(db: Db, conditions: Condition[]): Promise<number> {
  const { where, values } = joined(conditions);
  const { rows } = await db.raw(`select count(*) as count from emails e where ${where}`, values);
  return Number(rows[0]?.count ?? 0);
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
  if (query.contactId) conditions.push(['e.contact_id = ?', query.contactId]);
  if (query.campaignId) conditions.push(['e.campaign_id = ?', query.campaignId]);
  if (query.templateId) conditions.push(['e.template_id = ?', query.templateId]);
  if (query.workflowId) conditions.push(['e.workflow_id = ?', query.workflowId]);
  // Ids come near to the time, as far as clocks agree; so the index is walked where it matters only.
  if (from) conditions.push([`e.created_at >= ? and e.id >= uuid_floor(?::timestamptz - ${APART})`, from, from]);
  if (to) conditions.push([`e.created_at < ? and e.id < uuid_floor(?::timestamptz + ${APART})`, to, to]);
  return conditions;
}

const APART = "interval '1 day'";

/** As it is shown: what is left of a cancelled campaign is cancelled. */
function hasStatus(status: EmailStatus): Condition {
  const ended = `exists (select 1 from campaigns k where k.id = e.campaign_id and k.status = 'CANCELLED')`;
  if (status === 'PENDING') return [`e.status = 'PENDING' and not ${ended}`];
  if (status === 'CANCELLED') return [`e.status = 'CANCELLED' or e.status = 'PENDING' and ${ended}`];
  return ['e.status = ?', status];
}
