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
  const states = query.status ? conditionsOf(projectId, query.status) : [[]];
  const [rows, total] = await Promise.all([
    page(
      db,
      states.map((state) => [...filters, ...state, ...afterCursor]),
      limit + 1,
    ),
    cursor === undefined
      ? count(
          db,
          states.map((state) => [...filters, ...state]),
        )
      : UNCOUNTED,
  ]);
  const cut = cutPage(rows, { limit, ...total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
  return { ...cut, data: cut.data.map(recordOf) };
}

// Builds the SQL per set of filters, because one generic plan would read the whole project. `parts` share no mail.
async function page(db: Db, parts: Condition[][], limit: number): Promise<EmailRow[]> {
  const cuts = parts.map((conditions) => {
    const { where, values } = joined(conditions);
    return { sql: `select e.id from emails e where ${where} order by e.id desc limit ?`, values: [...values, limit] };
  });
  // Cuts the page with index scans before rows and contents are joined.
  const cut = cuts.map(({ sql }) => `(${sql})`).join(' union all ');
  const { rows } = await db.raw(
    `select ${SHOWN} from (${cut}) cut join emails e on e.id = cut.id ${CONTENT} order by e.id desc limit ?`,
    [...cuts.flatMap(({ values }) => values), limit],
  );
  return rows;
}

// An index-only scan for most filters.
async function count(db: Db, parts: Condition[][]): Promise<ListTotal> {
  const all = parts.map(joined);
  const query = all.map(({ where }) => `select 1 from emails e where ${where}`).join(' union all ');
  const values = all.flatMap(({ values }) => values);
  return countList(db, query, values);
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

const IN_CANCELLED = `e.campaign_id = any (array(select k.id from campaigns k where k.project_id = ? and k.status = 'CANCELLED'))`;
/** As `IN_FLIGHT`, and found from the few mails in flight. */
const SENDING = `e.status = 'PENDING' and e.campaign_id is null and e.id = any (array(
  select o.email_id from outgoing_mails o where o.project_id = ? and o.campaign_id is null and o.started_at is not null))`;

/** Conditions for the shown status, any of them: pending mail of a cancelled campaign is CANCELLED. */
function conditionsOf(projectId: string, status: EmailStatus): Condition[][] {
  const pending = `e.status = 'PENDING'`;
  if (status === 'PENDING')
    return [[[`${pending} and (e.campaign_id is null or not ${IN_CANCELLED}) and not ${IN_FLIGHT}`, projectId]]];
  if (status === 'SENDING') return [[[SENDING, projectId]]];
  if (status === 'CANCELLED') return [[["e.status = 'CANCELLED'"]], [[`${pending} and ${IN_CANCELLED}`, projectId]]];
  return [[['e.status = ?', status]]];
}
