import { Readable } from 'node:stream';
import type { Db } from '../../db/connect.ts';
import { type Fragment, joined, sql, sqlText } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { csvLines } from '../../platform/csv-lines.ts';
import type { ConsentEvidence, ConsentMethod } from '../access/consent-context.ts';
import { heavyWork } from '../access/heavy-work.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { recordAudit } from '../audit/record.ts';
import { type CursorPage, countList, cutPage, UNCOUNTED } from '../paging.ts';
import { readRange } from '../range.ts';

export const consentActions = [
  'REQUESTED',
  'GRANTED',
  'CONFIRMED',
  'WITHDRAWN',
  'DECLINED',
  'EXPIRED',
  'SNOOZED',
] as const;
export type ConsentAction = (typeof consentActions)[number];

/** A record of who agreed to what, or withdrew it. */
export interface Consent {
  id: string;
  at: Date;
  contactId: string;
  email: string | null;
  topicId: string | null;
  action: ConsentAction;
  method: ConsentMethod;
  ip: string | null;
  userAgent: string | null;
  pageUrl: string | null;
  locale: string | null;
  formId: string | null;
  formVersion: number | null;
  textId: string | null;
  text: string | null;
  emailId: string | null;
  actor: { type: 'USER' | 'KEY' | 'SYSTEM'; id: string | null } | null;
  requestId: string | null;
  evidence: ConsentEvidence | null;
}

export interface ConsentsFilter {
  contactId?: string | undefined;
  /** Also finds records of which only the hash of the address is left. */
  email?: string | undefined;
  topicId?: string | undefined;
  action?: ConsentAction | undefined;
  method?: ConsentMethod | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

export interface ConsentsQuery extends ConsentsFilter {
  limit: number;
  cursor?: string | undefined;
}

const columns = sqlText(
  `c.id, c.at, c.contact_id, c.email, c.topic_id, c.action, c.method, c.ip, c.user_agent, c.page_url, c.locale, c.form_id,
   c.form_version, c.text_id, t.text, c.email_id, c.actor, c.request_id, c.evidence`,
);

function filterOf(projectId: string, query: ConsentsFilter): Fragment {
  const { contactId, email, topicId, action, method, since, until } = query;
  const { from, to } = readRange({ startDate: since, endDate: until }, { start: 'since', end: 'until' });
  const conditions = [sql`c.project_id = ${projectId}::uuid`];
  if (contactId) conditions.push(sql`c.contact_id = ${contactId}::uuid`);
  if (email) conditions.push(sql`c.address_hash = address_hash(${projectId}::uuid, ${email})`);
  if (topicId) conditions.push(sql`c.topic_id = ${topicId}::uuid`);
  if (action) conditions.push(sql`c.action = ${action}`);
  if (method) conditions.push(sql`c.method = ${method}`);
  if (from) conditions.push(sql`c.at >= ${from}`);
  if (to) conditions.push(sql`c.at < ${to}`);
  return joined(conditions, ' and ');
}

const readConsents = (db: Db, projectId: string, where: Fragment, order: 'asc' | 'desc', limit: number) =>
  queryRows<Consent>(
    db,
    sql`select ${columns} from consents c
      left join consent_texts t on t.id = c.text_id and t.project_id = ${projectId}::uuid
      where ${where} order by c.id ${sqlText(order)} limit ${limit}`,
  );

/** Returns the newest first. */
export async function listConsents(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  { limit, cursor, ...query }: ConsentsQuery,
): Promise<CursorPage<Consent>> {
  const boundTo = [projectId, 'consents', JSON.stringify(query)];
  const after = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as string);
  const filter = filterOf(projectId, query);
  const rest = after === undefined ? filter : sql`${filter} and c.id < ${after}::uuid`;
  const [rows, total] = await Promise.all([
    readConsents(db, projectId, rest, 'desc', limit + 1),
    after === undefined ? countList(db, sql`select 1 from consents c where ${filter}`) : UNCOUNTED,
  ]);
  return cutPage(rows, { limit, ...total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
}

/** Returns the records of a contact in pages, the oldest first. */
export async function* consentsOf(db: Db, projectId: string, contactId: string): AsyncGenerator<Consent[]> {
  yield* pages(db, projectId, { contactId });
}

const PAGE = 1_000;
const EXPORT_WAIT_MS = 600_000;

async function* pages(db: Db, projectId: string, filter: ConsentsFilter): AsyncGenerator<Consent[]> {
  for (let after: string | undefined; ; ) {
    const all = filterOf(projectId, filter);
    const where = after === undefined ? all : sql`${all} and c.id > ${after}::uuid`;
    // Waits long, because the response has begun and an error would break the download.
    const rows = await heavyWork(
      db,
      'read',
      projectId,
      () => readConsents(db, projectId, where, 'asc', PAGE),
      EXPORT_WAIT_MS,
    );
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last.id;
  }
}

const exported = [
  'id',
  'at',
  'contactId',
  'email',
  'topicId',
  'action',
  'method',
  'ip',
  'userAgent',
  'pageUrl',
  'locale',
  'formId',
  'formVersion',
  'text',
  'emailId',
  'actor',
  'requestId',
  'evidence',
] as const satisfies (keyof Consent)[];

/** Records the export, then returns all records as CSV, the oldest first. */
export async function exportConsents(db: Db, project: ProjectAccess): Promise<Readable> {
  await recordAudit(db, project, { action: 'consents.exported', target: { type: 'project', id: project.projectId } });
  return Readable.from(csvOf(db, project.projectId), { objectMode: false });
}

async function* csvOf(db: Db, projectId: string): AsyncGenerator<string> {
  yield csvLines([[...exported]]);
  for await (const page of pages(db, projectId, {}))
    yield csvLines(page.map((consent) => exported.map((column) => consent[column])));
}
