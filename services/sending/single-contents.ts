import type { Db } from '../../db/connect.ts';
import type { Email } from '../../db/models/email.ts';
import type { Project } from '../../db/models/project.ts';
import type { TemplateType } from '../../db/models/template.ts';
import { plainArray, statement } from '../../db/statement.ts';
import { fixedSubject, type RenderItem } from '../../platform/templates/index.ts';
import type { Data } from '../contacts/data.ts';
import type { MailLinks } from '../emails/links.ts';
import { footerFor } from '../templates/footer.ts';
import { variablesOf } from '../templates/variables.ts';

/** The content of a transactional or workflow mail. */
export interface ContentRow {
  id: string;
  to_email: string;
  to_name: string | null;
  from_email: string;
  from_name: string | null;
  reply_to: string | null;
  subject: string;
  rendered_subject: string | null;
  body_id: string;
  html: string;
  type: TemplateType;
  variables: Data | null;
  headers: Record<string, string> | null;
  attachment_set: string | null;
  attachment_bytes: number | null;
  untracked: boolean;
  language: string | null;
  tracking: Project['tracking'] | null;
  project_id: string;
  source_type: Email['sourceType'];
  contact_id: string;
  contact: { email: string; subscribed: boolean; created_at: string; data: Data } | null;
}

// Reads a body once for all mails that share it: it may be a megabyte.
const readRows = statement<ContentRow & { html: string | null }>(
  'single-contents',
  `select e.id, c.to_email, c.to_name, c.from_email, c.from_name, c.reply_to, c.subject, c.rendered_subject, c.body_id,
     case when row_number() over (partition by c.body_id) = 1 then b.html end as html, b.headers,
     c.type, c.variables, c.attachment_set, c.untracked, p.language, p.tracking, e.project_id, e.source_type, e.contact_id,
     case when c.attachment_set is not null then (
       select sum(octet_length(a.content))::integer from email_attachments a where a.set_id = c.attachment_set
     ) end as attachment_bytes,
     case when k.id is not null then jsonb_build_object('email', k.email, 'subscribed', k.subscribed,
       'created_at', k.created_at, 'data', k.data) end as contact
   from unnest((select $1::uuid[])) as asked (id)
   join emails e on e.id = asked.id
   join email_contents c on c.email_id = e.id
   join email_bodies b on b.id = c.body_id and b.project_id = e.project_id
   left join contacts k on k.id = e.contact_id
   left join projects p on p.id = e.project_id`,
);

/** Reads the contents of mails. Those whose content is erased are left out. */
export async function readContents(db: Db, ids: string[]): Promise<ContentRow[]> {
  const rows = await readRows(db, [plainArray(ids)]);
  const bodies = new Map<string, string>();
  for (const { body_id, html } of rows) if (html !== null) bodies.set(body_id, html);
  for (const row of rows) row.html = bodies.get(row.body_id) ?? '';
  return rows;
}

/** Mails of one template are rendered together. */
export function groupByTemplate(rows: ContentRow[]): ContentRow[][] {
  const groups = new Map<string, ContentRow[]>();
  for (const row of rows) {
    const key = `${row.body_id} ${templateSubject(row)}`;
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()];
}

/** Empty for a subject without template tags, so that mails with different ones can still share a template. */
export const templateSubject = ({ subject }: ContentRow): string =>
  fixedSubject(subject) === undefined ? subject : '';

/** Returns the input of rendering: the variables, and the footer of MARKETING mail. */
export function renderItem(row: ContentRow, links: MailLinks): RenderItem {
  const { id: emailId, contact_id: id, contact, to_email, variables: passing, language, type } = row;
  const { email = to_email, subscribed = false, created_at = 0, data = {} } = contact ?? {};
  const variables = variablesOf({
    contact: { id, email, subscribed, createdAt: new Date(created_at), data },
    ...(passing && { passing }),
    links: links.contactLinks({ contactId: id, emailId }),
    language: language ?? 'en',
    // The event of an execution. In other mail a variable of this name is like any other.
    ...(row.source_type === 'WORKFLOW' && { event: passing?.event }),
  });
  if (type !== 'MARKETING') return variables;
  return { ...variables, footer: footerFor(variables.data.locale, language ?? 'en') };
}
