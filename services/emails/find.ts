import type { Db } from '../../db/connect.ts';
import type { Email } from '../../db/models/email.ts';
import { statement } from '../../db/statement.ts';
import { openCursor, type SigningKeys, signCursor } from '../../platform/cursor.ts';
import { notFound } from '../../platform/errors.ts';
import { messageId } from '../../platform/mailer.ts';
import { type CursorPage, cutPage } from '../paging.ts';

/** What is shown of a mail. Who it went to and what it said is null once that is erased. */
export interface EmailRecord {
  id: string;
  contactId: string;
  sourceType: Email['sourceType'];
  templateId: string | null;
  status: Email['status'];
  reason: string | null;
  attempts: number;
  unknownOutcomes: number;
  messageId: string | null;
  providerMessageId: string | null;
  to: string | null;
  from: string | null;
  subject: string | null;
  createdAt: Date;
  updatedAt: Date;
  sentAt: Date | null;
}

interface EmailRow {
  id: string;
  contact_id: string;
  source_type: Email['sourceType'];
  template_id: string | null;
  status: Email['status'];
  reason: string | null;
  attempts: number;
  unknown_outcomes: number;
  provider_message_id: string | null;
  to_email: string | null;
  from_email: string | null;
  subject: string | null;
  created_at: Date;
  updated_at: Date;
  sent_at: Date | null;
}

// The content of campaign mail is the campaign's. What is left of a cancelled one is cancelled, before its rows say so.
const SHOWN = `e.id, e.contact_id, e.source_type, e.template_id,
  case when e.status = 'PENDING' and k.status = 'CANCELLED' then k.status else e.status end as status,
  e.reason, e.attempts, e.unknown_outcomes, e.provider_message_id, coalesce(c.to_email, e.to_email, p.email) as to_email,
  coalesce(c.from_email, k.from_email) as from_email,
  coalesce(c.rendered_subject, c.subject, e.rendered_subject, k.subject) as subject, e.created_at, e.updated_at, e.sent_at`;

const CONTENT = `left join email_contents c on c.email_id = e.id
   left join campaigns k on k.id = e.campaign_id
   left join contacts p on p.id = e.contact_id and e.campaign_id is not null`;

const one = statement<EmailRow>(
  'email-find',
  `select ${SHOWN} from emails e ${CONTENT}
   where e.id = $2 and e.project_id = $1`,
);

// Ids grow with time. The page is cut before contents are looked up.
const page = statement<EmailRow>(
  'emails-page',
  `select ${SHOWN}
   from (
     select * from emails
     where project_id = $1 and id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     order by id desc limit $3
   ) e
   ${CONTENT}
   order by e.id desc`,
);

const count = statement<{ count: string }>(
  'emails-count',
  'select count(*) as count from emails where project_id = $1',
);

export async function findEmail(db: Db, projectId: string, id: string): Promise<EmailRecord> {
  const [row] = await one(db, [projectId, id]);
  if (!row) throw notFound('e-mail');
  return recordOf(row);
}

export interface EmailsQuery {
  limit: number;
  cursor?: string | undefined;
}

/** The newest first. */
export async function listEmails(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  { limit, cursor }: EmailsQuery,
): Promise<CursorPage<EmailRecord>> {
  const boundTo = [projectId, 'emails'];
  const after = cursor === undefined ? null : openCursor(keys, boundTo, cursor);
  const [rows, [counted]] = await Promise.all([
    page(db, [projectId, after, limit + 1]),
    after === null ? count(db, [projectId]) : [],
  ]);
  const total = Number(counted?.count ?? 0);
  const cut = cutPage(rows, { limit, total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
  return { ...cut, data: cut.data.map(recordOf) };
}

function recordOf(row: EmailRow): EmailRecord {
  const { id, from_email: from } = row;
  return {
    id,
    contactId: row.contact_id,
    sourceType: row.source_type,
    templateId: row.template_id,
    status: row.status,
    reason: row.reason,
    attempts: row.attempts,
    unknownOutcomes: row.unknown_outcomes,
    messageId: from === null ? null : messageId({ id, from: { email: from } }),
    providerMessageId: row.provider_message_id,
    to: row.to_email,
    from,
    subject: row.subject,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    sentAt: row.sent_at,
  };
}
